package tui

import (
	"fmt"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/shown"
	"unitask/internal/task"
)

// table is the account's tasks. It follows the selected task, not its place.
type table struct {
	selected string             // a task's id; "" for the first
	filter   string             // words that must stand in a row, "" for all rows
	query    client.ListOptions // the part of the filter that the service answers
	order    order
	marks    marks
	listings map[client.ListOptions]*listing
	pages    int // how many more are read before the next key
}

func (t *table) index(rows []*known) int {
	return max(0, slices.IndexFunc(rows, func(r *known) bool { return r.ID == t.selected }))
}

// Render draws the rows around the selected one.
func (t *table) Render(c canvas, b taskCache, width, height int) string {
	rows := t.rows(b, c.now)
	switch {
	case len(rows) == 0 && !t.listing().known:
		return message(c, width, "Asking for the tasks…")
	case len(rows) == 0 && t.listing().next != "":
		return message(c, width, "No task matches "+line(t.filter)+" so far.", "Any arrow looks further; esc shows all of them.")
	case len(rows) == 0 && t.filter != "":
		return message(c, width, "No task matches "+line(t.filter)+".", "esc shows all of them.")
	case len(rows) == 0:
		return message(c, width, "No task yet.", "Press tab, choose a capability and send one.")
	}
	columns := taskColumns(rows, width)
	lines := []string{c.faint.Render(row(columns, "STATE", "CAPABILITY", "TIME", "PROGRESS", "COST", "AGE", "WHAT", "ID"))}
	at := t.index(rows)
	first := firstShown(at, len(rows), height-1)
	from, to := t.span(rows)
	for i := first; i < min(first+height-1, len(rows)); i++ {
		one, marked := rows[i], t.marks.ids[rows[i].ID] || i >= from && i < to
		lines = append(lines, t.row(c, columns, one.Task, b.labels[one.ID], i == at, marked))
	}
	return strings.Join(lines, "\n")
}

// taskColumns gives each column its width. With less room the progress goes into the column of the time, with little the
// last ones go, and with much there are two more.
func taskColumns(rows []*known, width int) []int {
	const state, took, bar, share, narrowest, words = 14, 6, 9, 5, 12, 30
	capability, amount := 10, 4
	for _, t := range rows {
		capability, amount = max(capability, t.capability), max(amount, t.cost)
	}
	capability, amount = min(capability, 24), min(amount, 12)
	left := width - markWidth - state - took - 4
	if left < capability+bar+amount+narrowest+6 && left >= capability+share+amount+narrowest+4 {
		return []int{state, capability, took + share, 0, amount, 0, left - capability - share - amount - 4, 0}
	}
	if left < capability+bar+amount+narrowest+6 {
		capability = max(0, min(left, capability))
		return []int{state, capability, took + max(0, left-capability), 0, 0, 0, 0, 0}
	}
	columns := []int{state, capability, took, bar, amount, 0, left - capability - bar - amount - 6, 0}
	for _, more := range []struct{ at, width int }{{5, 4}, {7, 31}} { // the age and the id
		if left := columns[6] - more.width - 2; left >= words {
			columns[more.at], columns[6] = more.width, left
		}
	}
	return columns
}

func (t *table) row(c canvas, columns []int, one api.Task, label string, selected, marked bool) string {
	took := shown.Duration(elapsed(one, c.now))
	if columns[3] == 0 && one.Progress != nil && !one.State.Terminal() {
		took += fmt.Sprintf(" %d%%", percent(one)) // there is no column for it
	}
	state := cut(sign(one.State)+" "+line(string(one.State)), columns[0])
	drawn := row(
		columns, state, line(one.Capability), took, progress(one, columns[3]), cost(one), age(one, c.now), what(one, label), line(one.ID),
	)
	if selected && marked {
		return c.accent.Render("▸*") + c.selection.Render(drawn[markWidth:])
	}
	if marked {
		return " " + c.accent.Render("*") + c.state(one.State).Render(state) + drawn[markWidth+len(state):]
	}
	if !selected {
		// The row is plain text, so that its first cells can be painted in place.
		return c.state(one.State).Render(drawn[:markWidth+len(state)]) + drawn[markWidth+len(state):]
	}
	return c.selected(drawn, true)
}

// progress draws a bar of an open task's progress, if the service knows it.
func progress(t api.Task, width int) string {
	if t.Progress == nil || t.State.Terminal() || width < 8 {
		return ""
	}
	const bar = 5
	full := (percent(t)*bar + 50) / 100
	return strings.Repeat("█", full) + strings.Repeat("░", bar-full) + fmt.Sprintf(" %d%%", percent(t))
}

// percent is how far a task is that says so.
func percent(t api.Task) int { return int(max(0, min(*t.Progress, 1)) * 100) }

// what describes a task's result, or its request, in a few words.
func what(t api.Task, label string) string {
	switch {
	case t.Error != nil:
		return line(string(t.Error.Code))
	case label != "":
		return label
	case t.State != task.Succeeded || t.Output == nil:
		return ""
	case t.Output.Shown() != nil:
		return firstWords(string(t.Output.Shown()))
	case t.Output.Text != nil:
		return firstWords(*t.Output.Text)
	case len(t.Output.Embeddings) > 0:
		n := len(t.Output.Embeddings)
		return fmt.Sprintf("%d %s", n, plural(n, "vector"))
	default:
		files := t.Output.Artifacts()
		return fmt.Sprintf("%d %s", len(files), plural(len(files), "file"))
	}
}

// firstWords is the beginning of a text, which may be very long.
func firstWords(s string) string {
	const most = 400 // bytes
	return line(s[:min(len(s), most)])
}
