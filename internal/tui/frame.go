package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

const roomy = 16 // rows; in fewer the status shares its line with the keys

// canvas is the styles and sizes that every part draws with.
type canvas struct {
	Style
	now    time.Time
	zone   *time.Location
	advise func(error) string // of Config.Hint
}

func (m *Model) drawing() canvas { return canvas{m.config.Style, m.now, m.config.Zone, m.config.Hint} }

// bodyHeight is the rows between the header and the footer.
func (m *Model) bodyHeight() int {
	if m.height < roomy {
		return max(1, m.height-2-len(m.advice()))
	}
	return m.height - 4 - len(m.advice())
}

// View draws the whole terminal: a header, the screen, a footer.
func (m *Model) View() string {
	c, height := m.drawing(), m.bodyHeight()
	body := ""
	switch {
	case m.palette != nil:
		body = m.palette.Render(c, m.width, height)
	case m.work != nil && m.work.shown:
		body = m.work.Render(c, m.width, height)
	case m.help:
		body = m.renderHelp(c, m.width, height)
	case m.screen == directoryScreen:
		body = m.directory.Render(c, m.width, height)
	case m.screen == tasksScreen:
		body = m.renderTasks(c, height)
	case m.picker() != nil:
		body = m.picker().Render(c, m.width, height)
	case m.screen == formScreen:
		body = m.form.Render(c, m.width, height)
	case m.screen == talksScreen:
		body = m.talking.list.Render(c, m.width, height)
	case m.screen == talkScreen:
		body = m.renderTalk(c, height)
	default:
		body = m.detail.Render(c, m.tasks, m.width, height)
	}
	lines := strings.Split(body, "\n")
	lines = lines[:min(len(lines), height)]
	for len(lines) < height {
		lines = append(lines, "")
	}
	lines = append([]string{m.header(c)}, lines...)
	if m.height >= roomy {
		lines = append([]string{lines[0], ""}, lines[1:]...)
	}
	lines = append(lines, m.footer(c)...)
	lines = lines[:min(len(lines), max(1, m.height))]
	for i := range lines {
		lines[i] = cut(lines[i], m.width)
	}
	return strings.Join(lines, "\n")
}

const leastWhere = 10 // columns of the header: a narrower one doesn't show the service

func (m *Model) header(c canvas) string {
	left := " " + c.bold.Render("unitask") + "  " + m.title(c)
	room := m.width - cells(left) - 2
	right := ""
	if room > leastWhere {
		right = c.faint.Render(cut(line(m.config.Where), room-1) + " ")
	}
	if note := m.note(); note != "" {
		drawn := c.accent.Render(cut(line(note), max(0, room-1)))
		if cells(drawn)+2+cells(right) <= room {
			right = drawn + "  " + right
		} else {
			right = drawn + " "
		}
	}
	if gap := m.width - cells(left) - cells(right); gap >= 2 {
		return left + strings.Repeat(" ", gap) + right
	}
	return left
}

// title is the tabs, or the path below them.
func (m *Model) title(c canvas) string {
	capabilities, tasks := "Capabilities", "Tasks"
	if n := m.tasks.open(); n > 0 {
		tasks += fmt.Sprintf(" (%d open)", n)
	}
	switch m.screen {
	case directoryScreen:
		return c.activeTab.Render(capabilities) + "  " + c.tab.Render(tasks)
	case tasksScreen:
		if m.width < stackBelow && m.note() != "" {
			return c.activeTab.Render(tasks) // the note needs the room
		}
		return c.tab.Render(capabilities) + "  " + c.activeTab.Render(tasks)
	case formScreen:
		path := c.faint.Render("› ") + c.accent.Render(line(string(m.form.capability.Name)))
		return path + m.pickerPath(c)
	case talksScreen:
		return c.faint.Render("› ") + c.accent.Render("conversations")
	case talkScreen:
		path := c.faint.Render("› ") + c.accent.Render(line(m.talking.view.Capability))
		if title := line(m.talking.view.Title); title != "" && m.talking.picker == nil {
			path += c.faint.Render(" › " + title)
		}
		return path + m.pickerPath(c)
	default:
		return c.faint.Render("› ") + c.accent.Render(line(m.known(m.detail.id).Capability))
	}
}

