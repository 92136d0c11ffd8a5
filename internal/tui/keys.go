package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

// key handles a key. Letters that came faster than they were read stand in one message: outside of a text each of
// them is a key.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt {
		return m.oneKey(msg)
	}
	var cmds []tea.Cmd
	for typed := msg.Runes; len(typed) > 0; {
		n := 1
		if m.writing() {
			n = len(typed)
		}
		cmds = append(cmds, m.oneKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: typed[:n]}))
		typed = typed[n:]
	}
	return tea.Batch(cmds...)
}

// writing reports whether letters go into a text.
func (m *Model) writing() bool {
	return m.prompt != nil || m.palette != nil ||
		m.screen == talkScreen && m.question == nil && !m.help || m.screen == formScreen && m.question == nil && !m.help && m.form.writing()
}

// oneKey gives a key to whoever it is for: a prompt or question that is open, the help, then the screen.
func (m *Model) oneKey(msg tea.KeyMsg) tea.Cmd {
	k := msg.String()
	if k == "ctrl+c" {
		return m.quit()
	}
	m.said, m.table.pages = notice{}, mostPages
	switch {
	case m.prompt != nil:
		return m.promptKey(msg)
	case m.palette != nil:
		return m.paletteKey(msg)
	case m.question != nil:
		return m.confirm(k)
	case m.work != nil && m.work.shown:
		m.workKey(k)
		return nil
	case k == paletteKey, k == ":" && !m.writing() && !m.help:
		m.help = false
		m.openPalette()
		return nil
	case m.help:
		m.helpKey(k)
		return nil
	case m.screen == formScreen:
		return m.formKey(msg)
	case m.screen == talkScreen:
		return m.talkKey(msg)
	case k == "q":
		return m.quit()
	case k == "?":
		m.help, m.helpTop = true, 0
		return nil
	case k == talkKey && m.screen != talksScreen:
		return m.openTalks()
	case k == profileKey && m.config.Profiles != nil && m.screen != detailScreen:
		return m.readProfiles(true)
	}
	switch m.screen {
	case directoryScreen:
		return m.directoryKey(k)
	case tasksScreen:
		return m.tableKey(k)
	case talksScreen:
		return m.talksKey(k)
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
	if m.markKey(k) {
		return nil
	}
	rows := m.rows()
	at := m.table.index(rows)
	switch k {
	case "esc":
		if m.table.unmark() {
			return nil
		}
		if m.table.filter != "" {
			m.setFilter("")
			return nil
		}
		m.screen = directoryScreen
	case "tab", "shift+tab", "right", "left":
		m.screen = directoryScreen
	case "/":
		m.openFilter()
	case sortKey:
		m.table.order = (m.table.order + 1) % orders
	case "r":
		return m.again(tasksLoop, 0)
	case "enter":
		if len(rows) > 0 {
			return m.openDetail(rows[at].ID)
		}
	case cancelKey:
		if m.table.marks.any() {
			m.cancelMarked()
			return nil
		}
		return m.taskKey(k)
	case saveAllKey:
		m.saveMarked()
	case copyKey:
		return m.copyMarked()
	case againKey:
		return m.taskKey(k)
	default:
		if len(rows) > 0 {
			m.table.selected = rows[move(k, at, len(rows), m.bodyHeight())].ID
		}
	}
	return nil
}

func (m *Model) openDetail(id string) tea.Cmd {
	m.screen, m.detail = detailScreen, detail{id: id, shots: m.galleryOf(id)}
	return tea.Batch(m.calls.timeline(id), m.renew(id))
}

func (m *Model) detailKey(k string) tea.Cmd {
	switch k {
	case "esc", "left", "backspace", "tab", "shift+tab":
		m.screen, m.table.selected = tasksScreen, m.detail.id
	case cancelKey, againKey, saveKey, openKey, copyKey, pictureKey:
		return m.taskKey(k)
	default:
		m.detail.scroll(k, m.tasks, m.drawing(), m.width, m.bodyHeight())
	}
	return nil
}

// taskKey applies a key to the opened or selected task.
func (m *Model) taskKey(k string) tea.Cmd {
	t, ok := m.shownTask()
	switch {
	case !ok:
	case k == cancelKey:
		m.askCancel(t)
	case k == againKey:
		return m.runAgain(t)
	case k == copyKey:
		return m.copied(t)
	case t.Output == nil:
		m.notice("this task has no result", false)
	case k == saveKey:
		m.askWhere(t)
	case k == openKey:
		m.notice("opening…", false)
		return m.calls.open(t)
	case k == pictureKey:
		return m.leaveWithPictures(t)
	}
	return nil
}

// shownTask is the task that keys are about: the one opened or selected.
func (m *Model) shownTask() (api.Task, bool) {
	switch m.screen {
	case detailScreen:
		return m.tasks.get(m.detail.id)
	case tasksScreen:
		if one := m.tasks.all[m.table.selected]; one != nil && m.table.shows(one, m.tasks) {
			return one.Task, true
		}
		if rows := m.rows(); len(rows) > 0 {
			return rows[m.table.index(rows)].Task, true
		}
	}
	return api.Task{}, false
}

// known returns a task, empty for one that isn't.
func (m *Model) known(id string) api.Task {
	t, _ := m.tasks.get(id)
	return t
}

func (m *Model) rows() []*known { return m.table.rows(m.tasks, m.now) }

// askCancel opens the question whether to cancel the task, if it still can be.
func (m *Model) askCancel(t api.Task) {
	if t.State.Terminal() {
		m.notice("this task has ended", false)
		return
	}
	m.question = &question{"Cancel " + line(t.Capability) + "?", func() tea.Cmd { return m.calls.cancel(t.ID) }}
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
	if m.screen != formScreen {
		m.formFrom = m.screen
	}
	m.form, m.screen = f, formScreen
	return nil
}

// back shows the screen that another one was opened from.
func (m *Model) back(to screen) tea.Cmd {
	switch {
	case to == detailScreen:
		return m.openDetail(m.detail.id)
	case to == talkScreen && m.talking.talk == nil && m.talking.deed != opening: // it couldn't be begun
		m.screen = talksScreen
		return m.readTalks()
	}
	m.screen = to
	return nil
}

func (m *Model) formKey(msg tea.KeyMsg) tea.Cmd {
	f := m.form
	switch k := msg.String(); {
	case f.picker != nil:
		return m.pickerKey(msg)
	case k == "esc":
		return m.back(m.formFrom)
	case f.sending():
	case k == pickKey:
		return m.openPicker()
	case k == "ctrl+s":
		return m.submit()
	case k == "?" && !f.writing():
		m.help, m.helpTop = true, 0
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
	m.form.sendingSince, m.form.ahead = m.now, ""
	return m.calls.prepare(d)
}

// move returns a cursor's position in a list after a key.
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
