package routing

import (
	"sync"
	"time"

	"unitask/internal/fault"
)

// maxPause bounds what a supplier's Retry-After can do to a route.
const maxPause = 10 * time.Minute

// Health remembers which routes to leave alone for a while. It is safe for concurrent use; a nil
// Health knows of none.
type Health struct {
	now func() time.Time

	mu       sync.Mutex
	paused   map[string]pause
	failures map[string]int // in a row
}

type pause struct {
	until  time.Time
	code   fault.Code
	reason string
}

// NewHealth returns a Health without pauses. now nil: time.Now.
func NewHealth(now func() time.Time) *Health {
	if now == nil {
		now = time.Now
	}
	return &Health{now: now, paused: map[string]pause{}, failures: map[string]int{}}
}

// Pause leaves a route alone for d, at most ten minutes; a pause that lasts longer already stays.
// code is what a caller is told when no other route is left.
func (h *Health) Pause(route string, d time.Duration, code fault.Code, reason string) {
	if h == nil || d <= 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	until := h.now().Add(min(d, maxPause))
	if old, ok := h.paused[route]; !ok || until.After(old.until) {
		h.paused[route] = pause{until, code, reason}
	}
}

// Paused returns why a route is left alone, and the code for a caller; "" when it isn't.
func (h *Health) Paused(route string) (reason string, code fault.Code) {
	if h == nil {
		return "", ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.paused[route]
	if !ok {
		return "", ""
	}
	if !h.now().Before(p.until) {
		delete(h.paused, route)
		return "", ""
	}
	return p.reason, p.code
}

// A route that fails this often in a row is clearly failing and left alone for a moment; after that
// one more failure is enough, until it works again.
const (
	trippingFailures = 5
	trippedPause     = 10 * time.Second
)

// Failed counts a failure that says something about the route: no answer, or a fault of the supplier.
func (h *Health) Failed(route string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.failures[route]++
	tripped := h.failures[route] >= trippingFailures
	h.mu.Unlock()
	if tripped {
		h.Pause(route, trippedPause, fault.ProviderUnavailable, "tripped: failing")
	}
}

// Worked forgets the route's failures.
func (h *Health) Worked(route string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.failures, route)
}
