package routing

import (
	"cmp"
	"slices"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/task"
)

// State is a route as it stands at a moment, for operators.
type State struct {
	Capability  catalog.Name
	Supplier    string
	Model       string
	Mode        task.Mode
	Approved    bool // and not taken away by a reload
	SupplierCap int
	Failures    int       // in a row
	Reason      string    // why requests are kept away; "" if they aren't
	Refused     string    // the reason of this node's last PauseHere there, over or not, until a result
	Accounts    int       // those whose requests alone are kept away; 0: everybody's are, or no one's
	Until       time.Time // of a pause
}

// States returns every route as it stands, by supplier, capability and model.
func (t *Table) States(h *Health) []State {
	states := make([]State, 0, len(t.all))
	for _, r := range t.all {
		s := State{
			Capability: r.Capability, Supplier: r.Supplier, Model: r.Model, Mode: r.Mode, Approved: t.takes(r), SupplierCap: r.SupplierCap,
		}
		h.describe(&s, r)
		states = append(states, s)
	}
	slices.SortStableFunc(states, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.Capability, b.Capability), cmp.Compare(a.Model, b.Model))
	})
	return states
}

// describe adds the learnt state of the route. The state for everybody comes first, then the longest of the pauses
// that concern one account each.
func (h *Health) describe(s *State, r *Route) {
	s.Reason, _ = h.refusal(r)
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	stands, now := h.routes[r.id], h.now()
	if stands == nil {
		return
	}
	s.Failures, s.Until = stands.failures, stands.shared.until
	if stands.here.until.After(s.Until) {
		s.Until = stands.here.until
	}
	if stands.here.halfOpen {
		s.Refused = stands.here.reason
	}
	if s.Reason != "" || s.Refused != "" {
		return
	}
	for account, own := range stands.own {
		reason, _ := h.refusalOfLocked(own, place{r.id, account}, now)
		if reason == "" {
			continue
		}
		s.Accounts++
		if s.Reason == "" || own.until.After(s.Until) {
			s.Reason, s.Until = reason, own.until
		}
	}
}
