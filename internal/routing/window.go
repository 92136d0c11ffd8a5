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
	nodes  int                                // this one and the others; 0 of a node that hasn't heard of others yet
	part   struct{ requests, tokens float64 } // that this node may take until it hears of the others again

	wanted time.Time // when a request last found too small a part; zero: it was served since
	asked  time.Time // since when the others are told so without a break; zero: they aren't
	place  int64     // among those that want a turn, as told: the lowest is the first
	missed int64     // turns that weren't used
	turn   time.Time // until when one request may begin beyond the part; zero: none
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
	if requests > 0 {
		w.wanted, w.turn, w.missed = time.Time{}, time.Time{}, 0
	}
}

// left is what all nodes have left of the minute.
func (w *window) left() counts {
	left := counts{int64(w.rate.Requests), int64(w.rate.Tokens)}
	left.add(w.sum.negative())
	left.add(w.others.negative())
	return left
}

// few reports whether there isn't a request left for each node: their parts are below one.
func (w *window) few() bool { return w.rate.Requests > 0 && w.left().Requests < int64(w.nodes) }

// full returns why the minute has no room for a request of so many tokens; "" when it has. A request that is larger
// than the limit by itself has the whole minute.
func (w *window) full(tokens int64) string {
	limit, left := int64(w.rate.Tokens), w.left()
	switch {
	case w.rate.Requests > 0 && left.Requests <= 0:
		return "full: requests a minute"
	case limit > 0 && left.Tokens < limit && left.Tokens < tokens:
		return "full: tokens a minute"
	default:
		return ""
	}
}

// beyond returns why a request is more than this node's part of the minute; "" when it isn't, or has the turn. A part
// may go into debt for a request of which there is one left for each node.
func (w *window) beyond(tokens int64, now time.Time) string {
	if w.nodes <= 1 || now.Before(w.turn) {
		return ""
	}
	need := min(tokens, int64(w.rate.Tokens)) // 0 without a limit
	switch {
	case w.rate.Requests > 0 && w.part.requests < 1:
		return "full: requests a minute"
	case need > 0 && w.part.tokens < float64(need) && (w.part.tokens <= 0 || w.left().Tokens/int64(w.nodes) < need):
		return "full: tokens a minute"
	default:
		return ""
	}
}

const (
	// wantFor is how long a node says that it wants a turn: a task that went back to the queue is tried again by then.
	wantFor = 8 * time.Second
	// askFor is how long a node has asked before it takes its turn: an exchange of all others, which by then know of that,
	// and have told what they took before they knew.
	askFor = time.Second
	// turnFor is how long a turn may be used, if no exchange has ended it before. A node that has said nothing new for
	// longer has none.
	turnFor = 3 * time.Second
)

// ask returns what the others are told: the minute so far, and this node's place among those that want a turn; 0: it
// doesn't. The first is the one that had the fewest requests and unused turns.
func (w *window) ask(now time.Time) (had counts, place int64) {
	w.place = 0
	if now.Sub(w.wanted) < wantFor {
		w.place = 1 + w.sum.Requests + w.missed
	} else {
		w.asked, w.missed = time.Time{}, 0
	}
	if w.place > 0 && w.asked.IsZero() {
		w.asked = now
	}
	return w.sum, w.place
}

// giveTurn gives this node a turn until the next exchange if it is the first of those that want one.
func (w *window) giveTurn(first bool, now time.Time) {
	if !w.turn.IsZero() {
		w.missed++
	}
	w.turn = time.Time{}
	if w.place > 0 && first && now.Sub(w.asked) >= askFor {
		w.turn = now.Add(turnFor)
	}
}

// share takes what is known of the others, whose number is nodes-1, and allots this node's part for the time that has
// passed since they were heard of before.
func (w *window) share(others counts, nodes int, passed time.Duration) {
	w.others, w.nodes = others, nodes
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
	rest := max(0, float64(limit-own-others))
	second := rest * share / partDivisor
	most := second
	if rest >= float64(nodes) { // one for each
		most = max(second, 1)
	}
	return max(min(had+second*passed.Seconds(), most), -2*second)
}

// second is the whole seconds since the health began, on the monotonic clock.
func (h *Health) second(now time.Time) int64 { return int64(now.Sub(h.started) / time.Second) }
