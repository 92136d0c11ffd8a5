package tui

import tea "github.com/charmbracelet/bubbletea"

// mouse takes the wheel as arrows, and a click as the choice of a row, or of its opening if it is chosen already. A
// click into the header shows the other list, or leaves a task.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	press := func(k tea.KeyType) tea.Cmd { return m.oneKey(tea.KeyMsg{Type: k}) }
	if m.screen == talkScreen && m.palette == nil && m.picker() == nil {
		return m.wheelTalk(msg)
	}
	lists := m.screen == directoryScreen || m.screen == tasksScreen || m.screen == talksScreen
	switch {
	case msg.Action != tea.MouseActionPress:
		return nil
	case msg.Button == tea.MouseButtonWheelUp:
		return press(tea.KeyUp)
	case msg.Button == tea.MouseButtonWheelDown:
		return press(tea.KeyDown)
	case msg.Button == tea.MouseButtonLeft && m.palette != nil:
		return m.clickPalette(msg.Y)
	case msg.Button != tea.MouseButtonLeft || m.writing() || m.question != nil || m.help || m.work != nil && m.work.shown:
		return nil
	case msg.Y == 0 && (m.screen == detailScreen || m.screen == talksScreen):
		return press(tea.KeyEsc)
	case !lists:
		return nil
	case msg.Y == 0:
		return press(tea.KeyTab)
	}
	height := m.bodyHeight()
	at := m.bodyRow(msg.Y) - 1 // below the list's own header
	if at < 0 || at >= height-1 {
		return nil
	}
	if m.screen == talksScreen {
		return m.clickTalks(at)
	}
	if m.screen == tasksScreen {
		rows := m.rows()
		if left, _ := m.split(); left > 0 && msg.X > left && len(rows) > 0 {
			return press(tea.KeyEnter) // the task beside the table
		}
		i := firstShown(m.table.index(rows), len(rows), height-1) + at
		switch {
		case i >= len(rows):
			return nil
		case msg.X < markWidth || msg.Ctrl:
			m.table.marks.toggle(rows[i].ID)
			return nil
		case i == m.table.index(rows):
			return press(tea.KeyEnter)
		}
		m.table.selected = rows[i].ID
		return nil
	}
	first, room := m.directory.visible(m.drawing(), m.width, height)
	switch i := first + at; {
	case at >= room || i >= len(m.directory.all):
	case i == m.directory.cursor:
		return press(tea.KeyEnter)
	default:
		m.directory.cursor = i
	}
	return nil
}

// wheelTalk scrolls a conversation.
func (m *Model) wheelTalk(msg tea.MouseMsg) tea.Cmd {
	switch {
	case msg.Action != tea.MouseActionPress:
	case msg.Button == tea.MouseButtonWheelUp:
		m.talking.scroll(wheelLines, m)
	case msg.Button == tea.MouseButtonWheelDown:
		m.talking.scroll(-wheelLines, m)
	case msg.Button == tea.MouseButtonLeft && msg.Y == 0 && m.talking.deed != waiting:
		return m.leaveTalk()
	}
	return nil
}

// clickTalks chooses a conversation, or opens the chosen one.
func (m *Model) clickTalks(at int) tea.Cmd {
	l := &m.talking.list
	i := firstShown(l.cursor, len(l.all), max(1, m.bodyHeight()-1)) + at
	switch {
	case i >= len(l.all):
		return nil
	case i == l.cursor:
		return m.oneKey(tea.KeyMsg{Type: tea.KeyEnter})
	}
	l.cursor = i
	return nil
}

// bodyRow is the row of the screen between header and footer that stands at a row of the terminal.
func (m *Model) bodyRow(y int) int {
	return y - (m.height - m.bodyHeight() - len(m.footer(m.drawing())))
}

// clickPalette chooses an offer, or takes the chosen one.
func (m *Model) clickPalette(y int) tea.Cmd {
	at := m.palette.at(m.bodyRow(y), m.bodyHeight())
	switch {
	case at < 0:
		return nil
	case at == m.palette.cursor:
		return m.take(at)
	default:
		m.palette.cursor = at
		return nil
	}
}
