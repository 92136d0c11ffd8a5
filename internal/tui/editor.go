package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// editor is a text being written. It counts in grapheme clusters, so that the cursor never stands
// inside an emoji or between a letter and its accent.
type editor struct {
	clusters []string // a line end is one
	at       int      // the cluster that the cursor stands before
	lines    bool     // takes line ends
}

func (e *editor) value() string { return strings.Join(e.clusters, "") }

func (e *editor) empty() bool { return len(e.clusters) == 0 }

// insert writes at the cursor. Clusters are found anew: typed characters may join those before.
func (e *editor) insert(s string) {
	if s = text(s); !e.lines {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	before := strings.Join(e.clusters[:e.at], "") + s
	e.clusters = split(before + strings.Join(e.clusters[e.at:], ""))
	e.at = 0
	for n := 0; e.at < len(e.clusters) && n < len(before); e.at++ {
		n += len(e.clusters[e.at])
	}
}

func split(s string) []string {
	var clusters []string
	for s != "" {
		c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if c == "" {
			c = s
		}
		clusters, s = append(clusters, c), s[len(c):]
	}
	return clusters
}

// key takes a key that means something here and reports whether it did. The width is the one that
// the editor is drawn with.
func (e *editor) key(msg tea.KeyMsg, width int) bool {
	switch msg.String() {
	case "left", "ctrl+b":
		e.at = max(0, e.at-1)
	case "right", "ctrl+f":
		e.at = min(len(e.clusters), e.at+1)
	case "ctrl+left", "alt+left", "alt+b":
		e.at = e.wordLeft()
	case "ctrl+right", "alt+right", "alt+f":
		e.at = e.wordRight()
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "up":
		return e.vertical(-1, width)
	case "down":
		return e.vertical(1, width)
	case "backspace", "ctrl+h":
		e.remove(e.at-1, e.at)
	case "delete", "ctrl+d":
		e.remove(e.at, e.at+1)
	case "ctrl+w", "alt+backspace":
		e.remove(e.wordLeft(), e.at)
	case "ctrl+u":
		e.remove(e.lineStart(), e.at)
	case "ctrl+k":
		e.remove(e.at, e.lineEnd())
	case "enter", "ctrl+j", "alt+enter":
		if !e.lines {
			return false
		}
		e.insert("\n")
	default:
		return e.typed(msg)
	}
	return true
}

func (e *editor) typed(msg tea.KeyMsg) bool {
	if msg.Alt || msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace {
		return false
	}
	s := string(msg.Runes)
	if msg.Paste {
		s = strings.ReplaceAll(s, "\r", "\n") // how terminals send the line ends of a paste
	}
	e.insert(s)
	return true
}

func (e *editor) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.clusters))
	e.clusters = slices.Delete(e.clusters, from, max(from, to))
	e.at = min(e.at, from)
}

func (e *editor) wordLeft() int {
	at := e.at
	for at > 0 && space(e.clusters[at-1]) {
		at--
	}
	for at > 0 && !space(e.clusters[at-1]) {
		at--
	}
	return at
}

func (e *editor) wordRight() int {
	at := e.at
	for at < len(e.clusters) && space(e.clusters[at]) {
		at++
	}
	for at < len(e.clusters) && !space(e.clusters[at]) {
		at++
	}
	return at
}

func (e *editor) lineStart() int {
	at := e.at
	for at > 0 && e.clusters[at-1] != "\n" {
		at--
	}
	return at
}

func (e *editor) lineEnd() int {
	at := e.at
	for at < len(e.clusters) && e.clusters[at] != "\n" {
		at++
	}
	return at
}

func space(cluster string) bool { return cluster == " " || cluster == "\n" }

// vertical moves the cursor to the row above or below; at the edge it doesn't and reports false.
func (e *editor) vertical(step, width int) bool {
	rows := e.rows(width)
	row := e.rowOf(rows)
	if row+step < 0 || row+step >= len(rows) {
		return false
	}
	column := cells(strings.Join(e.clusters[rows[row].from:e.at], ""))
	to := rows[row+step]
	last := to.to
	if row+step+1 < len(rows) && rows[row+step+1].from == to.to {
		last-- // the row goes on in the next one, which draws its end
	}
	e.at = to.from
	for used := 0; e.at < last; e.at++ {
		if used += cells(e.clusters[e.at]); used > column {
			break
		}
	}
	return true
}

// span is a row: clusters from up to, without the line end.
type span struct{ from, to int }

// rows breaks the text into rows that leave a column for the cursor.
func (e *editor) rows(width int) []span {
	width = max(width-1, 2)
	var rows []span
	from, column, space := 0, 0, -1
	for i, c := range e.clusters {
		if c == "\n" {
			rows = append(rows, span{from, i})
			from, column, space = i+1, 0, -1
			continue
		}
		w := cells(c)
		for column+w > width && i > from {
			to := i
			if space >= from && c != " " {
				to = space + 1
			}
			rows = append(rows, span{from, to})
			from, space = to, -1
			column = cells(strings.Join(e.clusters[from:i], ""))
		}
		if c == " " {
			space = i
		}
		column += w
	}
	return append(rows, span{from, len(e.clusters)})
}

// rowOf is the row that the cursor stands in.
func (e *editor) rowOf(rows []span) int {
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i].from <= e.at {
			return i
		}
	}
	return 0
}

// render draws at most height rows, those around the cursor.
func (e *editor) render(width, height int, focused bool, s Style) []string {
	rows := e.rows(width)
	row := e.rowOf(rows)
	if !focused {
		row = 0
	}
	first := min(max(0, row-height+1), max(0, len(rows)-height))
	var lines []string
	for i := first; i < min(first+height, len(rows)); i++ {
		drawn := strings.Join(e.clusters[rows[i].from:rows[i].to], "")
		if focused && i == row {
			drawn = e.withCursor(rows[i], s)
		}
		lines = append(lines, drawn)
	}
	if rest := len(rows) - first - len(lines); rest > 0 && !focused {
		lines[len(lines)-1] = cut(lines[len(lines)-1], width-2) + " …"
	}
	return lines
}

func (e *editor) withCursor(row span, s Style) string {
	under, after := " ", ""
	if e.at < row.to {
		under, after = e.clusters[e.at], strings.Join(e.clusters[e.at+1:row.to], "")
	}
	return strings.Join(e.clusters[row.from:e.at], "") + s.cursor.Render(under) + after
}
