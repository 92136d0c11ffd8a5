// Package room shares a bounded number of bytes, or of other counted things, among many requests or tasks and among
// their keys. It holds no memory itself, and each taker gives its share back.
package room

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Room is a semaphore over bytes: over all that requests hold and over those of one key. Claims are granted in the
// order of arrival; one whose own key has no room lets others pass, and so do those of a key that had its turn.
type Room struct {
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

// The errors of Room.Take: there was no room in time.
var (
	ErrKeyFull   = errors.New("room: one key has all that it may have of the room")
	ErrWholeFull = errors.New("room: there is no room")
)

// New returns a Room of so many bytes, of which one key has each.
func New(whole, each int64) *Room {
	return &Room{whole: whole, each: each, by: map[string]int64{}}
}

// Take waits for room for so many bytes; once ctx ends it returns ErrKeyFull or ErrWholeFull.
func (r *Room) Take(ctx context.Context, key string, bytes int64) error {
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

// Try takes room for so many bytes if there is some at once.
func (r *Room) Try(key string, bytes int64) bool {
	c := claim{key: key, bytes: bytes}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.waiting, r.ownLocked) || !r.ownLocked(&c) || !r.wholeLocked(&c) {
		return false
	}
	r.takeLocked(&c)
	return true
}

// Waiting returns how many claims wait, and how many of them are the key's.
func (r *Room) Waiting(key string) (all, own int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.waiting {
		if c.key == key {
			own++
		}
	}
	return len(r.waiting), own
}

// withdraw takes back a claim, unless it was granted by now.
func (r *Room) withdraw(c *claim) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.waiting, c)
	if at < 0 {
		return nil
	}
	r.waiting = slices.Delete(r.waiting, at, at+1)
	r.grantLocked() // a large claim kept smaller ones behind it
	if !r.ownLocked(c) {
		return ErrKeyFull
	}
	return ErrWholeFull
}

// Give returns bytes that were taken.
func (r *Room) Give(key string, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken -= bytes
	if r.by[key] -= bytes; r.by[key] == 0 {
		delete(r.by, key)
	}
	if key != "" && len(r.waiting) > 1 {
		r.waiting = othersFirst(r.waiting, key)
	}
	r.grantLocked()
}

// othersFirst puts a key's claims behind those of all others: it may fill the whole, and always have one more.
func othersFirst(waiting []*claim, key string) []*claim {
	ordered := make([]*claim, 0, len(waiting))
	for _, own := range []bool{false, true} {
		for _, c := range waiting {
			if (c.key == key) == own {
				ordered = append(ordered, c)
			}
		}
	}
	return ordered
}

// grantLocked grants the claims that there is room for. The first one that fits its key but not the whole ends it.
func (r *Room) grantLocked() {
	full := false
	r.waiting = slices.DeleteFunc(r.waiting, func(c *claim) bool {
		if full || !r.ownLocked(c) {
			return false
		}
		if full = !r.wholeLocked(c); full {
			return false
		}
		r.takeLocked(c)
		close(c.ready)
		return true
	})
}

func (r *Room) takeLocked(c *claim) {
	r.taken += c.bytes
	r.by[c.key] += c.bytes
}

// wholeLocked reports whether there is room for a claim, whatever its key has.
func (r *Room) wholeLocked(c *claim) bool { return r.taken == 0 || r.taken+c.bytes <= r.whole }

// ownLocked reports whether a claim's key has room for it.
func (r *Room) ownLocked(c *claim) bool {
	own := r.by[c.key]
	return own == 0 || own+c.bytes <= r.each
}
