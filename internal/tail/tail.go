// Package tail remembers a node's latest answered requests and ended tasks while somebody follows them.
//
// A follower asks again and again for the events since the last time. Each node has a ring of its own; a cursor names the
// place in the ring of every node that has answered so far, so that a follower behind a load balancer gets all of them.
// Without a follower an event costs one atomic read.
package tail

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/api"
)

const (
	ringSize  = 8192
	restAfter = time.Minute // without a follower
	mostNodes = 32          // in a cursor
)

// Tail is a node's ring. Make one with New. It is safe for concurrent use.
type Tail struct {
	node string
	now  func() time.Time

	followed atomic.Int64 // when somebody asked last, in Unix nanoseconds; 0: events aren't remembered

	mu    sync.Mutex
	ring  []api.LogEvent
	first uint64 // the number of the event that was the ring's first
	added uint64 // the number of the next one; they go on after a rest
}

// New makes a ring, which nobody follows yet.
func New(now func() time.Time) *Tail { return &Tail{node: rand.Text()[:12], now: now} }

// Followed reports whether events are remembered, so that they are worth making.
func (t *Tail) Followed() bool {
	last := t.followed.Load()
	if last == 0 {
		return false
	}
	if t.now().Sub(time.Unix(0, last)) < restAfter {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.followed.CompareAndSwap(last, 0) {
		t.ring, t.first = nil, t.added
	}
	return false
}

// Add remembers an event while somebody follows.
func (t *Tail) Add(e api.LogEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.followed.Load() == 0:
		return
	case len(t.ring) < ringSize:
		t.ring = append(t.ring, e)
	default:
		t.ring[t.index(t.added)] = e
	}
	t.added++
}

// Since returns the events since the cursor's place, oldest first, and the cursor for the next call. Without a place of
// this node in the cursor it begins here: the page has no events. An error says that the cursor is none.
func (t *Tail) Since(cursor string) (api.LogPage, error) {
	places, err := parseCursor(cursor)
	if err != nil {
		return api.LogPage{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followed.Store(t.now().UnixNano())
	page := api.LogPage{Data: []api.LogEvent{}}
	from, known := places.of(t.node)
	if known && from <= t.added {
		oldest := t.added - uint64(len(t.ring))
		page.Missed = int64(max(from, oldest) - from)
		for at := max(from, oldest); at < t.added; at++ {
			page.Data = append(page.Data, t.ring[t.index(at)])
		}
	}
	page.Next = places.with(t.node, t.added).String()
	return page, nil
}

// index is where the event of a number is in the ring.
func (t *Tail) index(number uint64) int { return int((number - t.first) % ringSize) }

// place is how many events of a node a follower has seen.
type place struct {
	node string
	seen uint64
}

// places is a cursor, the node that answered last at its end.
type places []place

// parseCursor reads NODE:SEEN,NODE:SEEN…; "" is an empty one.
func parseCursor(text string) (all places, err error) {
	for one := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		node, number, ok := strings.Cut(one, ":")
		seen, err := strconv.ParseUint(number, 10, 64)
		if !ok || node == "" || len(node) > 32 || err != nil || len(all) >= mostNodes {
			return nil, fmt.Errorf("cursor %.40q is not one that was returned", text)
		}
		all = append(all, place{node, seen})
	}
	return all, nil
}

func (p places) of(node string) (seen uint64, known bool) {
	for _, one := range p {
		if one.node == node {
			return one.seen, true
		}
	}
	return 0, false
}

// with returns the places with a node's new one. Of too many the one that wasn't heard for the longest time goes.
func (p places) with(node string, seen uint64) places {
	out := places{}
	for _, one := range p {
		if one.node != node {
			out = append(out, one)
		}
	}
	out = append(out, place{node, seen})
	return out[max(0, len(out)-mostNodes):]
}

// String is the cursor as it is sent.
func (p places) String() string {
	var all []string
	for _, one := range p {
		all = append(all, one.node+":"+strconv.FormatUint(one.seen, 10))
	}
	return strings.Join(all, ",")
}
