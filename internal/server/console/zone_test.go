package console_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/server/console"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestDayStart: a day begins at its first moment, whatever clocks do at midnight.
func TestDayStart(t *testing.T) {
	for _, c := range []struct{ zone, day, start, end string }{
		{"UTC", "2026-11-21", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // 23 hours
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{"Asia/Kolkata", "2026-11-21", "2026-11-20T18:30:00Z", "2026-11-21T18:30:00Z"},
		{"America/Havana", "2024-11-03", "2024-11-03T04:00:00Z", "2024-11-04T05:00:00Z"},    // midnight comes twice
		{"Asia/Amman", "2021-10-29", "2021-10-28T21:00:00Z", "2021-10-29T22:00:00Z"},        // too
		{"Atlantic/Azores", "2024-10-27", "2024-10-27T00:00:00Z", "2024-10-28T01:00:00Z"},   // too
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}, // midnight is skipped
		{"Asia/Beirut", "2024-03-31", "2024-03-30T22:00:00Z", "2024-03-31T21:00:00Z"},       // too
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},      // the day is skipped
	} {
		zone := fixture.Must(time.LoadLocation(c.zone))(t)
		start, end := fixture.Must(console.DayStart(c.day, zone))(t), fixture.Must(console.DayEnd(c.day, zone))(t)
		if got, want := start.UTC().Format(time.RFC3339)+" "+end.UTC().Format(time.RFC3339), c.start+" "+c.end; got != want {
			t.Errorf("%s in %s is %s, want %s", c.day, c.zone, got, want)
		}
	}
}

// TestDaysFollow: the days of a zone follow each other, each begins with its date, and before it there is an earlier one.
func TestDaysFollow(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Havana", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Tehran", "Pacific/Apia",
	} {
		zone := fixture.Must(time.LoadLocation(name))(t)
		for date := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); date.Year() < 2030; date = date.AddDate(0, 0, 1) {
			day := date.Format(time.DateOnly)
			start, end := fixture.Must(console.DayStart(day, zone))(t), fixture.Must(console.DayEnd(day, zone))(t)
			if start.Equal(end) && name == "Pacific/Apia" && day == "2011-12-30" {
				continue
			}
			before := start.Add(-1).In(zone).Format(time.DateOnly)
			if got := start.In(zone).Format(time.DateOnly); got != day || before >= day || end.Sub(start) < 22*time.Hour || end.Sub(start) > 26*time.Hour {
				t.Errorf("%s in %s is from %s to %s, after %s", day, name, start.In(zone), end.In(zone), before)
			}
		}
	}
}

// inZone chooses how times are shown.
func (b *browser) inZone(form url.Values) answer {
	b.w.t.Helper()
	return b.post("/time-zone", form)
}

// TestZone: the choice is the browser's, is checked, and holds for times and for the days of filters; exports have UTC.
func TestZone(t *testing.T) {
	w := newWorld(t)
	b, other := w.member("acme", "member"), w.member("acme", "member")
	done := b.run(chatTask)
	created := task.IDTime(done.ID)
	page := "/tasks/" + done.ID
	const east, west = "Pacific/Kiritimati", "Etc/GMT+12" // 26 hours apart: never on one day
	dayIn := func(zone string) string {
		return created.In(fixture.Must(time.LoadLocation(zone))(t)).Format(time.DateOnly)
	}
	for _, c := range []struct {
		form           url.Values
		zone, has, not string
		listed, hidden string
	}{
		{url.Values{"choice": {"utc"}}, "UTC", " UTC<", "CET", created.UTC().Format(time.DateOnly), ""},
		{url.Values{"choice": {"named"}, "zone": {" " + east + " "}}, east, " &#43;14<", "UTC<", dayIn(east), dayIn(west)},
		{url.Values{"choice": {"browser"}, "browser": {west}, "zone": {"nonsense"}}, west, " -12<", "UTC<", dayIn(west), dayIn(east)},
		{url.Values{"choice": {"utc"}}, "UTC", " UTC<", "-12<", created.UTC().Format(time.DateOnly), ""},
	} {
		if got := b.inZone(c.form); got.StatusCode != http.StatusSeeOther {
			t.Fatalf("%v: %d %s", c.form, got.StatusCode, got.body)
		}
		shown := strings.ReplaceAll(b.get(page).body, "+14<", "&#43;14<")
		if !strings.Contains(shown, c.has) || strings.Contains(shown, c.not) || !strings.Contains(shown, "Time zone: "+strings.ReplaceAll(c.zone, "+", "&#43;")) {
			t.Errorf("%v: the page shows %s", c.form, shown)
		}
		if got := b.listed("?since=" + c.listed + "&until=" + c.listed); !slices.Equal(got, []string{done.ID}) {
			t.Errorf("%s: the task isn't of %s", c.zone, c.listed)
		}
		if c.hidden != "" && b.listed("?since="+c.hidden+"&until="+c.hidden) != nil {
			t.Errorf("%s: the task is of %s", c.zone, c.hidden)
		}
		if got := b.get("/tasks/export?format=csv").body; !strings.Contains(got, created.UTC().Format("2006-01-02T15:04")) {
			t.Errorf("%s: the export has %s", c.zone, got)
		}
	}
	b.inZone(url.Values{"choice": {"named"}, "zone": {east}})
	if got := other.get(page).body; strings.Contains(got, east) {
		t.Errorf("another browser has the choice")
	}
	for _, zone := range []string{"", "Local", "Europe/Atlantis", "../etc/passwd", "/etc/passwd", strings.Repeat("a", 65), "UTC; a=b", "<script>"} {
		for _, form := range []url.Values{{"choice": {"named"}, "zone": {zone}}, {"choice": {"browser"}, "browser": {zone}}} {
			if got := b.inZone(form); got.StatusCode != http.StatusBadRequest || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%v: %d %q", form, got.StatusCode, got.Header.Get("Set-Cookie"))
			}
		}
		if got := other.get(page, func(r *http.Request) { r.Header.Add("Cookie", `unitask_zone=`+zone) }); got.StatusCode != http.StatusOK || !strings.Contains(got.body, " UTC<") {
			t.Errorf("a cookie with %q: %d", zone, got.StatusCode)
		}
	}
	if got := b.inZone(url.Values{"choice": {"moon"}}); got.StatusCode != http.StatusBadRequest {
		t.Errorf("no choice: %d", got.StatusCode)
	}
}

// TestZoneOfSuspended: the members of a suspended account may still choose, and a foreign site may not.
func TestZoneOfSuspended(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	fixture.Must(w.operator.SuspendAccount(t.Context(), "acme"))(t)
	if got := b.inZone(url.Values{"choice": {"utc"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a suspended account's: %d", got.StatusCode)
	}
	if got := b.post("/time-zone", url.Values{"choice": {"utc"}}, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); got.StatusCode != http.StatusBadRequest {
		t.Errorf("another site's: %d", got.StatusCode)
	}
}
