package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"unitask/internal/shown"
)

// cell is one value: as a person reads it, and as a program does.
type cell struct {
	human, plain string
	style        lipgloss.Style
}

// same is a cell that both read alike.
func same(text string) cell { return cell{human: text, plain: text} }

// table is aligned columns with a header on a terminal, and tab-separated values without one
// elsewhere.
type table struct {
	header []string
	rows   [][]cell
	spare  []string // headers of columns that a narrow terminal loses, the first one first
	last   string   // that of the column that goes if the others can't be made short enough; "" for no column
}

func (b *table) row(cells ...cell) { b.rows = append(b.rows, cells) }

func (b *table) write(t *terminal) error {
	switch {
	case t.format == formatCSV:
		return b.writeCSV(t)
	case !t.outTTY && t.format != formatTable:
		return b.writeTSV(t.out)
	}
	if b.spare != nil {
		b.fit(t.width())
	}
	widths := b.widths()
	lines := []string{b.line(widths, func(i int) (string, lipgloss.Style) { return b.header[i], t.style.faint })}
	for _, r := range b.rows {
		lines = append(lines, b.line(widths, func(i int) (string, lipgloss.Style) { return oneLine(r[i].human), r[i].style }))
	}
	_, err := fmt.Fprintln(t.out, strings.Join(lines, "\n"))
	return err
}

func (b *table) widths() []int {
	widths := make([]int, len(b.header))
	for i, h := range b.header {
		widths[i] = lipgloss.Width(h)
		for _, r := range b.rows {
			widths[i] = max(widths[i], lipgloss.Width(oneLine(r[i].human)))
		}
	}
	return widths
}

// fit makes the lines at most width wide: it drops the spare columns, those without a value first, then shortens from
// left to right those after the first, which holds the copied id. If that isn't enough, the last column to be spared goes too.
func (b *table) fit(width int) {
	over := func(widths []int) int {
		total := 2 * (len(widths) - 1)
		for _, w := range widths {
			total += w
		}
		return total - width
	}
	spare := slices.Clone(b.spare)
	slices.SortStableFunc(spare, func(x, y string) int { return cmp.Compare(b.values(x), b.values(y)) })
	for _, name := range spare {
		if over(b.widths()) <= 0 {
			return
		}
		b.drop(name)
	}
	const least = 6 // characters of a shortened cell that still say something
	shortened := func() []int {
		widths := b.widths()
		for i := 1; i < len(widths) && over(widths) > 0; i++ {
			widths[i] = max(min(least, widths[i]), widths[i]-over(widths))
		}
		return widths
	}
	widths := shortened()
	if over(widths) > 0 && b.last != "" {
		b.drop(b.last)
		widths = shortened()
	}
	for _, r := range b.rows {
		for i := range r {
			r[i].human = ansi.Truncate(oneLine(r[i].human), widths[i], "…")
		}
	}
}

// values is 0 for a column whose cells are all empty or dashes, else 1.
func (b *table) values(name string) int {
	at := slices.Index(b.header, name)
	for _, r := range b.rows {
		if strings.Trim(r[at].human, "-–") != "" {
			return 1
		}
	}
	return 0
}

// drop removes a column.
func (b *table) drop(name string) {
	at := slices.Index(b.header, name)
	b.header = slices.Delete(b.header, at, at+1)
	for i := range b.rows {
		b.rows[i] = slices.Delete(b.rows[i], at, at+1)
	}
}

func (b *table) line(widths []int, at func(int) (string, lipgloss.Style)) string {
	var line strings.Builder
	for i, width := range widths {
		text, style := at(i)
		line.WriteString(style.Render(text))
		if i < len(widths)-1 {
			line.WriteString(strings.Repeat(" ", width-lipgloss.Width(text)+2))
		}
	}
	return line.String()
}

func (b *table) writeTSV(w io.Writer) error {
	for _, r := range b.rows {
		fields := make([]string, len(r))
		for i, c := range r {
			fields[i] = oneLine(c.plain)
		}
		if _, err := fmt.Fprintln(w, strings.Join(fields, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// oneLine keeps a value in its cell.
func oneLine(text string) string {
	return printable(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }), " "))
}

func addJSON(cmd *cobra.Command, into *bool) {
	cmd.Flags().BoolVar(into, "json", false, "print JSON")
}

// json prints a value, or --jq's selection from it.
func (t *terminal) json(v any) error {
	if t.filter != nil {
		return t.filter.run(t, v)
	}
	return t.encode(v)
}

// encode writes JSON: on a terminal indented, with control characters as \u escapes; for a program in one line.
func (t *terminal) encode(v any) error {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if t.outTTY && t.format != formatJSONL {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return err
	}
	text := raw.Bytes()
	switch t.format {
	case formatJSONL:
		return t.lines(text)
	case formatYAML:
		return t.yaml(text)
	}
	if t.outTTY {
		text = t.style.json(shown.JSON(text))
	}
	_, err := t.out.Write(text)
	return err
}
