package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

// key gives a key to whoever it is for: a question that is open, the help, then the screen.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	k := msg.String()
	if k == "ctrl+c" {
		return tea.Quit
	}
	m.said = notice{}
	switch {
	case m.toCancel != "":
		return m.confirm(k)
	case m.help:
		m.help = false
		return nil
	case m.screen == formScreen:
		return m.formKey(msg)
	case k == "q":
		return tea.Quit
	case k == "?":
		m.help = true
		return nil
	}
	switch m.screen {
	case directoryScreen:
		return m.directoryKey(k)
	case tasksScreen:
		return m.tableKey(k)
	default:
		return m.detailKey(k)
	}
}

func (m *Model) directoryKey(k string) tea.Cmd {
	switch k {
	case "tab", "shift+tab", "right", "left":
		m.screen = tasksScreen
	case "r":
		return m.again(directoryLoop, 0)
	case "enter":
		return m.openForm()
	default:
		m.directory.cursor = move(k, m.directory.cursor, len(m.directory.all), m.bodyHeight())
	}
	return nil
}

func (m *Model) tableKey(k string) tea.Cmd {
	rows := m.tasks.newest()
	at := m.table.index(rows)
	switch k {
	case "tab", "shift+tab", "right", "left", "esc":
		m.screen = directoryScreen
	case "r":
		return m.again(tasksLoop, 0)
	case "enter":
		if len(rows) > 0 {
			return m.openDetail(rows[at].ID)
		}
	case cancelKey:
		m.askCancel()
	default:
		if len(rows) > 0 {
			m.table.selected = rows[move(k, at, len(rows), m.bodyHeight())].ID
		}
	}
	return nil
}

func (m *Model) openDetail(id string) tea.Cmd {
	m.screen, m.detail = detailScreen, detail{id: id}
	l := m.loopOf(id)
	if l.phase == resting && !m.now.Before(l.started.Add(l.gap)) {
		return tea.Batch(m.round(id), m.calls.timeline(id)) // a task that has ended is read once more: its URLs expire
	}
	return m.calls.timeline(id)
}

func (m *Model) detailKey(k string) tea.Cmd {
	switch k {
	case "esc", "left", "backspace", "tab", "shift+tab":
		m.screen, m.table.selected = tasksScreen, m.detail.id
	case cancelKey:
		m.askCancel()
	default:
		m.detail.scroll(k, m.tasks, m.drawing(), m.width, m.bodyHeight())
	}
	return nil
}

// shownTask is the task that keys are about: the one opened or selected.
func (m *Model) shownTask() (api.Task, bool) {
	switch m.screen {
	case detailScreen:
		t, ok := m.tasks.all[m.detail.id]
		return t, ok
	case tasksScreen:
		if rows := m.tasks.newest(); len(rows) > 0 {
			return rows[m.table.index(rows)], true
		}
	}
	return api.Task{}, false
}

// askCancel opens the question whether to cancel the task, where it still can be.
func (m *Model) askCancel() {
	t, ok := m.shownTask()
	switch {
	case !ok:
	case t.State.Terminal():
		m.notice("this task has ended", false)
	default:
		m.toCancel = t.ID
	}
}

func (m *Model) confirm(k string) tea.Cmd {
	id := m.toCancel
	switch k {
	case "y", "Y":
		m.toCancel = ""
		return m.calls.cancel(id)
	case "n", "N", "esc", "q", "enter":
		m.toCancel = ""
	}
	return nil
}

// openForm shows the form of the selected capability, as it was left.
func (m *Model) openForm() tea.Cmd {
	c, ok := m.directory.selected()
	if !ok {
		return nil
	}
	f := m.forms[string(c.Name)]
	if f == nil {
		var err error
		if f, err = newForm(c); err != nil {
			m.notice("this capability's schema can't be read", true)
			return nil
		}
		m.forms[string(c.Name)] = f
	}
	m.form, m.screen = f, formScreen
	return nil
}

func (m *Model) formKey(msg tea.KeyMsg) tea.Cmd {
	f := m.form
	switch k := msg.String(); {
	case k == "esc":
		m.screen = directoryScreen
	case f.sending():
	case k == "ctrl+s":
		return m.submit()
	case k == "?" && !f.writing():
		m.help = true
	case f.key(msg, m.width):
		return m.submit()
	}
	return nil
}

// submit checks the form and has its files read.
func (m *Model) submit() tea.Cmd {
	d, ok := m.form.draft()
	if !ok {
		return nil
	}
	m.form.sendingSince = m.now
	return prepare(d)
}

// move returns where a key takes a cursor in a list.
func move(k string, at, count, page int) int {
	switch k {
	case "up", "k", "ctrl+p":
		at--
	case "down", "j", "ctrl+n":
		at++
	case "pgup", "ctrl+b":
		at -= page
	case "pgdown", "ctrl+f", " ":
		at += page
	case "home", "g":
		at = 0
	case "end", "G":
		at = count - 1
	}
	return max(0, min(at, count-1))
}
