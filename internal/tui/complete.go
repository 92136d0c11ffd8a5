package tui

import (
	"path"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

type completedMsg struct {
	prefix string
	names  []string
}

// complete asks which paths begin so.
func (c calls) complete(prefix string) tea.Cmd {
	return func() tea.Msg { return completedMsg{prefix, c.files.Complete(prefix)} }
}

// completed writes as much of the path as is certain, and shows the choices if that isn't all.
func (m *Model) completed(msg completedMsg) {
	p := m.prompt
	if p == nil || !p.path || p.edit.value() != msg.prefix {
		return // written on meanwhile
	}
	if len(msg.names) == 0 {
		p.choices = []string{"nothing begins so"}
		return
	}
	p.touched = true
	p.edit = editor{}
	p.edit.insert(common(msg.names))
	if len(msg.names) == 1 {
		return
	}
	for _, name := range msg.names {
		choice := path.Base(name)
		if strings.HasSuffix(name, "/") {
			choice += "/"
		}
		p.choices = append(p.choices, line(choice))
	}
}

// common is the common prefix of all texts, of which there is at least one.
func common(texts []string) string {
	prefix := texts[0]
	for _, s := range texts[1:] {
		for !strings.HasPrefix(s, prefix) {
			_, last := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-last]
		}
	}
	return prefix
}
