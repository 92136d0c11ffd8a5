package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	"unitask/internal/form"

	"github.com/charmbracelet/lipgloss"
)

const (
	stackBelow = 60 // columns; in fewer the name stands above its value
	mostLabel  = 24
	markWidth  = 2 // before a name: whether it has the focus
	proseRows  = 3 // of an empty text that has the focus
	mostRows   = 8 // of one text
)

// columns is how wide names and values are drawn; without a label the name stands above.
type columns struct{ label, value int }

func (f *formPane) columns(width int) columns {
	if width < stackBelow {
		return columns{value: max(width-markWidth-2, 4)}
	}
	label := 0
	for i := range f.entries {
		label = max(label, cells(f.entries[i].title()))
	}
	label = min(label, mostLabel)
	return columns{label: label, value: width - markWidth - label - 3}
}

// Render draws the part around the focus, and a description of the focused element.
func (f *formPane) Render(c canvas, width, height int) string {
	var lines []string
	from, to, at := 0, 0, f.columns(width)
	for i, it := range f.items() {
		focused := i == min(f.focus, len(f.items())-1)
		if focused {
			from = len(lines)
		}
		switch {
		case it.send && height >= roomy:
			lines = append(lines, "", f.button(c, focused))
		case it.send:
			lines = append(lines, f.button(c, focused))
		case it.fold:
			lines = append(lines, f.fold(c, focused))
		default:
			lines = append(lines, f.entries[it.entry].render(c, at, max(2, min(mostRows, height/2)), focused)...)
		}
		if focused {
			to = len(lines)
		}
	}
	top := f.failed(c, width, height)
	below := f.hint(c, width, height)
	room := max(1, height-len(top)-len(below))
	first := min(from, max(0, to-room))
	shown := lines[first:min(len(lines), first+room)]
	for len(shown) < room {
		shown = append(shown, "")
	}
	return strings.Join(append(append(top, shown...), below...), "\n")
}

func (f *formPane) failed(c canvas, width, height int) []string {
	var lines []string
	for _, row := range f.failure {
		for _, l := range bullet(c, row, width-2) {
			lines = append(lines, " "+l)
		}
	}
	return lines[:min(len(lines), max(1, height/3))]
}

// hint is a rule and the description of the focused element.
func (f *formPane) hint(c canvas, width, height int) []string {
	rows := 3
	if height < 12 {
		rows = 1
	}
	if height < 6 {
		return nil
	}
	lines := wrap(f.describe(), width-2)
	if len(lines) > rows {
		lines = append(lines[:rows-1], cut(strings.Join(lines[rows-1:], " "), width-2))
	}
	for len(lines) < rows {
		lines = append(lines, "")
	}
	for i := range lines {
		lines[i] = " " + c.faint.Render(lines[i])
	}
	if rows > 1 {
		lines = append([]string{c.rule("", width)}, lines...)
	}
	return lines
}

// describe returns the description of the focused element.
func (f *formPane) describe() string {
	at := f.focused()
	switch {
	case at.fold && f.unfolded:
		return "Enter hides what may be left out."
	case at.fold:
		return "Enter shows what may be left out."
	case at.send:
		return "Enter sends the task. It goes on when you leave."
	default:
		return f.entries[at.entry].about()
	}
}

