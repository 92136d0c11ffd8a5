package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/form"
)

// picker is a list to choose the value of an entry from: the files of a folder that suit it, or its examples. Typed
// text narrows the list.
type picker struct {
	entry   *formEntry
	reading string    // the folder that is being read
	busy    bool      // it is
	folder  folderMsg // the one shown
	from    string    // the folder that was left for the one above it
	filter  editor
	cursor  int
}

// picks reports whether there is a list to choose a value from.
func (e *formEntry) picks() bool { return e.Kinds != nil || len(e.examples()) > 0 }

// examples are the values that the directory names for a word.
func (e *formEntry) examples() []string {
	var all []string
	for _, value := range e.Field.Examples {
		if value = line(value); value != "" && e.Kind == form.Word {
			all = append(all, value)
		}
	}
	return all
}

// picker is the list that is open; nil without one.
func (m *Model) picker() *picker {
	switch m.screen {
	case formScreen:
		return m.form.picker
	case talkScreen:
		return m.talking.picker
	default:
		return nil
	}
}

// setPicker opens a list, or closes it for nil.
func (m *Model) setPicker(p *picker) {
	if m.screen == talkScreen {
		m.talking.picker = p
	} else {
		m.form.picker = p
	}
}

// picked is the entry that a list would be for; nil without one.
func (m *Model) picked() *formEntry {
	e := &m.talking.files
	if m.screen == formScreen {
		at := m.form.focused()
		if at.entry < 0 {
			return nil
		}
		e = &m.form.entries[at.entry]
	}
	if !e.picks() {
		return nil
	}
	return e
}

// openPicker shows the list of the entry that has the focus, the files of the folder that was shown last.
func (m *Model) openPicker() tea.Cmd {
	e := m.picked()
	if e == nil {
		return nil
	}
	p := &picker{entry: e}
	m.setPicker(p)
	if p.entry.Kinds != nil {
		return p.read(m.pickedIn)
	}
	for _, value := range p.entry.examples() {
		p.folder.all = append(p.folder.all, listed{name: value})
	}
	return nil
}

// read has a folder read.
func (p *picker) read(folder string) tea.Cmd {
	p.reading, p.busy = folder, true
	p.filter, p.cursor = editor{}, 0
	return readFolder(folder, p.entry.Kinds)
}

// listedFolder takes a folder, unless another one is asked for meanwhile.
func (m *Model) listedFolder(msg folderMsg) {
	lists := []*picker{m.talking.picker} // of screens that may not be shown
	if m.form != nil {
		lists = append(lists, m.form.picker)
	}
	for _, p := range lists {
		if p == nil || !p.busy || p.reading != msg.asked {
			continue
		}
		p.folder, p.busy = msg, false
		p.cursor = max(0, slices.IndexFunc(p.rows(), func(l listed) bool { return l.folder && l.name == p.from }))
		p.from = ""
		if msg.err == nil {
			m.pickedIn = msg.path
		}
	}
}

// rows are the choices that the filter leaves.
func (p *picker) rows() []listed {
	if p.busy {
		return nil
	}
	words := strings.ToLower(p.filter.value())
	var rows []listed
	for _, l := range p.folder.all {
		if strings.Contains(strings.ToLower(l.name), words) {
			rows = append(rows, l)
		}
	}
	return rows
}

// pickerKey takes a key while the list is open. Named keys move, others narrow the list.
func (m *Model) pickerKey(msg tea.KeyMsg) tea.Cmd {
	p := m.picker()
	rows, k := p.rows(), msg.String()
	switch k {
	case "esc":
		if p.filter.empty() {
			m.setPicker(nil)
		}
		p.filter, p.cursor = editor{}, 0
	case "up", "down", "pgup", "pgdown", "home", "end":
		p.cursor = move(k, p.cursor, len(rows), m.bodyHeight())
	case "enter", "right", "tab":
		return m.choose(k, rows)
	case "left":
		return p.up()
	case "backspace":
		if p.filter.empty() {
			return p.up()
		}
		fallthrough
	default:
		if p.filter.key(msg, m.width) {
			p.cursor = 0
		}
	}
	return nil
}

// choose opens the folder that the cursor is on, or takes its file; tab stays for more.
func (m *Model) choose(k string, rows []listed) tea.Cmd {
	p := m.picker()
	typed := p.filter.value()
	switch {
	case p.entry.Kinds != nil && k != "tab" && (strings.HasPrefix(typed, "/") || strings.HasPrefix(typed, "~")):
		return p.read(typed)
	case len(rows) == 0:
	case rows[p.cursor].folder:
		return p.read(filepath.Join(p.folder.path, rows[p.cursor].name))
	case k == "right":
	case k == "tab" && p.entry.Kind == form.List:
		p.entry.toggle("@" + p.folder.prefix + rows[p.cursor].name)
		p.cursor = min(p.cursor+1, len(rows)-1)
	default:
		p.entry.take(p.value(rows[p.cursor]))
		m.setPicker(nil)
		if m.screen == formScreen {
			m.form.failure = nil
		}
	}
	return nil
}