// pickerPath ends the path of a screen whose list is open.
func (m *Model) pickerPath(c canvas) string {
	p := m.picker()
	if p == nil {
		return ""
	}
	return c.faint.Render(" › ") + c.accent.Render(line(p.entry.Field.Name))
}

// footer is a status line, its remedy and the keys; with little room, the status or the keys, whichever matters more.
func (m *Model) footer(c canvas) []string {
	status, urgent := m.status(c)
	var lines []string
	if m.height >= roomy || urgent {
		lines = append(lines, status)
	}
	for _, l := range m.advice() {
		lines = append(lines, " "+c.faint.Render(l))
	}
	if m.height >= roomy || !urgent {
		lines = append(lines, m.hints(c))
	}
	return lines
}

// advice is the rest of a long status and the remedy for the shown problem, or the completions of a path, in a few lines.
func (m *Model) advice() []string {
	const most = 3
	hint := m.said.hint
	switch {
	case m.palette != nil:
		return nil
	case m.question != nil, m.prompt != nil && len(m.prompt.choices) == 0:
		return nil
	case m.prompt != nil:
		lines := wrap(strings.Join(m.prompt.choices, "  "), m.width-2)
		return lines[:min(len(lines), most)]
	case m.away.words != "":
		hint = m.away.hint
	}
	var lines, remedy []string
	if words := wrap(cmp.Or(m.away.words, m.said.words), m.width-4); len(words) > 1 {
		for _, l := range words[1:] {
			lines = append(lines, "  "+l)
		}
	}
	for _, h := range hinted(hint) {
		remedy = wrap(h, m.width-2)
	}
	lines = lines[:min(len(lines), most-min(len(remedy), 1))]
	return append(lines, remedy[:min(len(remedy), most-len(lines))]...)
}

// hinted is a hint as it is shown, empty for "".
func hinted(hint string) []string {
	if hint == "" {
		return nil
	}
	return []string{"hint: " + line(hint)}
}

func (m *Model) status(c canvas) (text string, urgent bool) {
	switch {
	case m.palette != nil && m.height < roomy:
		return "", false // its rows need the room
	case m.prompt != nil:
		return m.renderPrompt(c), true
	case m.question != nil && m.palette == nil:
		return " " + c.bold.Render(m.question.words) + " y yes, n no", true
	case m.away.words != "":
		return " " + c.bad.Render("✗ "+wrap(m.away.words, m.width-4)[0]), true
	case m.said.words != "" && m.said.bad:
		return " " + c.bad.Render("✗ "+wrap(m.said.words, m.width-4)[0]), true
	case m.said.words != "":
		return " " + c.good.Render("✓ ") + wrap(m.said.words, m.width-4)[0], true
	default:
		return "", false
	}
}

// rule is a line with words in it.
func (c canvas) rule(words string, width int) string {
	if words != "" {
		words = " " + cut(words, width-6) + " "
	}
	return c.faint.Render("──") + c.bold.Render(words) + c.faint.Render(strings.Repeat("─", max(0, width-2-cells(words))))
}

// selected marks a row that begins with room for the mark.
func (c canvas) selected(drawn string, selected bool) string {
	if !selected {
		return drawn
	}
	return c.accent.Render("▸ ") + c.selection.Render(strings.TrimPrefix(drawn, "  "))
}

// row draws cells in columns, two apart, after the room for a mark. A column without width is left
// out; the last one isn't filled.
func row(columns []int, values ...string) string {
	var b strings.Builder
	for i, width := range columns {
		if width > 0 {
			b.WriteString("  " + pad(values[i], width))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// firstShown is the first row to draw so that the selected one is among them.
func firstShown(selected, count, room int) int {
	return max(0, min(selected-room/2, count-room))
}

// message is a screen with only a text.
func message(c canvas, width int, first string, others ...string) string {
	var lines []string
	for _, l := range wrap(first, width-2) {
		lines = append(lines, " "+l)
	}
	for _, other := range others {
		for _, l := range wrap(other, width-2) {
			lines = append(lines, " "+c.faint.Render(l))
		}
	}
	return strings.Join(lines, "\n")
}
