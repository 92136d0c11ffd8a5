package gateway

import (
	"context"
	"sync"
	"sync/atomic"
)

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
