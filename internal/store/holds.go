package store

import (
	"math"
	"slices"

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
	for i, h := range holds {
		at := held(Counter{h.Scope, h.Kind})
		for _, earlier := range holds[:i] {
			if earlier.Scope == h.Scope && earlier.Kind == h.Kind {
				at += earlier.Amount
			}
		}
		limit := h.Limit
		if limit <= 0 {
			limit = math.MaxInt64
		}
		if h.Amount > limit-at {
			return &HoldError{Hold: h, Held: at}
		}
	}
	return nil
}

// HoldChange is the change of a counter.
type HoldChange struct {
	Counter
	By int64
}

// HoldChanges returns the changes of the counters when before becomes after, each counter once, in the memory of
// room; before is the zero Task at a creation. A task that ends settles its budget holds to its cost, and its spend
// holds to the suppliers' charges.
func HoldChanges(room []HoldChange, before, after *task.Task) []HoldChange {
	changes := room[:0]
	change := func(h task.Hold, by int64) {
		c := Counter{h.Scope, h.Kind}
		for i := range changes {
			if changes[i].Counter == c {
				changes[i].By += by
				return
			}
		}
		changes = append(changes, HoldChange{c, by})
	}
	ends := after.State.Terminal() && !before.State.Terminal()
	for _, h := range before.Holds {
		change(h, -h.Amount)
		switch {
		case ends && h.Kind == task.HoldBudget:
			change(h, int64(after.Cost))
		case ends && h.Kind == task.HoldSpend:
			change(h, int64(after.Spent()))
		}
	}
	for _, h := range after.Holds {
		change(h, h.Amount)
	}
	return slices.DeleteFunc(changes, func(c HoldChange) bool { return c.By == 0 })
}
