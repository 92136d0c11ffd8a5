package routing

import (
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/fault"
)

const (
	// maxPause bounds the effect of a supplier's Retry-After on a route.
	maxPause = 10 * time.Minute
	// A route that fails this often in a row is clearly failing and left alone for a moment; after that
	// one more failure is enough, until it works again.
	trippingFailures = 5
	trippedPause     = 10 * time.Second
	// mostOfOne is how many of the tripping failures one account may bring about: never all, and a second
	// account's first failure isn't enough either.
	mostOfOne = 3
	// mostAccounts bounds the accounts that are remembered at one route: the one whose failure is the oldest
	// gives way.
	mostAccounts = 256
	// probeMost is how long one probe keeps others from trying: a job that takes longer, and a probe whose end wasn't
	// reported, don't close a route.
	probeMost = time.Minute
)

// Probing is the reason for passing over a route whose pause is over, while one request tries it.
const Probing = "half-open: its probe is under way"

// Health is the state of routes that is learnt while running: which to leave alone for a while, which are tried again
// by one request at a time, and how much each had in the last minute. It is safe for concurrent use; a nil Health has
// no state and no limits.
//
// A failure may be the request's own doing, so one account's failures trip a route for that account alone. The
// route is left alone for all once two accounts have failed there and no request succeeded between.
//
// The Healths of several nodes learn from each other by Say and Hear: a failure or a pause at one node counts at all,
// except for the pauses of PauseHere.
type Health struct {
	now     func() time.Time
	started time.Time
	changed chan struct{}
	stopped atomic.Pointer[map[string]bool] // the suppliers that an operator has paused

	mu      sync.Mutex
	routes  map[string]*routeHealth // by the route's id; only those that aren't well
	windows map[windowKey]*window   // only of limited routes and suppliers
	probes  uint64
	fleet   *fleet // nil on a node alone
}

// routeHealth is the state of one route that isn't well for everybody.
type routeHealth struct {
	shared   condition             // for all accounts
	here     condition             // for all accounts at this node, by PauseHere
	own      map[string]*condition // for the requests of one account, by its id
	failures int                   // in a row, of all accounts at all nodes
	failed   []string              // the accounts of those that count towards a trip, since the last result or pause
}

// condition is that of a route which failed or asked for a pause.
type condition struct {
	failures int // in a row, of one account
	failed   time.Time
	halfOpen bool
	until    time.Time // of the pause; past it one probe at a time
	code     fault.Code
	reason   string
	probe    uint64    // under way; 0: no probe
	expires  time.Time // of the probe
}

type windowKey struct{ supplier, model, capability string }

// NewHealth returns an empty Health. now nil: time.Now.
func NewHealth(now func() time.Time) *Health {
	if now == nil {
		now = time.Now
	}
	return &Health{
		now: now, started: now(), changed: make(chan struct{}, 1),
		routes: map[string]*routeHealth{}, windows: map[windowKey]*window{},
	}
}

// Pause leaves a route alone for d, at most ten minutes, and lets one request at a time try it after that; a pause
// that lasts longer already stays. code is the caller's error when no other route is left.
func (h *Health) Pause(route string, d time.Duration, code fault.Code, reason string) {
	if d > 0 {
		h.learn(event{What: paused, Route: route, Pause: millis(min(d, maxPause)), Code: code, Reason: reason})
	}
}

// PauseHere is Pause for a reason that concerns this node alone, such as its key at the supplier: other nodes hear
// nothing of it, and nothing of theirs ends it.
func (h *Health) PauseHere(route string, d time.Duration, code fault.Code, reason string) {
	if h == nil || d <= 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.standsLocked(route).here.pause(h.now(), d, code, reason)
}

// standsLocked returns how a route stands, to be changed.
func (h *Health) standsLocked(route string) *routeHealth {
	s := h.routes[route]
	if s == nil {
		s = &routeHealth{}
		h.routes[route] = s
	}
	return s
}

// Failed counts a failure of an account's request that may say something about the route: no answer, or a
// fault of the supplier.
func (h *Health) Failed(route, account string) {
	h.learn(event{What: failed, Route: route, Account: account})
}

// Accepted notes that the supplier took a job: it has room again. Whether it does its jobs is not
// known yet.
func (h *Health) Accepted(route string) { h.learn(event{What: accepted, Route: route}) }

// Worked notes a result of an account's request: the route's failures are forgotten, but for those of other
// accounts towards themselves. It doesn't end a pause that was asked for meanwhile.
func (h *Health) Worked(route, account string) {
	h.learn(event{What: worked, Route: route, Account: account})
}

// learn applies an event of this node, and keeps it for the others if it changed how the route stands.
func (h *Health) learn(e event) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.routes[e.Route] == nil && e.good() {
		return // nearly every event
	}
	now := h.now()
	if h.applyLocked(e, now, 0) {
		h.tellLocked(e, now)
	}
}