func (e *formEntry) about() string {
	words := []string{line(e.Field.Description)}
	add := func(word string) {
		if word != "" {
			words = append(words, word)
		}
	}
	switch e.Kind {
	case form.List:
		add("One a line.")
	case form.JSON:
		add("Written as JSON, or the @path of a file that has it.")
	}
	switch {
	case e.prompt != "":
		add("ctrl+o picks one; or @path.")
	case e.Field.Media:
		add("ctrl+o picks a file; or @path, a URL or an artifact's id.")
	case len(e.examples()) > 0:
		add("Such as " + form.AnyOf(e.examples()[:min(len(e.examples()), 3)]) + "; ctrl+o shows all.")
	}
	if b := e.Field.Bounds(); b != "" {
		add("From " + b + ".")
	}
	if d := e.standard(); d != "" {
		add("Default " + d + ".")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// standard is the service's default, "" without one.
func (e *formEntry) standard() string {
	var word string
	if json.Unmarshal(e.Field.Default, &word) != nil {
		word = string(e.Field.Default)
	}
	return line(word)
}

// title is the name, marked if a value is required.
func (e *formEntry) title() string {
	switch {
	case e.prompt != "":
		return line(e.Field.Name)
	case e.Field.Required && !e.Within:
		return line(e.Name()) + " *"
	default:
		return line(e.Name())
	}
}

// render draws the name, the value and the problem.
func (e *formEntry) render(c canvas, at columns, most int, focused bool) []string {
	mark, style := "  ", lipgloss.NewStyle()
	if focused {
		mark, style = c.accent.Render("▸ "), c.accent
	}
	value := e.values(c, at.value, most, focused)
	if e.problem != "" {
		value = append(value, bullet(c, e.problem, at.value)...)
	}
	if at.label == 0 {
		lines := []string{mark + style.Render(cut(e.title(), at.value))}
		for _, l := range value {
			lines = append(lines, "    "+l)
		}
		return lines
	}
	lines := make([]string, len(value))
	for i, l := range value {
		label := strings.Repeat(" ", at.label)
		if i == 0 {
			label = style.Render(pad(e.title(), at.label))
		}
		lines[i] = mark + label + "  " + l
		mark = "  "
	}
	return lines
}

// bullet is a problem in lines.
func bullet(c canvas, problem string, width int) []string {
	lines := wrap(problem, width-2)
	for i := range lines {
		mark := "  "
		if i == 0 {
			mark = "✗ "
		}
		lines[i] = c.bad.Render(mark + lines[i])
	}
	return lines
}

// values draws the value alone.
func (e *formEntry) values(c canvas, width, most int, focused bool) []string {
	if e.Kind == form.Choice {
		word := line(e.choices[e.choice])
		if word == "" {
			word = c.faint.Render(e.placeholder())
		}
		if focused {
			return []string{c.accent.Render("◂ ") + word + c.accent.Render(" ▸")}
		}
		return []string{word}
	}
	if e.edit.empty() && !focused {
		return []string{c.faint.Render(cut(e.placeholder(), width))}
	}
	if e.Kind == form.Word || e.Kind == form.Number || e.Kind == form.Media {
		return e.edit.render(width, min(most, 3), focused, c.Style)
	}
	lines := e.edit.render(width-2, most, focused, c.Style)
	for focused && len(lines) < min(proseRows, most) {
		lines = append(lines, "")
	}
	for i := range lines {
		lines[i] = c.faint.Render("│ ") + lines[i]
	}
	return lines
}

// placeholder is shown in an empty entry.
func (e *formEntry) placeholder() string {
	switch {
	case e.standard() != "":
		return "default: " + e.standard()
	case e.Field.Media && e.Kind == form.Media:
		return "ctrl+o picks a file; or @path, URL, artifact id"
	case e.Kind == form.JSON:
		return "JSON, or ctrl+o picks a file"
	case e.Kinds != nil:
		return "ctrl+o picks files"
	case len(e.examples()) > 0:
		return "ctrl+o picks one"
	case e.Kind == form.List:
		return "one a line"
	case e.Field.Required && !e.Within:
		return "…"
	default:
		return "not set"
	}
}

func (f *formPane) fold(c canvas, focused bool) string {
	n := len(f.entries) - f.shown
	words := fmt.Sprintf("+ %d more %s", n, plural(n, "option"))
	if f.unfolded {
		words = "- fewer options"
	}
	if focused {
		return c.accent.Render("▸ " + words)
	}
	return "  " + words
}

func (f *formPane) button(c canvas, focused bool) string {
	words := "[ Send ]"
	if f.sending() {
		words = fmt.Sprintf("sending… %ds", int(c.now.Sub(f.sendingSince).Seconds()))
		if f.ahead != "" {
			words = "sending a file… " + f.ahead
		}
	}
	cost := c.faint.Render("  " + f.capability.Price.String())
	if focused {
		return c.accent.Render("▸ "+words) + cost
	}
	return "  " + words + cost
}
