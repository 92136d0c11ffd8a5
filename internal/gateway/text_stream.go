package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// mostPiece bounds one piece of text that a stream takes, in bytes.
const mostPiece = 16 << 10

// textStream is the text of one task as it comes, on the node that does the work. It is kept once however many read
// it, and each reads at its own pace: the worker never waits.
type textStream struct {
	id        string
	users     int                // streams and the worker; guarded by textStreams.mu
	stopRelay context.CancelFunc // nil without a relay; guarded by textStreams.mu

	mu    sync.Mutex
	text  []byte        // is only ever appended to, so a taken piece stays as it is
	taken int           // how much of it the furthest stream has
	over  bool          // no more text is appended or taken
	here  bool          // a worker of this node says it: no more is relayed
	more  chan struct{} // closed when there is more; nil without a waiter
}

// append appends a piece of the text.
func (v *textStream) append(piece string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.appendLocked(piece)
}

// relayed appends a piece that another node's worker said, until one of this node takes the task over.
func (v *textStream) relayed(piece string) {
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

func (v *textStream) appendLocked(piece string) {
	if v.over || piece == "" {
		return
	}
	v.text = append(v.text, piece...)
	if v.more != nil {
		close(v.more)
		v.more = nil
	}
}

// started reports whether anything was said.
func (v *textStream) started() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.text) > 0
}

// lacks reports whether nothing was said, and no worker of this node says it.
func (v *textStream) lacks() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.text) == 0 && !v.here
}

// next returns the text after the first from bytes, mostPiece at most.
func (v *textStream) next(from int) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if from >= len(v.text) {
		return ""
	}
	piece := cut(string(v.text[from:min(len(v.text), from+mostPiece+1)]))
	v.taken = max(v.taken, from+len(piece))
	return piece
}

// changedAfter returns a channel that is closed once there is more than from bytes.
func (v *textStream) changedAfter(from int) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if from < len(v.text) {
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

// isPrefixOf reports whether the first n bytes of the text are those of the whole.
func (v *textStream) isPrefixOf(whole string, n int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return n <= len(whole) && n <= len(v.text) && string(v.text[:n]) == whole[:n]
}

// stop cuts the text at the furthest taken byte, and returns its length.
func (v *textStream) stop() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text, v.over = v.text[:v.taken], true
	return v.taken
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

// textStreams are the texts that somebody follows, by task.
type textStreams struct {
	open atomic.Int64 // how many there are, for those who only ask whether there is any
	mu   sync.Mutex
	byID map[string]*textStream
}

// follow returns the task's text for one more stream.
func (l *textStreams) follow(id string) *textStream {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.byID[id]
	if !ok {
		v = l.addLocked(id)
	}
	v.users++
	return v
}

// renew returns a text for the first stream of a task that begins, or begins again.
func (l *textStreams) renew(id string) *textStream {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.byID[id]; ok {
		l.open.Add(-1) // those who follow the earlier try keep its text among themselves
	}
	v := l.addLocked(id)
	v.users++
	return v
}

func (l *textStreams) addLocked(id string) *textStream {
	if l.byID == nil {
		l.byID = map[string]*textStream{}
	}
	v := &textStream{id: id}
	l.byID[id] = v
	l.open.Add(1)
	return v
}

// forWorker returns the text for the worker to append to, nil if no stream follows the task.
func (l *textStreams) forWorker(id string) *textStream {
	if l.open.Load() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.byID[id]
	if v != nil {
		v.users++
		v.workedOn()
	}
	return v
}

// lacks reports whether nothing of a text was said here yet, and no relay of it is under way.
func (l *textStreams) lacks(v *textStream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return v.stopRelay == nil && v.lacks()
}

// relay begins to relay a text that this node lacks. read appends it until ctx ends, with the last use of the text at
// the latest.
func (l *textStreams) relay(ctx context.Context, v *textStream, read func(ctx context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v.users == 0 || v.stopRelay != nil || !v.lacks() {
		return
	}
	ctx, v.stopRelay = context.WithCancel(ctx)
	read(ctx)
}

// unrelayed notes that a relay has ended. One that got no text may be tried again.
func (l *textStreams) unrelayed(v *textStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.stopRelay()
	if !v.started() {
		v.stopRelay = nil
	}
}

// leave gives up one use; the last one forgets the text.
func (l *textStreams) leave(v *textStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.users--
	if v.users == 0 && v.stopRelay != nil {
		v.stopRelay()
	}
	if v.users == 0 && l.byID[v.id] == v {
		delete(l.byID, v.id)
		l.open.Add(-1)
	}
}
