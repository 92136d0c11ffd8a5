package gateway

import (
	"context"
	"sync"
	"unicode/utf8"

	"unitask/internal/api"
)

// mostPiece bounds one piece of text that a stream takes, in bytes.
const mostPiece = 16 << 10

// textStream is the text of one task as it comes, on the node that does the work, and the pieces of thoughts and tool
// calls between. It is kept once however many read it, and each reads at its own pace: the worker never waits.
type textStream struct {
	id        string
	users     int                // streams and the worker; guarded by textStreams.mu
	stopRelay context.CancelFunc // nil without a relay; guarded by textStreams.mu

	mu    sync.Mutex
	text  []byte        // is only ever appended to, so a taken piece stays as it is
	marks []mark        // in order; only ever appended to
	taken place         // how far the furthest stream is
	over  bool          // no more text is appended or taken
	here  bool          // a worker of this node says it: no more is relayed
	more  chan struct{} // closed when there is more; nil without a waiter
}

// mark is a piece that is no text, and how many bytes of text come before it.
type mark struct {
	after int
	piece api.Delta
}

// place is how far a stream has been read.
type place struct{ bytes, marks int }

// append appends a piece.
func (v *textStream) append(piece api.Delta) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.appendLocked(piece)
}

// relayed appends a piece that another node's worker said, until one of this node takes the task over.
func (v *textStream) relayed(piece api.Delta) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.here {
		v.appendLocked(piece)
	}
}

// workedOn notes that a worker of this node says the text from now on.
func (v *textStream) workedOn() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.here = true
}

func (v *textStream) appendLocked(piece api.Delta) {
	switch {
	case v.over || piece == api.Delta{}:
		return
	case piece.Text != "":
		v.text = append(v.text, piece.Text...)
	default:
		v.marks = append(v.marks, mark{len(v.text), piece})
	}
	if v.more != nil {
		close(v.more)
		v.more = nil
	}
}

// started reports whether anything was said.
func (v *textStream) started() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.text)+len(v.marks) > 0
}

// lacks reports whether nothing was said, and no worker of this node says it.
func (v *textStream) lacks() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.text)+len(v.marks) == 0 && !v.here
}

// next returns the piece at a place, of mostPiece bytes of text at most, and the place behind it; an empty piece if
// there is none yet.
func (v *textStream) next(from place) (api.Delta, place) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var piece api.Delta
	end := len(v.text)
	if from.marks < len(v.marks) {
		end = v.marks[from.marks].after
	}
	switch {
	case from.bytes < end:
		piece.Text = cut(string(v.text[from.bytes:min(end, from.bytes+mostPiece+1)]))
		from.bytes += len(piece.Text)
	case from.marks < len(v.marks):
		piece = v.marks[from.marks].piece
		from.marks++
	}
	v.taken = place{max(v.taken.bytes, from.bytes), max(v.taken.marks, from.marks)}
	return piece, from
}

// changedAfter returns a channel that is closed once there is more than at a place.
func (v *textStream) changedAfter(from place) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if from.bytes < len(v.text) || from.marks < len(v.marks) {
		return closedChan
	}
	if v.more == nil {
		v.more = make(chan struct{})
	}
	return v.more
}

// closedChan is an already closed channel.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// stop cuts the stream at the furthest taken place, and returns how many bytes of words it has.
func (v *textStream) stop() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text, v.marks, v.over = v.text[:v.taken.bytes], v.marks[:v.taken.marks], true
	n := len(v.text)
	for _, m := range v.marks {
		n += len(m.piece.Reasoning)
		if c := m.piece.ToolCall; c != nil {
			n += len(c.Arguments)
		}
	}
	return n
}

// cut shortens a text to mostPiece bytes, at the end of a character.
func cut(text string) string {
	if len(text) <= mostPiece {
		return text
	}
	end := mostPiece
	for end > mostPiece-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
