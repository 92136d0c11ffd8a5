package upstream

import (
	"errors"
	"io"
	"iter"

	"unitask/internal/sse"
)

// Event is one server-sent event.
type Event = sse.Event

// Events reads a stream of server-sent events until r ends. Its errors are r's own, or that of an event of over most
// bytes (0: a mebibyte), an Unusable; no event follows an error. An event that the end of the stream cuts short of its
// blank line is delivered: some servers send no last line break.
func Events(r io.Reader, most int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range sse.Read(r, most) {
			if errors.Is(err, sse.ErrTooLong) {
				err = Unusable(0, errTooLarge)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
