package routing

import "time"

// Rate is a supplier's limit for a minute; 0 is no limit.
type Rate struct {
	Requests int
	Tokens   int
}

// windowSlots is a minute in seconds and one more: any 60 seconds touch no more slots, so that they never exceed the
// limit.
const windowSlots = 61

// window counts the work started in the last minute. It is guarded by its Health.
type window struct {
	newest   int64 // the second that the newest slot is for
	requests [windowSlots]int64
	tokens   [windowSlots]int64
	sum      struct{ requests, tokens int64 }
}

// move forgets counts older than a minute.
func (w *window) move(now int64) {
	for range min(now-w.newest, windowSlots) {
		w.newest++
		w.put(w.newest, -w.requests[w.newest%windowSlots], -w.tokens[w.newest%windowSlots])
	}
	w.newest = max(w.newest, now)
}

// put adds to the slot of a second that the window holds.
func (w *window) put(second, requests, tokens int64) {
	if second <= w.newest-windowSlots {
		return
	}
	w.requests[second%windowSlots] += requests
	w.tokens[second%windowSlots] += tokens
	w.sum.requests += requests
	w.sum.tokens += tokens
}

// full returns why the window takes no request of so many tokens; "" when it does. A request that is
// larger than the limit by itself has the whole minute.
func (w *window) full(r Rate, tokens int64) string {
	switch {
	case r.Requests > 0 && w.sum.requests >= int64(r.Requests):
		return "full: requests a minute"
	case r.Tokens > 0 && w.sum.tokens > 0 && w.sum.tokens+tokens > int64(r.Tokens):
		return "full: tokens a minute"
	default:
		return ""
	}
}

// second is the whole seconds since the health began, on the monotonic clock.
func (h *Health) second(now time.Time) int64 { return int64(now.Sub(h.started) / time.Second) }
