package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"
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
}

func (b *table) row(cells ...cell) { b.rows = append(b.rows, cells) }

func (b *table) write(t *terminal) error {
	if !t.outTTY {
		return b.writeTSV(t.out)
	}
	widths := make([]int, len(b.header))
	for i, h := range b.header {
		widths[i] = lipgloss.Width(h)
		for _, r := range b.rows {
			widths[i] = max(widths[i], lipgloss.Width(oneLine(r[i].human)))
		}
	}
	lines := []string{b.line(widths, func(i int) (string, lipgloss.Style) { return b.header[i], t.style.faint })}
	for _, r := range b.rows {
		lines = append(lines, b.line(widths, func(i int) (string, lipgloss.Style) { return oneLine(r[i].human), r[i].style }))
	}
	_, err := fmt.Fprintln(t.out, strings.Join(lines, "\n"))
	return err
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

// json prints a value: indented for a person, in one line for a program.
func (t *terminal) json(v any) error {
	e := json.NewEncoder(t.out)
	e.SetEscapeHTML(false)
	if t.outTTY {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}
