package server

import (
	"context"
	"maps"
	"net/netip"
	"sync"
	"time"
)

const (
	refusedClientsMost = 4096        // addresses that are remembered
	refusedPause       = time.Second // before an answer to an address that has had too many
	pausesMost         = 256         // at once; the answers beyond go out without
)

// refusedClients slows down who is refused again and again. Each address may have some refusals a minute; the answers
// beyond that are held back for a while. They stay the same answer, and a good key is never held back: whoever
// shares an address with somebody who guesses keys isn't shut out.
type refusedClients struct {
	perMinute int // 0: no limit
	now       func() time.Time

	mu     sync.Mutex
	by     map[netip.Prefix]refusals
	paused int
}

// refusals is the number that an address has left.
type refusals struct {
	left float64
	at   time.Time
}

func newRefusedClients(perMinute int, now func() time.Time) *refusedClients {
	return &refusedClients{perMinute: perMinute, now: now, by: map[netip.Prefix]refusals{}}
}

// refused counts a refusal, and waits if the address has had too many.
func (s *refusedClients) refused(ctx context.Context, a netip.Addr) {
	if s.perMinute <= 0 || s.count(block(a)) {
		return
	}
	defer func() {
		s.mu.Lock()
		s.paused--
		s.mu.Unlock()
	}()
	pause := time.NewTimer(refusedPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// count takes one of an address's refusals, and reports whether the answer goes out at once.
func (s *refusedClients) count(from netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, most := s.now(), float64(s.perMinute)
	r, known := s.by[from]
	if !known {
		s.makeRoomLocked(now)
		r = refusals{most, now}
	}
	r.left = min(most, r.left+now.Sub(r.at).Minutes()*most)
	r.at = now
	at := r.left >= 1
	if at {
		r.left--
	}
	s.by[from] = r
	if at || s.paused == pausesMost {
		return true
	}
	s.paused++
	return false
}

// makeRoomLocked forgets addresses that have all their refusals again, and, without any of these, an arbitrary one.
func (s *refusedClients) makeRoomLocked(now time.Time) {
	if len(s.by) < refusedClientsMost {
		return
	}
	maps.DeleteFunc(s.by, func(_ netip.Prefix, r refusals) bool { return now.Sub(r.at) >= time.Minute })
	for from := range s.by {
		if len(s.by) < refusedClientsMost {
			return
		}
		delete(s.by, from)
	}
}
