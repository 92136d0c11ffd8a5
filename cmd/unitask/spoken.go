package main

import (
	"io"
	"strings"
)

// spoken prints a text on a terminal while it comes. A nil one prints nothing. It is used by one
// goroutine.
type spoken struct {
	t     *terminal
	begin func() // before the first piece: the line of the wait makes room
	text  strings.Builder
	err   error
}

// say prints the next piece.
func (s *spoken) say(piece string) {
	s.begin()
	s.text.WriteString(piece)
	s.print(s.t.safe(piece))
}

// again begins a new line for a text that comes from its beginning again.
func (s *spoken) again() {
	if s != nil {
		s.end()
		s.text.Reset()
	}
}

// rest prints what was not said of the whole, or all of it where something else was said, and ends the
// line.
func (s *spoken) rest(whole string) error {
	rest, ok := strings.CutPrefix(whole, s.text.String())
	if !ok {
		s.again()
		rest = whole
	}
	s.text.WriteString(rest)
	s.print(s.t.safe(rest))
	s.end()
	return s.err
}

// end ends the line, if one was begun.
func (s *spoken) end() {
	if s != nil && s.text.Len() > 0 && !strings.HasSuffix(s.text.String(), "\n") {
		s.text.WriteByte('\n')
		s.print("\n")
	}
}

func (s *spoken) print(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.t.out, text)
	}
}
