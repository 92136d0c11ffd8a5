package boltstore_test

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/clockstep"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// afterStep is the state of three tasks after a step of the clock: one at rest, one leased, one ended.
type afterStep struct {
	Urgent  int           // tasks that pass for late or without a lease
	Twice   int           // leased tasks that are handed out again
	Fenced  bool          // the lease doesn't hold any more
	Removed int           // ended tasks that pass for old
	Left    time.Duration // until the deadline of the one at rest
	Found   bool          // the ended one, under its key
}

// stepClock opens a store, steps its clock and reports the effect.
func stepClock(t *testing.T, now func(offset time.Duration) time.Time, by time.Duration) afterStep {
	t.Helper()
	var offset atomic.Int64
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true,
		Now: func() time.Time { return now(time.Duration(offset.Load())) },
	})
	if err := db.Renew(t.Context(), "watched", time.Minute); err != nil {
		t.Fatal(err)
	}
	node := "watched"
	claim := func(lines ...store.Line) []store.Lease {
		leases, err := db.Claim(t.Context(), store.ClaimRequest{Node: node, Lines: lines, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return leases
	}
	line := store.Line{Mode: task.Live, Capability: "text.chat"}
	ended := mustCreate(t, db)
	fail := task.Fail(task.FailureOf(fault.New(fault.InvalidRequest, "no")))
	if _, err := db.Advance(t.Context(), claim(line)[0].Ref, store.Step{Moves: []task.Transition{fail}}); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, db)
	held := claim(line)[0]
	mustCreate(t, db)

	node = testNode
	offset.Store(int64(by))
	got := afterStep{Urgent: len(claim())}
	rest := claim(line)
	got.Twice = len(slices.DeleteFunc(slices.Clone(rest), func(l store.Lease) bool { return l.Task.ID != held.Task.ID }))
	if i := slices.IndexFunc(rest, func(l store.Lease) bool { return l.Task.ID != held.Task.ID }); i >= 0 {
		got.Left = rest[i].Left.Round(time.Minute)
	}
	_, err := db.Advance(t.Context(), held.Ref, store.Step{Progress: new(0.5)})
	got.Fenced = err != nil
	sweep := func() int {
		swept, err := db.Sweep(t.Context(), store.SweepRequest{Retention: 10 * time.Minute, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return swept.Removed
	}
	got.Removed = sweep()
	if !got.Fenced { // it ends while the clock is wrong, which is then set right
		if _, err := db.Advance(t.Context(), held.Ref, store.Step{Moves: []task.Transition{fail}}); err != nil {
			t.Fatal(err)
		}
		offset.Store(0)
		got.Removed += sweep()
	}
	_, err = db.FindTask(t.Context(), ended.Scope, ended.IdempotencyHash)
	got.Found = err == nil
	return got
}

// TestClockThatIsSet steps the wall clock while leases, deadlines and retentions run: they don't end early, and no
// task is handed out twice.
func TestClockThatIsSet(t *testing.T) {
	const year = 365 * 24 * time.Hour
	want := afterStep{Left: time.Hour, Found: true}
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, year, -year} {
		got := stepClock(t, func(offset time.Duration) time.Time { return clockstep.By(time.Now(), offset) }, by)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a step by %s (-want +got):\n%s", by, diff)
		}
	}
}

// TestClockThatIsBelieved is the control: an engine that goes by the wall clock alone ends everything
// early when that is set forward.
func TestClockThatIsBelieved(t *testing.T) {
	got := stepClock(t, func(offset time.Duration) time.Time { return time.Now().Round(0).Add(offset) }, 2*time.Hour)
	if got.Urgent == 0 || !got.Fenced || got.Removed == 0 || got.Found {
		t.Errorf("after a step forward of a clock that is believed: %+v", got)
	}
}

// TestStartAfterAClockWasSetBack stops an engine, sets the clock back by a year and starts it: a task has
// no more time left than it was given.
func TestStartAfterAClockWasSetBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	mustCreate(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, boltstore.Config{Path: path, Now: func() time.Time { return clockstep.By(time.Now(), -365*24*time.Hour) }})
	leases, err := db.Claim(t.Context(), store.ClaimRequest{
		Node: testNode, Lines: []store.Line{{Mode: task.Live, Capability: "text.chat"}}, Limit: 1,
	})
	if err != nil || len(leases) != 1 || leases[0].Left > time.Hour {
		t.Errorf("%+v %v", leases, err)
	}
}
