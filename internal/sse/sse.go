// Package sse reads and writes streams of server-sent events, as HTML's standard describes them.
//
// It knows an event's name and data; ids and reconnection times are passed over. Read returns the events that Append
// wrote.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
)

// ContentType is the media type of a stream.
const ContentType = "text/event-stream"

// maxEvent bounds one event that is read, in bytes.
const maxEvent = 1 << 20

// ErrTooLong ends a stream with an event of over a mebibyte.
var ErrTooLong = errors.New("an event of the stream is too long")

// Event is one server-sent event.
type Event struct {
	Name string // "" if the stream names no type
	Data string // lines joined by "\n"
}

// Append appends an event to b. The name has no line end; the data may have.
func Append(b []byte, name string, data []byte) []byte {
	b = append(b, "event: "...)
	b = append(b, name...)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b = append(b, "\ndata: "...)
		b = append(b, line...)
	}
	return append(b, "\n\n"...)
}

// Beat is a comment, which shows that the stream is alive and that readers pass over.
const Beat = ":\n\n"

// Read reads a stream until r ends. Its errors are r's own and ErrTooLong for an event of more than most bytes (0: a
// mebibyte); no event follows an error. An event that the end of the stream cuts short of its blank line is
// delivered: some servers send no last line break.
func Read(r io.Reader, most int) iter.Seq2[Event, error] {
	if most <= 0 {
		most = maxEvent
	}
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, most)
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
				if e.size > most {
					yield(Event{}, ErrTooLong)
					return
				}
			}
		}
		if err := lines.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = ErrTooLong
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
