package tui

import (
	"fmt"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/form"
)

const (
	cancelKey  = "c"
	againKey   = "e"
	saveKey    = "s"
	openKey    = "o"
	copyKey    = "y"
	pictureKey = "i"
	pickKey    = "ctrl+o"
	sortKey    = "s" // in the table, which shows no result
	paletteKey = "ctrl+k"
	rangeKey   = "v"
	allKey     = "a"
	profileKey = "p"
	saveAllKey = "S"
)

// binding is a key and its action.
type binding struct{ keys, does string }

func (s screen) bindings() []binding {
	switch s {
	case directoryScreen:
		return []binding{
			{"enter", "open"},
			{"tab", "tasks"},
			{"↑ ↓", "move; home, end, pgup, pgdown"},
			{"r", "read again"},
			{talkKey, "talk; conversations with a model"},
			{profileKey, "profile; another service"},
		}
	case tasksScreen:
		return []binding{
			{"enter", "open"},
			{"/", "filter; all its words must match"},
			{sortKey, "sort; again for another order"},
			{againKey, "again; edit what was sent from here"},
			{cancelKey, "cancel; asks first"},
			{"space", "mark; or take the mark away"},
			{"tab", "capabilities"},
			{"↑ ↓", "move; home, end, pgup, pgdown"},
			{rangeKey, "mark a range; arrows widen it, as shift with them does; space ends it"},
			{allKey, "mark all; again for none of them"},
			{saveAllKey, "save; all marked results, in a folder"},
			{copyKey, "copy ids; of all marked tasks"},
			{"r", "read again"},
			{talkKey, "talk; conversations with a model"},
			{profileKey, "profile; another service"},
		}
	case formScreen:
		return []binding{
			{"ctrl+s", "send"},
			{pickKey, "pick; a file, or a value, from a list"},
			{"tab", "next; shift+tab goes back"},
			{"esc", "back; what is written stays"},
			{"← →", "another choice"},
			{"enter", "new line; in short fields the next one"},
			{"ctrl+c", "quit"},
			{"ctrl+u", "erase to the beginning of the line"},
			{paletteKey, "menu; everything by its name"},
		}
	case talksScreen, talkScreen:
		return s.talkBindings()
	default:
		return []binding{
			{"esc", "back"},
			{cancelKey, "cancel; asks first"},
			{saveKey, "save; asks where"},
			{openKey, "open; with the system's program"},
			{copyKey, "copy; the text or the addresses"},
			{againKey, "again; edit what was sent from here"},
			{pictureKey, "picture; quits and shows it in full"},
			{"↑ ↓", "scroll; home, end, pgup, pgdown"},
		}
	}
}

// always are the keys of every screen.
func (s screen) always() []binding {
	if s == formScreen {
		return []binding{{"?", "keys; outside texts"}}
	}
	if s == talkScreen {
		return []binding{{paletteKey, "menu"}}
	}
	return []binding{{":", "menu; everything by its name, also ctrl+k"}, {"?", "keys"}, {"q", "quit"}}
}

// markedBindings are the keys of the table while tasks are marked.
func markedBindings() []binding {
	return []binding{
		{cancelKey, "cancel; all marked, asks once"},
		{saveAllKey, "save; all marked results, in a folder"},
		{copyKey, "copy ids; of all marked tasks"},
		{"space", "mark; or take the mark away"},
		{rangeKey, "range; arrows widen it"},
		{allKey, "all; again for none of them"},
		{"esc", "unmark; shows all tasks first"},
		{"/", "filter; marks stay"},
		{sortKey, "sort; marks stay"},
		{"enter", "open"},
	}
}

// ofRows are the keys that mean something only in a list with rows.
var ofRows = []string{"enter", "↑ ↓", sortKey, againKey, cancelKey, "space", rangeKey, allKey, saveAllKey, copyKey}

// empty reports whether the screen is a list without rows.
func (m *Model) empty() bool {
	switch m.screen {
	case directoryScreen:
		return len(m.directory.all) == 0
	case tasksScreen:
		_, ok := m.shownTask()
		return !ok
	case talksScreen:
		return len(m.talking.list.all) == 0
	default:
		return false
	}
}

