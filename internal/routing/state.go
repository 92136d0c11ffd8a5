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
	Reason      string    // why requests are kept away; "" where they aren't
	Until       time.Time // of a pause
}

// States returns every route as it stands, by supplier, capability and model.
func (t *Table) States(h *Health) []State {
	states := make([]State, 0, len(t.all))
	for _, r := range t.all {
		s := State{
			Capability: r.Capability, Supplier: r.Supplier, Model: r.Model, Mode: r.Mode, Approved: slices.Contains(t.approved[tableKey{r.Mode, r.Capability}], r), SupplierCap: r.SupplierCap,
		}
		s.Failures, s.Until = h.condition(r)
		s.Reason, _ = h.refusal(r)
		states = append(states, s)
	}
	slices.SortStableFunc(states, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.Capability, b.Capability), cmp.Compare(a.Model, b.Model))
	})
	return states
}

// condition returns the route's failures in a row and the end of its pause, the zero time for none.
func (h *Health) condition(r *Route) (failures int, until time.Time) {
	if h == nil {
		return 0, time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.routes[r.id]
	if c == nil {
		return 0, time.Time{}
	}
	return c.failures, c.until
}