// up has the folder above read.
func (p *picker) up() tea.Cmd {
	if p.entry.Kinds == nil || p.busy || p.folder.path == "" {
		return nil
	}
	p.from = filepath.Base(p.folder.path)
	return p.read(filepath.Dir(p.folder.path))
}

// value is what a choice is written as.
func (p *picker) value(l listed) string {
	if p.entry.Kinds == nil {
		return l.name
	}
	return "@" + p.folder.prefix + l.name
}

// take writes a value, in a line of its own if there may be several.
func (e *formEntry) take(value string) {
	if e.Kind != form.List {
		e.write(value)
	} else if !slices.Contains(e.written(), value) {
		e.toggle(value)
	}
}

// toggle adds a line, or removes the one that is the same.
func (e *formEntry) toggle(value string) {
	lines := e.written()
	if at := slices.Index(lines, value); at >= 0 {
		lines = slices.Delete(lines, at, at+1)
	} else {
		lines = append(lines, value)
	}
	e.write(strings.Join(lines, "\n"))
}

// written are the lines that aren't blank.
func (e *formEntry) written() []string {
	var lines []string
	for l := range strings.SplitSeq(e.edit.value(), "\n") {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

func (e *formEntry) write(value string) {
	e.edit, e.problem = editor{lines: e.edit.lines}, ""
	e.edit.insert(value)
}

// Render draws the folder, the filter, the choices around the cursor, and what isn't among them.
func (p *picker) Render(c canvas, width, height int) string {
	typed := strings.Join(p.filter.render(max(4, width-4), 1, true, c.Style), "")
	if p.filter.empty() {
		typed += c.faint.Render(" type to narrow the list")
	}
	lines := []string{c.rule(p.head(width-8), width), c.accent.Render(" / ") + typed}
	rows := p.rows()
	notes := p.notes(c, width-2, len(rows))
	room := max(1, height-len(lines)-len(notes))
	columns := []int{max(4, width-markWidth-4-9-1), 9, 1}
	if p.entry.Kinds == nil {
		columns = []int{max(4, width-markWidth), 0, 0}
	}
	first := firstShown(p.cursor, len(rows), room)
	taken := p.entry.written()
	for i := first; i < min(first+room, len(rows)); i++ {
		l, size, mark := rows[i], "", ""
		switch {
		case l.folder:
			l.name += "/"
		case p.entry.Kinds != nil:
			size = fmt.Sprintf("%9s", api.Size(l.size))
		}
		if slices.Contains(taken, p.value(l)) {
			mark = "✓"
		}
		lines = append(lines, c.selected(row(columns, line(l.name), size, mark), i == p.cursor))
	}
	for len(lines) < height-len(notes) {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, notes...), "\n")
}

// head is the folder, its end if there is no room for all of it.
func (p *picker) head(width int) string {
	if p.entry.Kinds == nil {
		return line(p.entry.Field.Name)
	}
	path := line(p.folder.path)
	if home := line(p.folder.prefix); strings.HasPrefix(home, "~") {
		path = home
	}
	if p.busy {
		path = line(p.reading)
	}
	if over := cells(path) - width; over > 0 && width > 1 {
		clusters := split(path)
		for len(clusters) > 0 && cells(strings.Join(clusters, "")) > width-1 {
			clusters = clusters[1:]
		}
		path = "…" + strings.Join(clusters, "")
	}
	return path
}

// notes says why the list is empty, and what isn't listed.
func (p *picker) notes(c canvas, width, shown int) []string {
	var words string
	switch n := p.folder.others; {
	case p.busy:
		words = "reading the folder…"
	case p.folder.err != nil:
		return bullet(c, line(p.folder.err.Error()), width)
	case p.folder.rest > 0:
		words = fmt.Sprintf("%d more names aren't looked at: the folder is too large", p.folder.rest)
	case shown == 0 && len(p.folder.all) > 0:
		words = "no name has this in it"
	case p.entry.Kinds == nil:
		words = "Another one can be typed into the field."
	case n > 0:
		words = fmt.Sprintf("%d more %s: no %s", n, plural(n, "file"), form.AnyOf(p.entry.Kinds))
	case len(p.folder.all) == 0:
		words = "The folder is empty."
	}
	return []string{" " + c.faint.Render(cut(words, width))}
}
