package recording

import (
	"strings"

	"github.com/charmbracelet/x/cellbuf"
)

// span is neighbouring letters of one row that look alike.
type span struct {
	x, width int // in cells
	text     string
	look
}

// look is how letters look.
type look struct {
	colour                           string
	bold, italic, underlined, struck bool
}

// box is a part of neighbouring cells that is filled by one colour.
type box struct {
	x, width    int // in pixels
	top, height int // in pixels, from the row's top
	colour      string
}

// row is one row of a screen as it is drawn: boxes, and the letters over them.
type row struct {
	boxes []box
	spans []span
}

// rows returns the rows of a screen, with the cursor as a reversed cell.
func (r *Recording) rows(s Screen) []row {
	grid := r.grid(s)
	if c := grid.Cell(s.X, s.Y); c != nil && s.Pointer {
		at := c.Clone()
		at.Style.Reverse(!at.Style.Attrs.Contains(cellbuf.ReverseAttr))
		grid.SetCell(s.X, s.Y, at)
	}
	out := make([]row, r.Height)
	for y := range out {
		for x := range r.Width {
			if c := grid.Cell(x, y); c != nil && c.Width > 0 {
				out[y].put(x, *c)
			}
		}
		for i := range out[y].spans {
			out[y].spans[i].trim()
		}
	}
	return out
}

// put draws a cell at the end of the row. Blocks and lines are boxes, for letters leave gaps between rows.
func (w *row) put(x int, c cellbuf.Cell) {
	const half = cellHeight / 2
	fg, bg := colours(c.Style)
	left, width := x*cellWidth, c.Width*cellWidth
	switch c.Rune {
	case '▀':
		w.fill(box{left, width, 0, half, fg})
		w.fill(box{left, width, half, half, bg})
	case '▄':
		w.fill(box{left, width, 0, half, bg})
		w.fill(box{left, width, half, half, fg})
	case '█':
		w.fill(box{left, width, 0, cellHeight, fg})
	case '─':
		w.fill(box{left, width, 0, cellHeight, bg})
		w.fill(box{left, width, half, 1, fg})
	case '│':
		w.fill(box{left, width, 0, cellHeight, bg})
		w.fill(box{left + cellWidth/2, 1, 0, cellHeight, fg})
	default:
		w.fill(box{left, width, 0, cellHeight, bg})
		w.write(x, c, fg)
	}
}

// fill adds a box, or widens one that it continues. The window's own colour is there already.
func (w *row) fill(b box) {
	if b.colour == background {
		return
	}
	for i := len(w.boxes) - 1; i >= max(0, len(w.boxes)-2); i-- {
		last := &w.boxes[i]
		if last.colour == b.colour && last.top == b.top && last.height == b.height && last.x+last.width == b.x {
			last.width += b.width
			return
		}
	}
	w.boxes = append(w.boxes, b)
}

// write adds a cell's letters. A space that no line goes through looks the same in any colour, so it goes with the span
// before it. Two spaces end a span: letters keep their columns with fonts of another width.
func (w *row) write(x int, c cellbuf.Cell, colour string) {
	as := look{
		colour: colour, bold: c.Style.Attrs.Contains(cellbuf.BoldAttr), italic: c.Style.Attrs.Contains(cellbuf.ItalicAttr),
		underlined: c.Style.UlStyle != cellbuf.NoUnderline, struck: c.Style.Attrs.Contains(cellbuf.StrikethroughAttr),
	}
	plain := c.Rune == ' ' && !as.underlined && !as.struck
	n := len(w.spans)
	if n > 0 {
		last := &w.spans[n-1]
		joined := last.x+last.width == x && (plain || !strings.HasSuffix(last.text, "  "))
		if joined && (last.look == as || plain && !last.underlined && !last.struck) {
			last.text += c.String()
			last.width += c.Width
			return
		}
	}
	if !plain {
		w.spans = append(w.spans, span{x, c.Width, c.String(), as})
	}
}

// trim removes spaces at the end.
func (s *span) trim() {
	if s.underlined || s.struck {
		return
	}
	text := strings.TrimRight(s.text, " ")
	s.width -= len(s.text) - len(text)
	s.text = text
}
