package tui

import (
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

// capabilityList is the key's capabilities.
type capabilityList struct {
	all     []api.Capability
	known   bool
	refused notice // why it can't be read, zero if it can
	cursor  int
}

// take replaces the list; the cursor stays on its capability if that is still there.
func (d *capabilityList) take(all []api.Capability) {
	before, ok := d.selected()
	d.all, d.known, d.refused, d.cursor = all, true, notice{}, 0
	if ok {
		d.cursor = max(0, slices.IndexFunc(all, func(c api.Capability) bool { return c.Name == before.Name }))
	}
}

func (d *capabilityList) selected() (api.Capability, bool) {
	if d.cursor >= len(d.all) {
		return api.Capability{}, false
	}
	return d.all[d.cursor], true
}

// Render draws the list and, if there is room, the selected capability's description.
func (d *capabilityList) Render(c canvas, width, height int) string {
	switch {
	case d.refused.words != "":
		return message(c, width, d.refused.words, append(hinted(d.refused.hint), "Press r to try again.")...)
	case !d.known:
		return message(c, width, "Asking for the capabilities…")
	case len(d.all) == 0:
		return message(c, width, "This key opens no capability.", "A live key needs a supplier; a test key always has the sandbox.")
	}
	pane := d.pane(c, width, max(0, height-len(d.all)-1))
	first, room := d.visible(c, width, height)
	columns := d.columns(width)
	lines := []string{c.faint.Render(row(columns, "NAME", "TITLE", "MODE", "PRICE"))}
	for i := first; i < min(first+room, len(d.all)); i++ {
		one := d.all[i]
		drawn := row(columns, line(string(one.Name)), line(one.Title), line(string(one.Mode)), one.Price.String())
		lines = append(lines, c.selected(drawn, i == d.cursor))
	}
	for len(lines) < room+1 && len(pane) > 0 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, pane...), "\n")
}

// visible returns the first row shown, and how many there is room for.
func (d *capabilityList) visible(c canvas, width, height int) (first, room int) {
	room = max(1, height-1-len(d.pane(c, width, max(0, height-len(d.all)-1))))
	return firstShown(d.cursor, len(d.all), room), room
}

// columns gives each column its width; a pane without room is empty.
func (d *capabilityList) columns(width int) []int {
	const mode, narrowest = 5, 14
	name, title, amount := 4, 5, 5
	for _, one := range d.all {
		name = max(name, cells(line(string(one.Name))))
		title = max(title, cells(line(one.Title)))
		amount = max(amount, cells(one.Price.String()))
	}
	left := width - markWidth - 2 - mode - min(name, width/2)
	name = min(name, width/2)
	switch {
	case left >= narrowest+amount+4:
		return []int{name, min(title, left-amount-4), mode, amount}
	case left >= narrowest+2:
		return []int{name, min(title, left-2), mode, 0}
	default:
		return []int{name, 0, mode, 0}
	}
}

// pane describes the selected capability in at most height lines, in no line if that is too few.
func (d *capabilityList) pane(c canvas, width, height int) []string {
	one, ok := d.selected()
	if !ok || height < 3 {
		return nil
	}
	lines := []string{c.rule(line(one.Title), width)}
	for _, l := range wrap(line(one.Description), width-2) {
		lines = append(lines, " "+l)
	}
	if d.columns(width)[3] == 0 { // the price isn't in the row
		lines = append(lines, " "+c.faint.Render(cut(one.Price.String(), width-2)))
	}
	if fields, err := catalog.FieldsOf(one.InputSchema, one.ParametersSchema); err == nil {
		needs, takes := names(fields)
		lines = append(append(lines, ""), about(c, width, "needs", needs)...)
		lines = append(lines, about(c, width, "takes", takes)...)
	}
	return lines[:min(len(lines), height)]
}

// names returns the fields that must be given and those that may.
func names(fields []catalog.Field) (needs, takes []string) {
	for _, f := range fields {
		if name := line(f.Name); f.Required {
			needs = append(needs, strings.Join(append([]string{name}, f.Unless...), " or "))
		} else {
			takes = append(takes, name)
		}
	}
	return needs, takes
}

func about(c canvas, width int, word string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	var lines []string
	for i, l := range wrap(line(strings.Join(names, ", ")), width-9) {
		head := "      "
		if i == 0 {
			head = word + " "
		}
		lines = append(lines, " "+c.faint.Render(head)+" "+l)
	}
	return lines
}
