package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
)

// maxEventBytes bounds one event of a stream.
const maxEventBytes = 1 << 20

// Event is one server-sent event.
type Event struct {
	Name string // "" where the stream names none
	Data string // lines joined by "\n"
}

// Events reads a stream of server-sent events until r ends. Its errors are r's own, or that of an
// event of over a mebibyte, an Unusable; none follows an error. An event that the end of the stream
// cuts short of its blank line is delivered: some servers send no last line break.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxEventBytes)
		var e pending
		for first := true; lines.Scan(); first = false {
			text := lines.Bytes()
			if first {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			for line := range strings.SplitSeq(string(text), "\r") { // a lone CR ends a line too
				if done, ok := e.line(line); ok && !yield(done, nil) {
					return
				}
				if e.size > maxEventBytes {
					yield(Event{}, Unusable(0, errTooLarge))
					return
				}
			}
		}
		if err := lines.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = Unusable(0, errTooLarge)
			}
			yield(Event{}, err)
			return
		}
		if done, ok := e.line(""); ok {
			yield(done, nil)
		}
	}
}

// pending is an event whose blank line hasn't come yet.
type pending struct {
	name string
	data []string
	size int
}

// line takes one line; ok says that it ended an event that has data.
func (p *pending) line(line string) (e Event, ok bool) {
	if line == "" {
		e, ok = Event{Name: p.name, Data: strings.Join(p.data, "\n")}, len(p.data) > 0
		*p = pending{}
		return e, ok
	}
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	p.size += len(line)
	switch field {
	case "event":
		p.name = value
	case "data":
		p.data = append(p.data, value)
	}
	return Event{}, false
}
