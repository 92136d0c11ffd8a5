package main

import (
	"errors"
	"io"
	"strings"
)

// errReworded is a text that began again in other words after a pipe had taken the first ones.
var errReworded = errors.New("the text began again in other words: what stands on stdout is no part of it")

// textPrinter prints a text while it comes. A nil one is silent. It is used by one goroutine.
type textPrinter struct {
	t        *terminal
	begin    func(*textPrinter) // before the first piece: the line of the wait makes room
	heard    strings.Builder
	printed  strings.Builder
	wrap     wordWrap // of a terminal's lines
	reworded bool     // heard differs from the text that a pipe has
	err      error
}

// say takes the next piece and prints the new part.
func (s *textPrinter) say(piece string) {
	s.begin(s)
	s.heard.WriteString(piece)
	if !strings.HasPrefix(s.printed.String(), s.heard.String()) {
		s.catchUp(s.heard.String())
	}
}

// again takes the text from its beginning again. A terminal gets it anew on a line of its own, below the reason of the
// break; a pipe doesn't get printed text twice.
func (s *textPrinter) again() {
	s.heard.Reset()
	if s.t.outTTY {
		s.anew()
	}
}

// anew ends the line, below which the text begins again.
func (s *textPrinter) anew() {
	s.end()
	s.printed.Reset()
	s.wrap = wordWrap{}
}

// rest prints the missing part of the whole, and ends the line. If the printed text differs, a terminal gets the
// whole on a new line; a pipe can't take text back, which is an error.
func (s *textPrinter) rest(whole string) error {
	s.catchUp(whole)
	s.end()
	if s.reworded && s.err == nil {
		return errReworded
	}
	return s.err
}

// catchUp prints the text beyond its printed part.
func (s *textPrinter) catchUp(whole string) {
	rest, ok := strings.CutPrefix(whole, s.printed.String())
	switch {
	case s.reworded:
		return
	case !ok && !s.t.outTTY:
		s.reworded = true
		return
	case !ok:
		s.anew()
		rest = whole
	}
	s.printed.WriteString(rest)
	s.print(s.t.safe(rest))
}

// end ends the line, if one was started.
func (s *textPrinter) end() {
	if s != nil && s.printed.Len() > 0 && !strings.HasSuffix(s.printed.String(), "\n") {
		s.printed.WriteByte('\n')
		s.print("\n")
	}
}

func (s *textPrinter) print(text string) {
	if s.t.outTTY {
		s.wrap.width = s.t.width()
		text = s.wrap.take(text)
	}
	if s.err == nil {
		_, s.err = io.WriteString(s.t.out, text)
	}
}
