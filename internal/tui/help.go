package tui

import (
	"slices"
	"strings"
)

const cancelKey = "c"

// binding is a key and what it does.
type binding struct{ keys, does string }

func (s screen) bindings() []binding {
	switch s {
	case directoryScreen:
		return []binding{
			{"enter", "open"},
			{"tab", "tasks"},
			{"↑ ↓", "move; home, end, pgup, pgdown"},
			{"r", "read the directory again"},
		}
	case tasksScreen:
		return []binding{
			{"enter", "open"},
			{"tab", "capabilities"},
			{cancelKey, "cancel the task"},
			{"↑ ↓", "move; home, end, pgup, pgdown"},
			{"r", "read the tasks again"},
		}
	case formScreen:
		return []binding{
			{"ctrl+s", "send"},
			{"tab", "next; shift+tab goes back"},
			{"esc", "back; what is written stays"},
			{"← →", "another choice"},
			{"enter", "new line; in short fields the next one"},
			{"ctrl+c", "quit"},
			{"ctrl+u", "erase to the beginning of the line"},
		}
	default:
		return []binding{
			{"esc", "back"},
			{cancelKey, "cancel the task"},
			{"↑ ↓", "scroll; home, end, pgup, pgdown"},
		}
	}
}

// always is what works on every screen.
func (s screen) always() []binding {
	if s == formScreen {
		return []binding{{"?", "keys; outside texts"}}
	}
	return []binding{{"?", "keys"}, {"q", "quit"}}
}

// hints is the footer's choice of the keys, as many as there is room for.
func (m *Model) hints(c canvas) string {
	if m.help {
		return " " + c.faint.Render("any key goes back")
	}
	all, always := m.screen.bindings(), m.screen.always()
	if t, ok := m.shownTask(); ok && t.State.Terminal() {
		all = slices.DeleteFunc(all, func(b binding) bool { return b.keys == cancelKey })
	}
	if m.screen == formScreen {
		if m.form.sending() {
			all = []binding{{"esc", "leave, it is sent all the same"}}
		}
		if m.form.writing() {
			always = always[1:] // there a question mark is a letter
		}
	}
	tail, taken := "", 0
	for _, b := range always {
		tail += b.hint(c)
	}
	words := ""
	for _, b := range all {
		if hint := b.hint(c); taken+cells(hint)+cells(tail) <= m.width {
			words, taken = words+hint, taken+cells(hint)
		}
	}
	return words + tail
}

func (b binding) hint(c canvas) string {
	does, _, _ := strings.Cut(b.does, ";")
	return " " + c.bold.Render(b.keys) + " " + c.faint.Render(does) + " "
}

// renderHelp lists the keys of a screen.
func renderHelp(c canvas, s screen, width, height int) string {
	lines := []string{c.rule("Keys", width)}
	for _, b := range append(s.bindings(), s.always()...) {
		lines = append(lines, " "+c.accent.Render(pad(b.keys, 9))+b.does)
	}
	return strings.Join(lines[:min(len(lines), height)], "\n")
}
