package boltstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// fill creates tasks with a large input until there is no room, and returns those accepted.
func fill(t *testing.T, db *boltstore.DB, clock *storetest.Clock) []store.Lease {
	t.Helper()
	input, err := json.Marshal(string(bytes.Repeat([]byte("x"), 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	var accepted []store.Lease
	for {
		n := freshTask()
		n.ID, n.Input = task.NewID(task.PrefixTask, clock.Now()), input
		n.First = &store.First{Node: testNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
		c, err := db.CreateTask(t.Context(), n)
		if errors.Is(err, store.ErrFull) {
			return accepted
		}
		if err != nil {
			t.Fatalf("CreateTask: %v", err)
		}
		if accepted = append(accepted, *c.Lease); len(accepted) > 100_000 {
			t.Fatal("the store never fills up")
		}
	}
}

// endAll fails every task, as its worker does.
func endAll(t *testing.T, db *boltstore.DB, leases []store.Lease) {
	t.Helper()
	if refused := endSome(t, db, leases); len(refused) > 0 {
		t.Fatalf("on a full store %d of %d can't end", len(refused), len(leases))
	}
}

// endSome does so and returns those for which there was no room.
func endSome(t *testing.T, db *boltstore.DB, leases []store.Lease) (refused []store.Lease) {
	t.Helper()
	for _, l := range leases {
		_, err := db.Advance(t.Context(), l.Ref, store.Step{
			Close: &task.Closing{State: task.Rejected, Code: fault.InvalidRequest},
			Moves: []task.Transition{task.Fail(task.FailureOf(fault.New(fault.InvalidRequest, "no")))},
		})
		if errors.Is(err, store.ErrFull) {
			refused = append(refused, l)
		} else if err != nil {
			t.Fatalf("Advance: %v", err)
		}
	}
	return refused
}

func sweepAll(t *testing.T, db *boltstore.DB) (removed int) {
	t.Helper()
	for {
		s, err := db.Sweep(t.Context(), store.SweepRequest{Retention: time.Hour, Limit: 100})
		if err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		if removed += s.Removed; s.Removed == 0 {
			return removed
		}
	}
}

// wantFull fails the test unless the store says whether it refuses new tasks.
func wantFull(t *testing.T, db *boltstore.DB, want bool) {
	t.Helper()
	if s, err := db.Stats(t.Context()); err != nil || s.Full != want {
		t.Errorf("full: %v, want %v (%v)", s.Full, want, err)
	}
}

// proveFullStore fills the store and shows that reads and ends go on, and that it recovers.
func proveFullStore(t *testing.T, db *boltstore.DB, clock *storetest.Clock) {
	t.Helper()
	for round := range 3 {
		wantFull(t, db, false)
		accepted := fill(t, db, clock)
		wantFull(t, db, true)
		if len(accepted) == 0 {
			t.Fatalf("round %d: no room at all", round)
		}
		if _, err := db.GetTask(t.Context(), victimScope, accepted[0].Ref.TaskID); err != nil {
			t.Fatalf("GetTask on a full store: %v", err)
		}
		if _, err := db.RequestCancel(t.Context(), victimScope, accepted[0].Ref.TaskID); err != nil {
			t.Fatalf("RequestCancel on a full store: %v", err)
		}
		endAll(t, db, accepted)
		clock.Advance(2 * time.Hour)
		if got := sweepAll(t, db); got != len(accepted) {
			t.Errorf("round %d: swept %d, want %d", round, got, len(accepted))
		}
		t.Logf("round %d: %d tasks until full", round, len(accepted))
	}
	mustBeConsistent(t, db)
}

func TestFullFile(t *testing.T) {
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 8 << 20, NoSync: true, Now: clock.Now,
	})
	proveFullStore(t, db, clock)
}

// TestFullCommit meets the limit within a commit: the new task is refused, the others are kept.
func TestFullCommit(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 4 << 20, NoSync: true})
	small, large, secret := freshTask(), freshTask(), []byte(nil)
	large.Input = append(append([]byte(`"`), bytes.Repeat([]byte("x"), 5<<20)...), '"')
	errs := boltstore.Together(db,
		func() (err error) { secret, err = db.Secret(t.Context(), "kept", 16); return err },
		func() error { _, err := db.CreateTask(t.Context(), large); return err },
	)
	if errs[0] != nil || len(secret) != 16 || !errors.Is(errs[1], store.ErrFull) {
		t.Errorf("got %v, want the secret kept and the task refused as full", errs)
	}
	if _, err := db.GetTask(t.Context(), large.Scope, large.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused task: got %v, want ErrNotFound", err)
	}
	leases, err := db.Claim(t.Context(), store.ClaimRequest{Node: testNode, Lines: []store.Line{{Mode: task.Live, Capability: "text.chat"}}, Limit: 1})
	if err != nil || len(leases) != 0 {
		t.Errorf("Claim: %d leases (%v), want none of the refused task", len(leases), err)
	}
	if _, err := db.CreateTask(t.Context(), small); err != nil {
		t.Errorf("a task that fits: %v", err)
	}
	mustBeConsistent(t, db)
}
