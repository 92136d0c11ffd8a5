package main

import (
	"io"
	"strings"
)

// thoughtPrinter prints a model's thoughts while they come, faintly, at a terminal. It is used by one goroutine.
type thoughtPrinter struct {
	t     *terminal
	begin func() // before the first piece: the line of the wait makes room
	last  string // the last piece; "" before the first one and after the end
}

// say prints the next piece.
func (p *thoughtPrinter) say(piece string) {
	if !p.t.errTTY || !p.t.outTTY {
		return
	}
	p.begin()
	p.last = piece
	for i, line := range strings.SplitAfter(printable(piece), "\n") {
		if text := strings.TrimSuffix(line, "\n"); text != "" || i == 0 {
			_, _ = io.WriteString(p.t.err, p.t.errStyle.faint.Render(text))
		}
		if strings.HasSuffix(line, "\n") {
			_, _ = io.WriteString(p.t.err, "\n")
		}
	}
}

// end ends their last line.
func (p *thoughtPrinter) end() {
	if p.last != "" && !strings.HasSuffix(p.last, "\n") {
		_, _ = io.WriteString(p.t.err, "\n")
	}
	p.last = ""
}
