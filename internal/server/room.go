package server

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// room is a semaphore over bytes: over all that requests hold and over those of one key. Claims are granted in the
// order of arrival; one whose own key has no room lets others pass.
type room struct {
	whole, each int64 // bounds; a claim that is alone may be larger

	mu      sync.Mutex
	taken   int64
	by      map[string]int64
	waiting []*claim
}

// claim is bytes that a request waits for.
type claim struct {
	key   string
	bytes int64
	ready chan struct{} // closed once they are granted
}

// The errors of room.take: there was no room in time.
var (
	errKeyFull   = errors.New("server: one key has all that it may have of the room")
	errWholeFull = errors.New("server: there is no room")
)

func newRoom(whole, each int64) *room {
	return &room{whole: whole, each: each, by: map[string]int64{}}
}

// take waits for room for so many bytes; once ctx ends it returns errKeyFull or errWholeFull.
func (r *room) take(ctx context.Context, key string, bytes int64) error {
	c := &claim{key: key, bytes: bytes, ready: make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, c)
	r.grantLocked()
	r.mu.Unlock()
	select {
	case <-c.ready:
		return nil
	default:
	}
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return r.withdraw(c)
	}
}

// withdraw takes back a claim, unless it was granted by now.
func (r *room) withdraw(c *claim) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.waiting, c)
	if at < 0 {
		return nil
	}
	r.waiting = slices.Delete(r.waiting, at, at+1)
	r.grantLocked() // a large claim kept smaller ones behind it
	if !r.ownLocked(c) {
		return errKeyFull
	}
	return errWholeFull
}

// give returns bytes that were taken.
func (r *room) give(key string, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken -= bytes
	if r.by[key] -= bytes; r.by[key] == 0 {
		delete(r.by, key)
	}
	r.grantLocked()
}

// grantLocked grants the claims that there is room for. The first one that fits its key but not the whole ends it.
func (r *room) grantLocked() {
	full := false
	r.waiting = slices.DeleteFunc(r.waiting, func(c *claim) bool {
		if full || !r.ownLocked(c) {
			return false
		}
		if full = r.taken > 0 && r.taken+c.bytes > r.whole; full {
			return false
		}
		r.taken += c.bytes
		r.by[c.key] += c.bytes
		close(c.ready)
		return true
	})
}

// ownLocked reports whether a claim's key has room for it.
func (r *room) ownLocked(c *claim) bool {
	own := r.by[c.key]
	return own == 0 || own+c.bytes <= r.each
}