// applyLocked has a route stand as it does after an event, and reports whether that is a change. Times of others'
// events are known to within late; 0: it is this node's.
func (h *Health) applyLocked(e event, at time.Time, late time.Duration) (changed bool) {
	if e.What == reset {
		return h.resetLocked(e.Route)
	}
	if h.routes[e.Route] == nil && e.good() {
		return false
	}
	s := h.standsLocked(e.Route)
	switch e.What {
	case paused:
		changed = s.shared.pause(at, duration(e.Pause), e.Code, e.Reason)
	case failed:
		s.fail(e.Account, at, late)
		changed = true
	case accepted:
		changed = s.accept(at.Add(late))
	case worked:
		if late == 0 {
			s.here.end(at)
		}
		changed = s.work(e.Account, at.Add(late))
	default: // of a later version
	}
	if !s.shared.halfOpen && !s.here.halfOpen && s.failures == 0 && len(s.own) == 0 {
		delete(h.routes, e.Route) // it is well
	}
	return changed
}

func (s *routeHealth) fail(account string, at time.Time, late time.Duration) {
	own := s.of(account)
	probed := own.probing(at.Add(late)) || s.shared.probing(at.Add(late))
	own.failed = at
	if late == 0 {
		s.shared.probe, s.here.probe = 0, 0
	}
	if own.failures++; own.failures >= trippingFailures || probed {
		own.trip(at)
	}
	s.failures++
	if !s.shared.resting(at.Add(late)) && s.counts(account) {
		s.shared.trip(at)
		s.failed = nil
	}
}

func (s *routeHealth) accept(at time.Time) bool {
	return s.shared.code == fault.CapacityExhausted && s.shared.end(at)
}

func (s *routeHealth) work(account string, at time.Time) bool {
	changed := s.failures > 0 || len(s.failed) > 0
	s.failures, s.failed = 0, nil
	changed = s.shared.end(at) || changed
	if own := s.own[account]; own != nil {
		changed = changed || own.failures > 0 || own.probing(at)
		own.failures = 0
		if own.end(at); !own.halfOpen {
			delete(s.own, account)
		}
	}
	return changed
}

// conditions returns those that concern an account's requests; nil stands for none.
func (s *routeHealth) conditions(account string) [3]*condition {
	return [...]*condition{s.own[account], &s.shared, &s.here}
}

// counts adds an account's failure to those that count towards a trip, and reports whether they are enough: five, or
// one of each of two accounts if the route is being tried again.
func (s *routeHealth) counts(account string) bool {
	before := 0
	for _, a := range s.failed {
		if a == account {
			before++
		}
	}
	others := len(s.failed) - before
	if before < mostOfOne {
		s.failed = append(s.failed, account)
	}
	return len(s.failed) >= trippingFailures || s.shared.halfOpen && others > 0
}

// of returns how the route stands for an account.
func (s *routeHealth) of(account string) *condition {
	if c := s.own[account]; c != nil {
		return c
	}
	if s.own == nil {
		s.own = map[string]*condition{}
	}
	if len(s.own) >= mostAccounts {
		s.forgetOldest()
	}
	s.own[account] = &condition{}
	return s.own[account]
}

func (s *routeHealth) forgetOldest() {
	oldest, at := "", time.Time{}
	for account, c := range s.own {
		if at.IsZero() || c.failed.Before(at) {
			oldest, at = account, c.failed
		}
	}
	delete(s.own, oldest)
}

func (c *condition) trip(now time.Time) {
	c.pause(now, trippedPause, fault.ProviderUnavailable, "tripped: failing")
}

// pause reports whether the condition changed: one that lasts longer already stays.
func (c *condition) pause(at time.Time, d time.Duration, code fault.Code, reason string) bool {
	until := at.Add(min(d, maxPause))
	if c.halfOpen && !until.After(c.until) {
		return false
	}
	c.halfOpen, c.until, c.code, c.reason, c.probe = true, until, code, reason, 0
	return true
}

// end ends the pause if its time is over, and reports that: the route is well.
func (c *condition) end(at time.Time) bool {
	if !c.probing(at) {
		return false
	}
	c.halfOpen, c.probe = false, 0
	return true
}

func (c *condition) resting(now time.Time) bool { return c.halfOpen && now.Before(c.until) }

func (c *condition) probing(now time.Time) bool { return c.halfOpen && !now.Before(c.until) }

// refusal returns why the condition keeps requests away now, and the code for a caller; "" when it doesn't. turn is how
// much later than at other nodes it is tried here, elsewhere that it is being tried at another.
func (c *condition) refusal(now time.Time, turn time.Duration, elsewhere bool) (reason string, code fault.Code) {
	switch {
	case c == nil || !c.halfOpen:
		return "", ""
	case now.Before(c.until):
		return c.reason, c.code
	case elsewhere, now.Before(c.until.Add(turn)), c.probe != 0 && now.Before(c.expires):
		return Probing, c.code
	default:
		return "", ""
	}
}
