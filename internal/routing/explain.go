package routing

import (
	"unitask/internal/fault"
	"unitask/internal/task"
)

// NotApproved is the reason for passing over a route that the settings don't approve, or no longer have.
const NotApproved = "not approved in the settings"

// Explained is how a route stands to a request at a moment.
type Explained struct {
	Route  *Route     // of its table
	Cost   task.Money // as in Choice
	Most   task.Money
	Reason string // why it would be passed over; "" if it would be tried
	Code   fault.Code
}

// Full returns it as passed over for its limit of attempts in flight, if there was no reason before.
func (e Explained) Full() Explained {
	if e.Reason == "" {
		e.Reason, e.Code = Full, fault.CapacityExhausted
	}
	return e
}

// Explain returns every route of the capability in the order in which Choose would consider it now, and then those that
// aren't approved. It takes no turn and no part of a minute. Limits in flight are known to the store alone.
func (t *Table) Explain(w Want, h *Health) []Explained {
	var all []Explained
	routes := t.approved[tableKey{w.Mode, w.Capability}]
	for order := rank(routes, w.Size, nil); len(order) > 0; {
		var next ranked
		next, order = order.pop()
		r := routes[next.at]
		e := Explained{Route: r, Cost: next.cost, Most: r.most(w.Size)}
		if e.Reason, e.Code = unfit(r, w); e.Reason == "" {
			size := r.whole(w.Size)
			e.Reason, e.Code = h.look(r, w.Account, size.InputTokens+size.OutputTokens)
		}
		all = append(all, e)
	}
	for _, r := range t.all {
		if r.Mode == w.Mode && r.Capability == w.Capability && !t.takes(r) {
			all = append(all, Explained{Route: r, Cost: r.cost(w.Size), Most: r.most(w.Size), Reason: NotApproved})
		}
	}
	return all
}
