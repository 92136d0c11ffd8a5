package storetest

import (
	"fmt"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// sweep sweeps until there is no more to do, and returns how much was removed.
func (e *env) sweep(retention time.Duration, limit int) int {
	e.Helper()
	total := 0
	for range 100 {
		s, err := e.Store.Sweep(e.Context(), store.SweepRequest{Retention: retention, Limit: limit})
		if err != nil {
			e.Fatalf("Sweep: %v", err)
		}
		if s.Removed > limit && !e.SweepsLate {
			e.Fatalf("Sweep removed %d, want %d at most", s.Removed, limit)
		}
		if s.Removed == 0 {
			return total
		}
		total += s.Removed
	}
	e.Fatal("Sweep without an end")
	return 0
}

func testSweep(e *env) {
	const retention = 24 * time.Hour
	sweep := func(kept time.Duration) int { return e.sweep(kept, 3) }
	// pass lets time pass with its upkeep: an engine may remove tasks with those that ended at about the same time.
	pass := func(d time.Duration) (removed int) {
		const steps = 16
		for range steps {
			e.clock.Advance(d / steps)
			removed += sweep(retention)
		}
		return removed
	}
	var old []task.Task
	for i := range 10 {
		old = append(old, e.create(e.request(fmt.Sprint("key", i))).Task)
	}
	for _, t := range old[2:] {
		if _, err := e.Store.RequestCancel(e.Context(), acme, t.ID); err != nil {
			e.Fatal(err)
		}
	}
	e.wantSame("nothing is old", sweep(retention), 0)
	e.wantSame("nothing is old enough", pass(retention), 0)
	if _, err := e.Store.RequestCancel(e.Context(), acme, old[1].ID); err != nil { // ended late
		e.Fatal(err)
	}
	young := e.create(e.request("young")).Task
	e.clock.Advance(time.Second)
	e.wantSame("kept for ever", sweep(0), 0)
	removed := sweep(retention)
	if e.SweepsLate {
		removed += pass(retention / 4)
	}
	e.wantSame("removed", removed, 8)
	e.wantSame("left", e.walk(store.ListQuery{Scope: acme, Limit: 5}), []string{young.ID, old[1].ID, old[0].ID})
	_, err := e.Store.GetTask(e.Context(), acme, old[5].ID)
	e.wantErr("GetTask of a removed one", err, store.ErrNotFound)
	_, err = e.Store.FindTask(e.Context(), acme, old[5].IdempotencyHash)
	e.wantErr("FindTask of a removed one", err, store.ErrNotFound)
	again := e.request("key5")
	again.Fingerprint = hashOf("something else")
	e.wantSame("its key again", e.create(again).Admit, store.AdmitCreated)
	found, err := e.Store.FindTask(e.Context(), acme, again.IdempotencyHash)
	e.wantErr("FindTask", err, nil)
	e.wantSame("FindTask", found.ID, again.ID)

	e.clock.Advance(retention)
	removed = sweep(retention)
	if e.SweepsLate {
		removed += pass(retention / 4)
	}
	e.wantSame("the one that ended late", removed, 1)
}
