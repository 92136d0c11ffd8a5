package routing

import (
	"time"

	"unitask/internal/fault"
)

// Grant is a choice's share of its route: the turn to probe it, and its part of the minute. The zero Grant is empty.
type Grant struct {
	route   string
	account string // whose request it is
	probe   uint64
	windows [2]*window
	second  int64
	tokens  int64
}

// take asks for a turn on the route for an account's request of so many tokens, and takes it.
func (h *Health) take(r *Route, account string, tokens int64) (g Grant, probed, reason string, code fault.Code) {
	if h == nil {
		return Grant{}, "", "", ""
	}
	if reason, code := h.stop(r); reason != "" {
		return Grant{}, "", reason, code
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.routes[r.id]
	if s == nil && !r.rated() {
		return Grant{}, "", "", ""
	}
	now := h.now()
	if reason, code := h.refusalLocked(r, account, now, tokens); reason != "" {
		return Grant{}, "", reason, code
	}
	if reason := h.beyondLocked(r, tokens, now, true); reason != "" {
		return Grant{}, "", reason, fault.CapacityExhausted
	}
	g = Grant{route: r.id, account: account, second: h.second(now), tokens: tokens}
	if s != nil {
		h.probes++
		for _, c := range s.conditions(account) {
			if c != nil && c.halfOpen {
				g.probe, c.probe, c.expires = h.probes, h.probes, now.Add(probeMost)
				probed = c.reason
				h.ring()
			}
		}
	}
	for i, l := range r.limited() {
		if l.rate != (Rate{}) {
			g.windows[i] = h.windowLocked(l, g.second)
			g.windows[i].take(g.second, 1, tokens)
		}
	}
	return g, probed, "", ""
}

// look returns why take would refuse a request now, and the code; "" if it wouldn't. It takes no turn and asks for none.
func (h *Health) look(r *Route, account string, tokens int64) (reason string, code fault.Code) {
	if h == nil {
		return "", ""
	}
	if reason, code := h.stop(r); reason != "" {
		return reason, code
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if reason, code := h.refusalLocked(r, account, now, tokens); reason != "" {
		return reason, code
	}
	if reason := h.beyondLocked(r, tokens, now, false); reason != "" {
		return reason, fault.CapacityExhausted
	}
	return "", ""
}

// refusal returns why the route accepts no request now, and the code for a caller; "" when it does.
func (h *Health) refusal(r *Route) (reason string, code fault.Code) {
	if h == nil {
		return "", ""
	}
	if reason, code := h.stop(r); reason != "" {
		return reason, code
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.routes[r.id] == nil && !r.rated() {
		return "", ""
	}
	now := h.now()
	if reason, code := h.refusalLocked(r, "", now, 1); reason != "" {
		return reason, code
	}
	for _, l := range r.limited() {
		if l.rate == (Rate{}) || h.windows[l.key].few() { // a request asks for one of few
			continue
		}
		if reason := h.windows[l.key].beyond(1, now); reason != "" {
			return reason, fault.CapacityExhausted
		}
	}
	return "", ""
}

// beyondLocked returns why a request is more than this node's part of the minutes of a route that has room for it, and
// asks for a turn then if it wants one; "" when it isn't.
func (h *Health) beyondLocked(r *Route, tokens int64, now time.Time, wants bool) (reason string) {
	for _, l := range r.limited() {
		if l.rate == (Rate{}) {
			continue
		}
		w := h.windows[l.key]
		if beyond := w.beyond(tokens, now); beyond != "" {
			reason = beyond
			if wants && w.asked.IsZero() {
				h.ring()
			}
			if wants {
				w.wanted = now
			}
		}
	}
	return reason
}

// refusalLocked is that of an account's request; account "": of everybody's.
func (h *Health) refusalLocked(r *Route, account string, now time.Time, tokens int64) (reason string, code fault.Code) {
	if s := h.routes[r.id]; s != nil {
		if reason, code := s.here.refusal(now, 0, false); reason != "" {
			return reason, code
		}
		if reason, code := h.refusalOfLocked(&s.shared, place{Route: r.id}, now); reason != "" {
			return reason, code
		}
		if reason, code := h.refusalOfLocked(s.own[account], place{r.id, account}, now); reason != "" {
			return reason, code
		}
	}
	for _, l := range r.limited() {
		if l.rate == (Rate{}) {
			continue
		}
		if reason := h.windowLocked(l, h.second(now)).full(tokens); reason != "" {
			return reason, fault.CapacityExhausted
		}
	}
	return "", ""
}

func (h *Health) windowLocked(l limit, second int64) *window {
	w := h.windows[l.key]
	if w == nil {
		w = &window{newest: second, rate: l.rate}
		h.windows[l.key] = w
		h.shareLocked(l.key, w, windowSlots*time.Second)
	}
	w.rate = l.rate
	w.move(second)
	return w
}

// Keep gives the choices' grants back, except for the one that was started on the given supplier and model, which it
// returns; "" gives all back.
func (h *Health) Keep(choices []Choice, supplierName, model string) Grant {
	var kept Grant
	for _, c := range choices {
		if c.Route.Supplier == supplierName && c.Route.Model == model {
			kept = c.grant
		} else {
			h.settle(c.grant, func(w *window) { w.take(c.grant.second, -1, -c.grant.tokens) }) // as if it had never been taken
		}
	}
	return kept
}

// Spent tells how many tokens the attempt that the grant was for came to; its turn to probe is over,
// however it ended.
func (h *Health) Spent(g Grant, tokens int64) {
	h.settle(g, func(w *window) { w.put(g.second, counts{Tokens: tokens - g.tokens}) })
}

// Ended is Spent for an attempt that can't be measured: its whole grant counts as spent.
func (h *Health) Ended(g Grant) {
	h.settle(g, func(*window) {})
}

func (h *Health) settle(g Grant, correct func(*window)) {
	if h == nil || g.route == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range g.windows {
		if w != nil {
			w.move(h.second(h.now()))
			correct(w)
		}
	}
	s := h.routes[g.route]
	if s == nil || g.probe == 0 {
		return
	}
	for _, c := range s.conditions(g.account) {
		if c != nil && c.probe == g.probe {
			c.probe = 0
			h.ring()
		}
	}
}
