package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"unitask/internal/api"
)

// words are the functions by which templates write values.
func words(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"sentence": sentence, "capital": capital, "moment": func(any) string { panic("console: a page without a zone") }, "zone": func() string { return "" }, "now": now,
		"machine": machine, "money": money, "count": count[int64],
		"ago": func(at any) string { return ago(timeOf(at), now()) }, "lasted": lasted, "size": api.Size,
		"add":           func(a, b int) int { return a + b },
		"pair":          func(a, b any) pair { return pair{a, b} },
		"millis":        func(n int64) string { return lasted(time.Duration(n) * time.Millisecond) },
		"seconds":       func(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) },
		"full":          func(percent int) int { return min(percent, 100) },
		"bar":           func(a api.Account) *budgetBar { return barOf(a.Limits, a.Spending) },
		"share":         func(n, of int64) string { return px(100 * float64(n) / float64(max(1, of))) },
		"supplierState": supplierState, "resting": resting, "taken": func(status *int) bool { return *status/100 == 2 },
		"millisLasted":  func(ms float64) string { return lasted(time.Duration(ms * float64(time.Millisecond))) },
		"secondsLasted": func(s float64) string { return lasted(time.Duration(s * float64(time.Second))) },
	}
}

// pair hands two values to a template.
type pair struct{ First, Second any }

// sentence begins a message with a capital and ends it with a full stop.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.TrimSuffix(capital(message), ".") + "."
}

// capital begins words with a capital.
func capital(words string) string {
	first, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + words[size:]
}

// moment writes a time, or a pointer to one that may be absent, for people, on the clocks of a zone.
func moment(at any, zone *time.Location) string {
	if t := timeOf(at); !t.IsZero() {
		return t.In(zone).Format("2 Jan 2006, 15:04:05 MST")
	}
	return "–"
}

// machine writes a time for programs.
func machine(at any) string { return timeOf(at).Format(time.RFC3339) }

func timeOf(at any) time.Time {
	switch at := at.(type) {
	case time.Time:
		return at.UTC()
	case *time.Time:
		if at != nil {
			return at.UTC()
		}
	case api.Timestamp:
		return at.UTC()
	case *api.Timestamp:
		if at != nil {
			return at.UTC()
		}
	default:
		panic(fmt.Sprintf("console: %T is no time", at))
	}
	return time.Time{}
}

// icons are the signs of the navigation, 16 by 16.
var icons = map[string]template.HTML{
	"home":         icon(`<path d="M2.500 13.500v-11M2.500 13.500h11M5 11l3-3.500 2.200 2L13.500 5"/>`),
	"overview":     icon(`<rect x="2" y="2" width="5" height="5" rx="1"/><rect x="9" y="2" width="5" height="5" rx="1"/><rect x="2" y="9" width="5" height="5" rx="1"/><rect x="9" y="9" width="5" height="5" rx="1"/>`),
	"trial":        icon(`<path d="M5 2.8v10.4L13.2 8z"/>`),
	"tasks":        icon(`<path d="M6 4h8M6 8h8M6 12h8M2.2 4h.6M2.2 8h.6M2.2 12h.6"/>`),
	"keys":         icon(`<circle cx="5" cy="11" r="3"/><path d="M7.2 8.8 13.5 2.5M11 5l2 2"/>`),
	"people":       icon(`<circle cx="8" cy="5" r="2.500"/><path d="M3 13.500c.5-2.800 2.500-4.200 5-4.200s4.500 1.400 5 4.200"/>`),
	"sessions":     icon(`<rect x="1.5" y="3" width="13" height="8" rx="1"/><path d="M5.500 13.500h5"/>`),
	"usage":        icon(`<path d="M3 13.5V8M8 13.5v-11M13 13.5V6"/>`),
	"webhooks":     icon(`<circle cx="8" cy="4.500" r="2.500"/><circle cx="4" cy="11.500" r="2.500"/><circle cx="12" cy="11.500" r="2.500"/><path d="M7 6.800 5.200 9.300M9 6.800l1.800 2.500M6.500 11.500h3"/>`),
	"webhooks-all": icon(`<path d="M2 8h8M7 4.500 10.500 8 7 11.500M13.500 3v10"/>`),
	"lookup":       icon(`<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>`),
	"routes":       icon(`<circle cx="3.5" cy="8" r="1.5"/><path d="M5 8h2l3-4.5h3M7 8l3 4.5h3"/>`),
	"suppliers":    icon(`<rect x="2" y="2.5" width="12" height="4.5" rx="1"/><rect x="2" y="9" width="12" height="4.5" rx="1"/><path d="M4.8 4.8h.1M4.8 11.2h.1"/>`),
	"accounts":     icon(`<circle cx="6" cy="5.5" r="2.5"/><path d="M1.5 13.5c.4-2.6 2.2-4 4.5-4s4.100 1.400 4.500 4M10.500 3.200a2.500 2.500 0 0 1 0 4.600M12 10c1.400.6 2.200 1.800 2.500 3.500"/>`),
}

func icon(shapes template.HTML) template.HTML {
	return `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">` + shapes + `</svg>`
}
