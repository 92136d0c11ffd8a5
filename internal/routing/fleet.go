package routing

import (
	"cmp"
	"crypto/rand"
	"hash/fnv"
	"slices"
	"time"

	"unitask/internal/fault"
)

// Said is what one node's Health tells those of the others. It holds ages and durations, because nodes' clocks may
// differ.
type Said struct {
	Health  string   `json:"health"`           // names the Health, whatever its node is called
	N       int64    `json:"n"`                // goes up with each Said
	Events  []event  `json:"events,omitempty"` // the last ones of this node, the oldest first
	Probes  []place  `json:"probes,omitempty"` // where it is trying a route now
	Minutes []minute `json:"minutes,omitempty"`
}

// event is something that a node learnt of a route from its own requests.
type event struct {
	N       int64      `json:"n"` // of its node, from 1
	Ago     int64      `json:"ago"`
	What    what       `json:"what"`
	Route   string     `json:"route"`
	Account string     `json:"account,omitempty"`
	Pause   int64      `json:"pause,omitempty"`
	Code    fault.Code `json:"code,omitempty"`
	Reason  string     `json:"reason,omitempty"`

	at time.Time // on the clock of its node
}

type what string

const (
	paused   what = "paused"
	failed   what = "failed"
	accepted what = "accepted"
	worked   what = "worked"
	reset    what = "reset" // by an operator
)

// resting reports whether the event is a pause that isn't over.
func (e *event) resting(now time.Time) bool {
	return e.What == paused && now.Sub(e.at) < duration(e.Pause)
}

// bytes are those of the event in JSON, at most.
func (e *event) bytes() int { return len(e.Route) + len(e.Account) + len(e.Reason) + eventBytes }

// good reports whether the event can only make the route's standing better.
func (e *event) good() bool { return e.What == accepted || e.What == worked }

// place is a route, for the requests of one account or, with "", for all.
type place struct {
	Route   string `json:"route"`
	Account string `json:"account,omitempty"`
}

// minute is what a node had of a limit in the last minute.
type minute struct {
	Supplier   string `json:"supplier"`
	Model      string `json:"model,omitempty"`
	Capability string `json:"capability,omitempty"`
	counts
	Wants int64 `json:"w,omitempty"` // its place among those that want a turn for a request beyond their part; 0: it doesn't
}

func (m *minute) key() windowKey { return windowKey{m.Supplier, m.Model, m.Capability} }

func millis(d time.Duration) int64 { return d.Milliseconds() }

// duration is that of a number of milliseconds, at least 0 and at most the longest pause.
func duration(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), millis(maxPause))) * time.Millisecond
}

const (
	// tellFor is how long an event is said again and again: an exchange may fail for so long without a loss. A pause is
	// said until its end, for nodes that start meanwhile.
	tellFor = 15 * time.Second
	// mostEvents bounds the events in a Said: the oldest gives way that isn't a pause under way.
	mostEvents = 128
	// heardLate is by how much the time of another's event may be thought too late: it waits so long to be read.
	heardLate = 1500 * time.Millisecond
	// probeTurn is how much later than the node before a node tries a route again: by then it has heard of that one's
	// probe. Beyond mostTurns nodes have the last turn together.
	probeTurn = 3 * time.Second
	mostTurns = 5
)

// fleet is what a Health keeps for those of other nodes, and knows of them. It is guarded by its Health.
type fleet struct {
	id     string
	said   int64
	events int64
	log    []event // the oldest first

	peers   map[string]*peer // by the name of the Health, also those that were heard of in the last minute
	probed  map[place]bool   // being tried by others
	minutes map[windowKey]counts
	first   map[windowKey]applicant // of the others that want a turn
	nodes   int                     // with a session, this one included
	rank    int                     // of this node among those that speak
	heard   time.Time
}

// peer is another node's Health as last heard.
type peer struct {
	said    int64
	heard   time.Time // when it said something new
	applied int64     // number of its last event that was applied
	minutes []minute
}

// applicant is a node that wants a turn at a minute.
type applicant struct {
	place int64
	name  string // of its Health
}

func (a applicant) before(b applicant) bool {
	return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.name, b.name)) < 0
}

// Changed returns a channel that receives when there is something to Say that others should know soon.
func (h *Health) Changed() <-chan struct{} { return h.changed }

func (h *Health) ring() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// tellLocked keeps an event for the other nodes, if there may be some.
func (h *Health) tellLocked(e event, now time.Time) {
	f := h.fleet
	if f == nil {
		return
	}
	f.events++
	e.N, e.at = f.events, now
	if e.What == paused || e.What == reset { // it lasts longer than those before, or ends them
		f.log = slices.DeleteFunc(f.log, func(was event) bool { return was.What == paused && was.Route == e.Route })
	}
	f.log = append(f.log, e)
	if len(f.log) > mostEvents {
		i := dispensable(f.log[:mostEvents], now) // the newest stays
		f.log = slices.Delete(f.log, i, i+1)
	}
	h.ring()
}

// dispensable returns the index of the oldest event that isn't a pause under way; 0 if all are.
func dispensable(log []event, now time.Time) int {
	return max(0, slices.IndexFunc(log, func(e event) bool { return !e.resting(now) }))
}

