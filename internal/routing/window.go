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

// counts are requests and their tokens.
type counts struct {
	Requests int64 `json:"r"`
	Tokens   int64 `json:"t"`
}

func (c *counts) add(by counts) { c.Requests, c.Tokens = c.Requests+by.Requests, c.Tokens+by.Tokens }

func (c counts) negative() counts { return counts{-c.Requests, -c.Tokens} }

// window counts the work started in the last minute. It is guarded by its Health.
type window struct {
	rate   Rate
	newest int64 // the second that the newest slot is for
	slots  [windowSlots]counts
	sum    counts

	others counts                             // what other nodes had in their last minute
	shared bool                               // there are others
	part   struct{ requests, tokens float64 } // that this node may take until it hears of the others again
}

// move forgets counts older than a minute.
func (w *window) move(now int64) {
	for range min(now-w.newest, windowSlots) {
		w.newest++
		w.put(w.newest, w.slots[w.newest%windowSlots].negative())
	}
	w.newest = max(w.newest, now)
}

// put adds to the slot of a second that the window holds.
func (w *window) put(second int64, by counts) {
	if second > w.newest-windowSlots {
		w.slots[second%windowSlots].add(by)
		w.sum.add(by)
	}
}

// take counts requests that begin, or don't after all if there are fewer than none.
func (w *window) take(second, requests, tokens int64) {
	w.put(second, counts{requests, tokens})
	w.part.requests -= float64(requests)
	w.part.tokens -= float64(tokens)
}

// full returns why the window takes no request of so many tokens; "" when it does. A request that is
// larger than the limit by itself has the whole minute.
func (w *window) full(tokens int64) string {
	all := w.sum
	all.add(w.others)
	switch {
	case w.rate.Requests > 0 && (all.Requests >= int64(w.rate.Requests) || w.shared && w.part.requests <= 0):
		return "full: requests a minute"
	case w.rate.Tokens > 0 && all.Tokens > 0 && (all.Tokens+tokens > int64(w.rate.Tokens) || w.shared && w.part.tokens <= 0):
		return "full: tokens a minute"
	default:
		return ""
	}
}

// share takes what is known of the others, whose number is nodes-1, and allots this node's part for the time that has
// passed since they were heard of before.
func (w *window) share(others counts, nodes int, passed time.Duration) {
	w.others, w.shared = others, nodes > 1
	w.part.requests = part(int64(w.rate.Requests), w.sum.Requests, others.Requests, nodes, w.part.requests, passed)
	w.part.tokens = part(int64(w.rate.Tokens), w.sum.Tokens, others.Tokens, nodes, w.part.tokens, passed)
}

const (
	// A node takes a quarter of its share of the rest in a second. It knows of the others' takings with a delay of two
	// exchanges, and a larger part of the rest would be given away twice.
	partDivisor = 4
	// The shares of the rest are as the nodes' parts of the minute; an eighth of the limit counts as everybody's, so that
	// a node which had none begins.
	commonDivisor = 8
)

// part returns what a node may take of a minute's limit until it hears of the others again, when it had so much left of
// its last part. It may be in debt by a request that was larger, for as long as others may not know of that.
func part(limit, own, others int64, nodes int, had float64, passed time.Duration) float64 {
	if limit <= 0 {
		return 0
	}
	common := float64(limit) / commonDivisor
	share := (float64(own) + common/float64(nodes)) / (float64(own+others) + common)
	second := max(0, float64(limit-own-others)) * share / partDivisor
	fresh := second * min(1, passed.Seconds())
	return max(min(had+fresh, max(second, 1)), -2*second)
}

// second is the whole seconds since the health began, on the monotonic clock.
func (h *Health) second(now time.Time) int64 { return int64(now.Sub(h.started) / time.Second) }
