package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"
	_ "time/tzdata" // zones on machines without a list of their own, as in the image: 450 kB of the program

	"unitask/internal/fault"
)

// zoneName is the cookie with the time zone in which a browser shows times: a name, after zoneFollows if it is that of the
// browser itself, which its scripts keep up with.
const (
	zoneName    = "unitask_zone"
	zoneFollows = "~"
	zoneLife    = 365 * 24 * time.Hour
	mostZone    = 64 // characters of a name
)

// loadZone returns the zone of a name. "Local" is the server's, which is no choice of a browser's.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" || len(name) > mostZone {
		return nil, fault.Invalid("zone", "must be the name of a time zone, such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fault.Invalid("zone", "is no time zone that this service knows: name one such as Europe/Berlin")
	}
	return zone, nil
}

// zoneOf returns the zone in which a browser wants times, and whether it is to follow the browser's own; UTC without a
// valid choice.
func zoneOf(r *http.Request) (zone *time.Location, follows bool) {
	cookie, err := r.Cookie(zoneName)
	if err != nil {
		return time.UTC, false
	}
	name, follows := strings.CutPrefix(cookie.Value, zoneFollows)
	if zone, err = loadZone(name); err != nil {
		return time.UTC, follows
	}
	return zone, follows
}

func (c *Console) zoneCookie(value string) *http.Cookie {
	cookie := &http.Cookie{
		Name: zoneName, Value: value, Path: "/", MaxAge: int(zoneLife.Seconds()), Secure: c.secured(), SameSite: http.SameSiteStrictMode,
		HttpOnly: false, // it is no secret, and a script keeps it up with the browser's zone
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

// The choices of the form.
const (
	zoneUTC     = "utc"
	zoneBrowser = "browser"
	zoneNamed   = "named"
)

func (c *Console) handleZone(x exchange) error {
	v := url.Values{"choice": {zoneUTC}}
	switch zone, follows := zoneOf(x.r); {
	case follows:
		v.Set("choice", zoneBrowser)
	case zone != time.UTC:
		v = url.Values{"choice": {zoneNamed}, "zone": {zone.String()}}
	}
	return c.zonePage(x, http.StatusOK, filledForm{Values: v})
}

func (c *Console) zonePage(x exchange, status int, f filledForm) error {
	return c.showWith(x, status, page{Name: "zone", Section: "zone", Title: "Time zone", Data: f})
}

func (c *Console) handleZoneChange(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm}
	value := ""
	var err error
	switch f.Get("choice") {
	case zoneUTC:
	case zoneBrowser:
		value = zoneFollows + f.Get("browser")
		_, err = loadZone(f.Get("browser"))
	case zoneNamed:
		value = strings.TrimSpace(f.Get("zone"))
		_, err = loadZone(value)
	default:
		err = fault.Invalid("choice", "must be one of those offered")
	}
	if err != nil {
		f.Problem = fault.From(err)
		return c.zonePage(x, http.StatusBadRequest, f)
	}
	http.SetCookie(x, c.zoneCookie(value))
	c.goTo(x, x.r, "/time-zone?done=zone")
	return nil
}

// dayStart returns the first moment of a day in a zone, whatever its clocks do at midnight: they may skip it, or pass it
// twice. day is one such as 2026-11-21.
func dayStart(day string, zone *time.Location) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, err
	}
	at := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, zone)
	changed, changes := at.ZoneBounds()
	if at.Day() != date.Day() {
		return changes, nil // midnight is skipped, and at is before it
	}
	if changed.IsZero() {
		return at, nil
	}
	_, offset := at.Zone()
	_, before := changed.Add(-1).Zone()
	if first := at.Add(time.Duration(offset-before) * time.Second); first.Before(changed) && first.Day() == date.Day() {
		return first, nil // at is the second midnight
	}
	return at, nil
}

// dayEnd returns the first moment after a day in a zone.
func dayEnd(day string, zone *time.Location) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, err
	}
	return dayStart(date.AddDate(0, 0, 1).Format(time.DateOnly), zone)
}
