// Package door is what the doors have in common: they take programs that were written for another interface. A door
// translates requests and answers; it has no way of its own into the gateway.
//
// Undelivered recognizes the retries of libraries that send no Idempotency-Key, so that a call whose answer was lost
// isn't paid for twice. It remembers in memory, on one node: a restart forgets, and another node doesn't know.
package door

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

const (
	// rememberFor is for how long a retry joins a call whose answer was lost: the libraries' own time-out.
	rememberFor = 10 * time.Minute
	// keepFor is the same of a call whose failure was answered: it outlasts the pauses between a library's own tries.
	keepFor = time.Minute

	mostCalls      = 1 << 14       // that are remembered
	mostCallsOfOne = mostCalls / 8 // of them of one API key
	sweepEvery     = time.Minute
)

// Undelivered is the calls whose answers are under way or were lost. It is safe for concurrent use.
type Undelivered struct {
	now func() time.Time

	mu    sync.Mutex
	calls map[callID][]*call
	ofKey map[string]int // calls, by API key
	count int
	swept time.Time
}

// callID is what a retry has in common with the call before it.
type callID struct {
	apiKey string
	body   [sha256.Size]byte
}

// call is a call with its retries.
type call struct {
	key  string // its Idempotency-Key
	open int    // requests of it that are under way
	at   time.Time
	gone bool // settled, or dropped for want of room
	last bool // it joins its retries only if there is no other
}

// NewUndelivered returns an empty Undelivered.
func NewUndelivered(now func() time.Time) *Undelivered {
	return &Undelivered{now: now, calls: map[callID][]*call{}, ofKey: map[string]int{}}
}

// Attempt is one request of a call.
type Attempt struct {
	u    *Undelivered
	id   callID
	call *call
	once sync.Once
}

// Begin takes a request without an Idempotency-Key: the id of its API key, what it is (path and body), and whether its
// library says that it is a retry. A retry joins the call whose answer was lost, else one that is still under way, of
// the same API key and body; any other request is a call of its own.
func (u *Undelivered) Begin(apiKey string, request [sha256.Size]byte, retry bool) *Attempt {
	u.mu.Lock()
	defer u.mu.Unlock()
	id := callID{apiKey, request}
	if retry {
		if c := u.lostLocked(id); c != nil {
			c.open++
			return &Attempt{u: u, id: id, call: c}
		}
	}
	c := &call{key: "door-" + rand.Text(), open: 1, at: u.now()}
	if c.gone = !u.roomLocked(apiKey); !c.gone {
		u.calls[id] = append(u.calls[id], c)
		u.ofKey[apiKey]++
		u.count++
	}
	return &Attempt{u: u, id: id, call: c}
}

// Key returns the Idempotency-Key of the call.
func (a *Attempt) Key() string { return a.call.key }

// End ends the request; the first time counts. settled says that the caller has an answer that no retry goes on from.
// End may be called on a nil Attempt.
func (a *Attempt) End(settled bool) {
	if a == nil {
		return
	}
	a.once.Do(func() {
		a.u.mu.Lock()
		defer a.u.mu.Unlock()
		a.call.open--
		a.call.at = a.u.now()
		if settled {
			a.u.dropLocked(a.id, a.call)
		}
	})
}

// Keep has later retries answered as this request is, unless there is another call that they may belong to.
func (a *Attempt) Keep() {
	if a == nil {
		return
	}
	a.u.mu.Lock()
	defer a.u.mu.Unlock()
	a.call.last = true
}

// lostLocked returns the call that a retry belongs to: the oldest without a request under way, else the oldest.
func (u *Undelivered) lostLocked(id callID) *call {
	var best *call
	for _, c := range slices.Clone(u.calls[id]) {
		switch {
		case c.expired(u.now()):
			u.dropLocked(id, c)
		case best == nil || best.last && !c.last || best.last == c.last && best.open > 0 && c.open == 0:
			best = c
		}
	}
	return best
}

func (c *call) expired(now time.Time) bool {
	keep := rememberFor
	if c.last {
		keep = keepFor
	}
	return c.open == 0 && now.Sub(c.at) > keep
}

func (u *Undelivered) dropLocked(id callID, c *call) {
	if c.gone {
		return
	}
	c.gone = true
	u.calls[id] = slices.DeleteFunc(u.calls[id], func(o *call) bool { return o == c })
	if len(u.calls[id]) == 0 {
		delete(u.calls, id)
	}
	if u.ofKey[id.apiKey]--; u.ofKey[id.apiKey] == 0 {
		delete(u.ofKey, id.apiKey)
	}
	u.count--
}

// roomLocked reports whether one more call of the API key can be remembered.
func (u *Undelivered) roomLocked(apiKey string) bool {
	room := func() bool { return u.count < mostCalls && u.ofKey[apiKey] < mostCallsOfOne }
	if now := u.now(); !room() && now.Sub(u.swept) >= sweepEvery {
		u.swept = now
		for id, calls := range u.calls {
			for _, c := range slices.Clone(calls) {
				if c.expired(now) {
					u.dropLocked(id, c)
				}
			}
		}
	}
	return room()
}
