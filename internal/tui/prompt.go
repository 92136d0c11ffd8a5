package tui

import (
	"image"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// prompt is a line that is asked for below the screen. While it is open the keys are its own.
type prompt struct {
	head    string // before the line
	keys    string // the actions of enter and esc
	edit    editor
	path    bool                 // the line is a path: tab completes it, and / or ~ begin another than the suggested one
	touched bool                 // the line isn't the suggestion any more
	choices []string             // the completions of the path, after tab
	typed   func(string)         // told of each change; may be nil
	enter   func(string) tea.Cmd // takes the line
	esc     func()               // may be nil
}

// question is answered by yes or no.
type question struct {
	words string
	yes   func() tea.Cmd
}

// sending names the request that is on its way out and that an end would lose, "" without one.
func (m *Model) sending() string {
	if m.talking.deed == saying {
		return "a message"
	}
	for _, f := range m.forms {
		if f.sending() {
			return "a form"
		}
	}
	return ""
}

// quit ends the dashboard, after which pictures are shown. While a request is being sent it asks first; to quit again
// is a yes.
func (m *Model) quit(pictures ...image.Image) tea.Cmd {
	end := func() tea.Cmd {
		m.pictures = pictures
		return tea.Quit
	}
	one := m.sending()
	words := "Quit and lose " + one + "?"
	if one == "" || m.question != nil && m.question.words == words {
		return end()
	}
	m.prompt, m.palette = nil, nil
	m.question = &question{words, end}
	return nil
}

func (m *Model) promptKey(msg tea.KeyMsg) tea.Cmd {
	p := m.prompt
	p.choices = nil
	switch msg.String() {
	case "tab":
		if p.path {
			return m.calls.complete(p.edit.value())
		}
	case "enter":
		m.prompt = nil
		return p.enter(p.edit.value())
	case "esc":
		m.prompt = nil
		if p.esc != nil {
			p.esc()
		}
	default:
		if p.path && !p.touched && len(msg.Runes) > 0 && strings.ContainsRune("/~", msg.Runes[0]) {
			p.edit = editor{}
		}
		p.touched = true
		if p.edit.key(msg, m.promptRoom()) && p.typed != nil {
			p.typed(p.edit.value())
		}
	}
	return nil
}

func (m *Model) promptRoom() int { return max(4, m.width-cells(m.prompt.head)-3) }

// renderPrompt draws the line around its cursor, and the keys if there is room for them.
func (m *Model) renderPrompt(c canvas) string {
	p := m.prompt
	written := strings.Join(p.edit.render(m.promptRoom(), 1, true, c.Style), "")
	drawn := " " + c.accent.Render(p.head) + " " + written
	keys := c.faint.Render(p.keys)
	if gap := m.width - cells(drawn) - cells(keys) - 1; gap >= 2 {
		return drawn + strings.Repeat(" ", gap) + keys
	}
	return drawn
}

func (m *Model) confirm(k string) tea.Cmd {
	q := m.question
	switch k {
	case "y", "Y":
		m.question = nil
		return q.yes()
	case "n", "N", "esc", "q", "enter":
		m.question = nil
	}
	return nil
}
