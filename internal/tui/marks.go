package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

// marks are the tasks that keys act upon together, by their ids: a refresh, a filter and an order leave them as they are.
type marks struct {
	ids  map[string]bool
	from string // the task that a range begins at, "" without one; it ends at the selected one
}

// any reports whether there may be marked tasks.
func (k *marks) any() bool { return len(k.ids) > 0 || k.from != "" }

// span is the range in the table's rows, its end excluded; empty without one, or if its beginning isn't shown.
func (t *table) span(rows []*known) (from, to int) {
	if t.marks.from == "" {
		return 0, 0
	}
	for i, one := range rows {
		if one.ID == t.marks.from {
			at := t.index(rows)
			return min(i, at), max(i, at) + 1
		}
	}
	return 0, 0
}

// settle makes the marks of the range lasting and ends it.
func (t *table) settle(rows []*known) {
	from, to := t.span(rows)
	for _, one := range rows[from:to] {
		t.marks.set(one.ID)
	}
	t.marks.from = ""
}

func (k *marks) set(id string) {
	if k.ids == nil {
		k.ids = map[string]bool{}
	}
	k.ids[id] = true
}

func (k *marks) toggle(id string) {
	if k.ids[id] {
		delete(k.ids, id)
	} else {
		k.set(id)
	}
}

// count is how many tasks are marked, those of the range too.
func (t *table) count(rows []*known) int {
	n := len(t.marks.ids)
	from, to := t.span(rows)
	for _, one := range rows[from:to] {
		if !t.marks.ids[one.ID] {
			n++
		}
	}
	return n
}

// markKey takes a key that marks, and reports whether it did.
func (m *Model) markKey(k string) bool {
	if !slices.Contains([]string{" ", rangeKey, "shift+up", "shift+down", allKey}, k) {
		return false
	}
	rows, t := m.rows(), &m.table
	if len(rows) == 0 {
		return false
	}
	at := t.index(rows)
	step := func(k string) { t.selected = rows[move(k, at, len(rows), 1)].ID }
	switch k {
	case " ":
		if t.marks.from == "" {
			t.marks.toggle(rows[at].ID)
			step("down")
		}
		t.settle(rows)
	case rangeKey:
		if t.marks.from != "" {
			t.settle(rows)
		} else {
			t.selected, t.marks.from = rows[at].ID, rows[at].ID
		}
	case "shift+up", "shift+down":
		if t.marks.from == "" {
			t.marks.from = rows[at].ID
		}
		step(strings.TrimPrefix(k, "shift+"))
	case allKey:
		t.markAll(rows)
	}
	return true
}

// markAll marks all rows, or takes their marks away if all have one.
func (t *table) markAll(rows []*known) {
	t.settle(rows)
	marked := 0
	for _, one := range rows {
		if t.marks.ids[one.ID] {
			marked++
		}
	}
	for _, one := range rows {
		if marked == len(rows) {
			delete(t.marks.ids, one.ID)
		} else {
			t.marks.set(one.ID)
		}
	}
}

// unmark ends the range, or takes the marks away; false without any.
func (t *table) unmark() bool {
	switch {
	case t.marks.from != "":
		t.marks.from = ""
	case len(t.marks.ids) > 0 && t.filter == "": // esc shows all tasks first
		t.marks.ids = nil
	default:
		return false
	}
	return true
}

// targets are the marked tasks that suit, the newest first; without marks the selected one.
func (m *Model) targets(suits func(api.Task) bool) []api.Task {
	m.table.settle(m.rows())
	var all []api.Task
	if len(m.table.marks.ids) == 0 {
		if t, ok := m.shownTask(); ok && suits(t) {
			all = append(all, t)
		}
		return all
	}
	for _, one := range m.tasks.newest {
		if m.table.marks.ids[one.ID] && suits(one.Task) {
			all = append(all, one.Task)
		}
	}
	return all
}

// counted names the number of tasks in a question, and how many of them the table doesn't show.
func (m *Model) counted(all []api.Task) string {
	shown := map[string]bool{}
	for _, one := range m.rows() {
		shown[one.ID] = true
	}
	hidden := 0
	for _, t := range all {
		if !shown[t.ID] {
			hidden++
		}
	}
	words := fmt.Sprintf("%d %s", len(all), plural(len(all), "task"))
	if hidden > 0 {
		words += fmt.Sprintf(" (%d hidden)", hidden)
	}
	return words
}

// cancelMarked asks once whether to cancel the marked tasks that haven't ended.
func (m *Model) cancelMarked() {
	open := m.targets(func(t api.Task) bool { return !t.State.Terminal() })
	switch {
	case m.busy():
	case len(open) == 0:
		m.notice("the marked tasks have ended", false)
	default:
		m.question = &question{"Cancel " + m.counted(open) + "?", func() tea.Cmd {
			return m.start("Cancel", open, m.calls.cancelOne)
		}}
	}
}

// saveMarked asks for a folder for the results of the marked tasks.
func (m *Model) saveMarked() {
	done := m.targets(func(t api.Task) bool { return t.Output != nil })
	switch {
	case m.busy():
		return
	case len(done) == 0:
		m.notice("there is no result to save", false)
		return
	}
	p := &prompt{head: "Save " + m.counted(done) + " in", keys: "a folder; tab completes, esc leaves", path: true}
	p.edit.insert(folderOf(m.saveTo))
	p.enter = func(to string) tea.Cmd {
		if to = strings.TrimSpace(to); to == "" {
			return nil
		}
		to = strings.TrimSuffix(to, "/") + "/"
		m.saveTo = to
		return m.start("Save", done, func(t api.Task) outcome { return m.calls.saveOne(t, to) })
	}
	m.prompt = p
}

// folderOf is a place as a folder: the one that a file was saved in.
func folderOf(place string) string {
	at := strings.LastIndexByte(place, '/')
	if at < 0 {
		return "./"
	}
	return place[:at+1]
}

// copyMarked puts the ids of the marked tasks into the clipboard, one a line.
func (m *Model) copyMarked() tea.Cmd {
	var ids []string
	for _, t := range m.targets(func(api.Task) bool { return true }) {
		ids = append(ids, line(t.ID))
	}
	content := strings.Join(ids, "\n")
	if len(content) > longestCopy {
		m.notice("these are too many ids for a clipboard", true)
		return nil
	}
	m.notice(fmt.Sprintf("copied %d %s, where the terminal lets programs do so", len(ids), plural(len(ids), "id")), false)
	put := m.config.Copy
	return func() tea.Msg {
		put(content)
		return nil
	}
}
