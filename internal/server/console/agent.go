package console

import "strings"

// browsers and systems are names by a part of a browser's User-Agent. The first that matches counts: Edge calls itself
// Chrome as well, and all call themselves Mozilla.
var (
	browsers = []pairOfWords{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = []pairOfWords{
		{"Windows", "Windows"},
		{"Android", "Android"},
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"CrOS", "ChromeOS"},
		{"Mac OS X", "macOS"},
		{"Linux", "Linux"},
	}
)

type pairOfWords struct{ part, name string }

// agentOf returns a browser in a few words, such as "Firefox on Linux": enough to know one's own sessions again, too
// little to follow anybody by. It has no word of the header's own; "" if it knows none.
func agentOf(userAgent string) string {
	browser, system := wordFor(browsers, userAgent), wordFor(systems, userAgent)
	switch {
	case browser == "" && system == "":
		return ""
	case browser == "":
		return "a browser on " + system
	case system == "":
		return browser
	default:
		return browser + " on " + system
	}
}

func wordFor(known []pairOfWords, text string) string {
	for _, k := range known {
		if strings.Contains(text, k.part) {
			return k.name
		}
	}
	return ""
}
