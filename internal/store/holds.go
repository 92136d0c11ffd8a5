package store

import (
	"math"

	"unitask/internal/task"
)

// Counter names a bounded counter.
type Counter struct {
	Scope string
	Kind  task.HoldKind
}

// CheckHolds returns a *HoldError for the first hold that its counter has no room for; several
// holds of one counter add up. held reads a counter.
func CheckHolds(holds []task.Hold, held func(Counter) int64) error {
	taken := map[Counter]int64{}
	for _, h := range holds {
		c := Counter{h.Scope, h.Kind}
		at := held(c) + taken[c]
		limit := h.Limit
		if limit <= 0 {
			limit = math.MaxInt64
		}
		if h.Amount > limit-at {
			return &HoldError{Hold: h, Held: at}
		}
		taken[c] += h.Amount
	}
	return nil
}

// HoldChanges returns what the counters change by when before becomes after; before is the zero
// Task at a creation. A task that ends settles its budget holds to its cost.
func HoldChanges(before, after task.Task) map[Counter]int64 {
	changes := map[Counter]int64{}
	ends := after.State.Terminal() && !before.State.Terminal()
	for _, h := range before.Holds {
		c := Counter{h.Scope, h.Kind}
		changes[c] -= h.Amount
		if ends && h.Kind == task.HoldBudget {
			changes[c] += int64(after.Cost)
		}
	}
	for _, h := range after.Holds {
		changes[Counter{h.Scope, h.Kind}] += h.Amount
	}
	for c, n := range changes {
		if n == 0 {
			delete(changes, c)
		}
	}
	return changes
}
