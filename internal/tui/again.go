package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/form"
)

// formValues is a form's values, by the entries' wire names.
type formValues map[string]string

// written returns the entered values; a choice by its word.
func (f *formPane) written() formValues {
	w := formValues{}
	for i := range f.entries {
		e := &f.entries[i]
		if e.Kind == form.Choice {
			w[e.Wire()] = e.choices[e.choice]
		} else {
			w[e.Wire()] = e.edit.value()
		}
	}
	return w
}

// fill replaces the entered values and forgets their submission.
func (f *formPane) fill(w formValues) {
	f.focus, f.failure, f.unfolded = 0, nil, false
	for i := range f.entries {
		e := &f.entries[i]
		value := w[e.Wire()]
		e.problem, e.choice = "", max(0, slices.Index(e.choices, value))
		e.edit = editor{lines: e.edit.lines}
		if e.Kind != form.Choice {
			e.edit.insert(value)
		}
		f.unfolded = f.unfolded || i >= f.shown && value != ""
	}
}

// runAgain opens the form that a task was sent with, to be edited and sent as another task. Inputs of other clients
// are erased: the service erases inputs.
func (m *Model) runAgain(t api.Task) tea.Cmd {
	at := slices.IndexFunc(m.directory.all, func(c api.Capability) bool { return string(c.Name) == t.Capability })
	if at < 0 {
		m.notice("this key doesn't open "+line(t.Capability), true)
		return nil
	}
	if f := m.forms[t.Capability]; f != nil && f.sending() {
		m.notice("its form is being sent", true)
		return nil
	}
	m.directory.cursor = at
	m.openForm()
	if m.screen != formScreen {
		return nil
	}
	if w, ok := m.sent[t.ID]; ok {
		m.form.fill(w)
	} else {
		m.notice("its input isn't kept: only what this dashboard sent can be edited", true)
	}
	return nil
}
