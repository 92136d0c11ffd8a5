package routing

import (
	"sync"
	"time"

	"unitask/internal/fault"
)

const (
	// maxPause bounds what a supplier's Retry-After can do to a route.
	maxPause = 10 * time.Minute
	// A route that fails this often in a row is clearly failing and left alone for a moment; after that
	// one more failure is enough, until it works again.
	trippingFailures = 5
	trippedPause     = 10 * time.Second
	// probeMost is how long one probe keeps others from trying: a job that takes longer, and a probe
	// whose end nobody told, don't close a route.
	probeMost = time.Minute
)

// Probing is the reason for passing over a route whose pause is over, while one request tries it.
const Probing = "half-open: its probe is under way"

// Health is what is learnt about routes while running: which to leave alone for a while, which are
// tried again by one request at a time, and how much each had in the last minute. It is safe for
// concurrent use; a nil Health knows nothing and limits nothing.
type Health struct {
	now   func() time.Time
	begun time.Time

	mu      sync.Mutex
	routes  map[string]*condition // by the route's id; only those that aren't well
	windows map[windowKey]*window // only of limited routes and suppliers
	probes  uint64
}

// condition is that of a route which failed or asked for a pause.
type condition struct {
	failures int // in a row
	halfOpen bool
	until    time.Time // of the pause; past it one probe at a time
	code     fault.Code
	reason   string
	probe    uint64    // under way; 0: none
	expires  time.Time // of the probe
}

type windowKey struct{ supplier, model, capability string }

// NewHealth returns a Health that knows nothing yet. now nil: time.Now.
func NewHealth(now func() time.Time) *Health {
	if now == nil {
		now = time.Now
	}
	return &Health{now: now, begun: now(), routes: map[string]*condition{}, windows: map[windowKey]*window{}}
}

// Pause leaves a route alone for d, at most ten minutes, and lets one request at a time try it after
// that; a pause that lasts longer already stays. code is what a caller is told when no other route is
// left.
func (h *Health) Pause(route string, d time.Duration, code fault.Code, reason string) {
	if h == nil || d <= 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pauseLocked(route, d, code, reason)
}

// Failed counts a failure that says something about the route: no answer, or a fault of the supplier.
func (h *Health) Failed(route string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.conditionLocked(route)
	probed := c.halfOpen && !h.now().Before(c.until)
	if c.failures++; c.failures >= trippingFailures || probed {
		h.pauseLocked(route, trippedPause, fault.ProviderUnavailable, "tripped: failing")
	}
}

// Accepted notes that the supplier took a job: it has room again. Whether it does its jobs is not
// known yet.
func (h *Health) Accepted(route string) {
	h.recover(route, func(c *condition) bool { return c.code == fault.CapacityExhausted })
}

// Worked notes a result: the route's failures are forgotten. It doesn't end a pause that was asked
// for meanwhile.
func (h *Health) Worked(route string) {
	h.recover(route, func(c *condition) bool {
		c.failures = 0
		return true
	})
}

func (h *Health) recover(route string, well func(*condition) bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.routes[route]
	if c == nil {
		return
	}
	if well(c) && !h.now().Before(c.until) {
		c.halfOpen, c.probe = false, 0
	}
	if !c.halfOpen && c.failures == 0 {
		delete(h.routes, route)
	}
}

func (h *Health) conditionLocked(route string) *condition {
	c := h.routes[route]
	if c == nil {
		c = &condition{}
		h.routes[route] = c
	}
	return c
}

func (h *Health) pauseLocked(route string, d time.Duration, code fault.Code, reason string) {
	c := h.conditionLocked(route)
	until := h.now().Add(min(d, maxPause))
	if c.halfOpen && !until.After(c.until) {
		return
	}
	c.halfOpen, c.until, c.code, c.reason, c.probe = true, until, code, reason, 0
}

// refusal returns why the condition keeps requests away now, and the code for a caller; "" when it
// doesn't.
func (c *condition) refusal(now time.Time) (reason string, code fault.Code) {
	switch {
	case c == nil || !c.halfOpen:
		return "", ""
	case now.Before(c.until):
		return c.reason, c.code
	case c.probe != 0 && now.Before(c.expires):
		return Probing, c.code
	default:
		return "", ""
	}
}