// Say returns what the others should know, of about room bytes in JSON at most. From the first time on events are kept
// for it.
func (h *Health) Say(room int) Said {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if h.fleet == nil {
		h.fleet = &fleet{
			id: rand.Text(), peers: map[string]*peer{}, probed: map[place]bool{}, nodes: 1, heard: now,
			minutes: map[windowKey]counts{}, first: map[windowKey]applicant{},
		}
	}
	f := h.fleet
	f.said++
	f.log = slices.DeleteFunc(f.log, func(e event) bool { return now.Sub(e.at) > max(tellFor, duration(e.Pause)) })
	s := Said{Health: f.id, N: f.said, Events: slices.Clone(f.log)}
	for i := range s.Events {
		s.Events[i].Ago = millis(now.Sub(s.Events[i].at))
		room -= s.Events[i].bytes()
	}
	for room < 0 && len(s.Events) > 0 {
		i := dispensable(s.Events, now)
		room += s.Events[i].bytes()
		s.Events = slices.Delete(s.Events, i, i+1)
	}
	for _, p := range h.ownProbesLocked(now) {
		if room -= len(p.Route) + len(p.Account) + placeBytes; room >= 0 {
			s.Probes = append(s.Probes, p)
		}
	}
	for _, m := range h.ownMinutesLocked(now) {
		if room -= len(m.Supplier) + len(m.Model) + len(m.Capability) + minuteBytes; room >= 0 {
			s.Minutes = append(s.Minutes, m)
		}
	}
	return s
}

// The JSON around the texts, at most.
const (
	eventBytes  = 190
	placeBytes  = 30
	minuteBytes = 100
)

func (h *Health) ownProbesLocked(now time.Time) (all []place) {
	for route, s := range h.routes {
		if s.shared.probe != 0 && now.Before(s.shared.expires) {
			all = append(all, place{Route: route})
		}
		for account, c := range s.own {
			if c.probe != 0 && now.Before(c.expires) {
				all = append(all, place{route, account})
			}
		}
	}
	return all
}

// ownMinutesLocked returns what this node had of each limit, the busiest first.
func (h *Health) ownMinutesLocked(now time.Time) (all []minute) {
	for k, w := range h.windows {
		w.move(h.second(now))
		if had, place := w.ask(now); place > 0 || had != (counts{}) {
			all = append(all, minute{k.supplier, k.model, k.capability, had, place})
		}
	}
	slices.SortFunc(all, func(a, b minute) int { return cmp.Compare(b.Requests, a.Requests) })
	return all
}

// Hear takes what each other node with a session said last; the zero Said of one that was silent. What a node said that
// isn't there any more holds no probe; what it had of the last minute counts until that is over.
func (h *Health) Hear(others []Said) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.fleet
	if f == nil {
		return // it hasn't spoken
	}
	now := h.now()
	clear(f.probed)
	names := []string{f.id}
	for _, s := range others {
		if s.Health == "" || s.Health == f.id { // or its own, under a name that it had before
			continue
		}
		names = append(names, s.Health)
		h.hearLocked(&s, now)
	}
	slices.Sort(names)
	f.nodes, f.rank = len(others)+1, slices.Index(slices.Compact(names), f.id)
	clear(f.minutes)
	clear(f.first)
	for name, p := range f.peers {
		if now.Sub(p.heard) > windowSlots*time.Second {
			if !slices.Contains(names, name) {
				delete(f.peers, name)
			}
			continue
		}
		for _, m := range p.minutes {
			sum := f.minutes[m.key()]
			sum.add(counts{max(m.Requests, 0), max(m.Tokens, 0)})
			f.minutes[m.key()] = sum
			a := applicant{m.Wants, name}
			if first, others := f.first[m.key()]; a.place > 0 && now.Sub(p.heard) < turnFor && (!others || a.before(first)) {
				f.first[m.key()] = a
			}
		}
	}
	for k, w := range h.windows {
		w.move(h.second(now))
		h.shareLocked(k, w, now.Sub(f.heard))
		first, others := f.first[k]
		w.giveTurn(!others || (applicant{w.place, f.id}).before(first), now)
	}
	f.heard = now
}

// hearLocked takes what one node said: each event once.
func (h *Health) hearLocked(s *Said, now time.Time) {
	p := h.fleet.peers[s.Health]
	if p == nil {
		p = &peer{}
		h.fleet.peers[s.Health] = p
	}
	if s.N > p.said { // a node that has another name may be there twice for a while
		p.said, p.heard, p.minutes = s.N, now, s.Minutes
	}
	for _, e := range s.Events {
		if e.N > p.applied {
			h.applyLocked(e, now.Add(-duration(e.Ago)), heardLate)
			p.applied = e.N
		}
	}
	for _, place := range s.Probes {
		h.fleet.probed[place] = true
	}
}

// shareLocked gives a window its part of what the others leave.
func (h *Health) shareLocked(k windowKey, w *window, passed time.Duration) {
	if h.fleet != nil {
		w.share(h.fleet.minutes[k], h.fleet.nodes, passed)
	}
}

// refusalOfLocked is that of a condition, which may be nil, as long as other nodes try the route or have an earlier turn.
func (h *Health) refusalOfLocked(c *condition, at place, now time.Time) (reason string, code fault.Code) {
	if c == nil || !c.halfOpen || h.fleet == nil {
		return c.refusal(now, 0, false)
	}
	return c.refusal(now, h.fleet.turn(at.Route), h.fleet.probed[at])
}

// turn is how long this node leaves a route whose pause is over to others: the turns of different routes begin at
// different nodes.
func (f *fleet) turn(route string) time.Duration {
	if f.nodes == 1 {
		return 0
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(route))
	turn := (f.rank + int(sum.Sum32()%uint32(f.nodes))) % f.nodes
	return time.Duration(min(turn, mostTurns-1)) * probeTurn
}