// bindings are the keys that mean something now.
func (m *Model) bindings() []binding {
	switch m.screen {
	case formScreen:
		return m.form.bindings()
	case talkScreen:
		return m.talking.bindings()
	}
	empty := m.empty()
	all := slices.DeleteFunc(m.screen.bindings(), func(b binding) bool {
		return b.keys == talkKey && m.config.Talks == nil || b.keys == profileKey && m.config.Profiles == nil ||
			empty && (slices.Contains(ofRows, b.keys) || b.keys == "/" && m.table.filter == "")
	})
	if m.screen == tasksScreen && m.table.marks.any() {
		return markedBindings()
	}
	if t, ok := m.shownTask(); ok {
		all = slices.DeleteFunc(all, func(b binding) bool { return !m.applies(b.keys, t) })
	}
	return all
}

// bindings are the keys of a form, those that mean something where the focus is.
func (f *formPane) bindings() []binding {
	at := f.focused()
	switch {
	case f.sending():
		return []binding{{"esc", "leave, it is sent all the same"}}
	case f.picker != nil:
		return f.picker.bindings()
	case at.entry < 0 || !f.entries[at.entry].picks():
		return slices.DeleteFunc(formScreen.bindings(), func(b binding) bool { return b.keys == pickKey })
	default:
		return formScreen.bindings()
	}
}

func (p *picker) bindings() []binding {
	all := []binding{{"enter", "take"}}
	if p.entry.Kind == form.List {
		all = append(all, binding{"tab", "more"})
	}
	if p.entry.Kinds != nil {
		all = append(all, binding{"←", "up"})
	}
	return append(all, binding{"esc", "back"})
}

// hints is the footer's choice of the keys, as many as there is room for.
func (m *Model) hints(c canvas) string {
	if m.help {
		return " " + c.faint.Render("↑ ↓ scroll, any other key goes back")
	}
	if m.work != nil && m.work.shown {
		return " " + c.faint.Render("↑ ↓ scroll, any other key goes back")
	}
	if m.palette != nil {
		return " " + c.faint.Render("enter takes, esc goes back")
	}
	all, always := m.bindings(), m.screen.always()
	switch {
	case m.screen == formScreen && m.form.writing():
		always = always[1:] // there a question mark is a letter
	case m.screen != formScreen && m.screen != talkScreen && m.width < stackBelow:
		always = always[1:] // the other keys need the room
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

// applies reports whether a key means something for a task.
func (m *Model) applies(key string, t api.Task) bool {
	switch {
	case key == cancelKey:
		return !t.State.Terminal()
	case m.screen != detailScreen:
		return true
	case key == saveKey, key == openKey:
		return t.Output != nil
	case key == pictureKey:
		return m.config.Pictures && len(m.detail.pictures(t)) > 0
	default:
		return true
	}
}

func (b binding) hint(c canvas) string {
	does, _, _ := strings.Cut(b.does, ";")
	return " " + c.bold.Render(b.keys) + " " + c.faint.Render(does) + " "
}

// renderHelp lists the keys of a screen, from its scroll position.
func (m *Model) renderHelp(c canvas, width, height int) string {
	all := m.helpLines(c, width)
	room := max(1, height-1)
	first := max(0, min(m.helpTop, len(all)-room))
	shown := all[first:min(len(all), first+room)]
	words := "Keys"
	if rest := len(all) - first - len(shown); rest > 0 {
		words += fmt.Sprintf(", ↓ %d more", rest)
	}
	return strings.Join(append([]string{c.rule(words, width)}, shown...), "\n")
}

func (m *Model) helpLines(c canvas, width int) []string {
	var lines []string
	for _, b := range append(m.screen.bindings(), m.screen.always()...) {
		for i, l := range wrap(b.does, width-11) {
			head := strings.Repeat(" ", 9)
			if i == 0 {
				head = c.accent.Render(pad(b.keys, 9))
			}
			lines = append(lines, " "+head+l)
		}
	}
	return lines
}

func (m *Model) helpKey(k string) {
	last := max(0, len(m.helpLines(m.drawing(), m.width))-max(1, m.bodyHeight()-1))
	switch k {
	case "up", "down", "pgup", "pgdown", "home", "end":
		m.helpTop = move(k, m.helpTop, last+1, m.bodyHeight()-1)
	default:
		m.help = false
	}
}
