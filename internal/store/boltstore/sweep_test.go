package boltstore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// mustCreateAt creates a task whose id and whose times are the clock's.
func mustCreateAt(t *testing.T, db *boltstore.DB, clock *storetest.Clock) store.NewTask {
	t.Helper()
	n := freshTask()
	n.ID = task.NewID(task.PrefixTask, clock.Now())
	if _, err := db.CreateTask(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n
}

// mustFail ends a task with a failure after which it may be reopened.
func mustFail(t *testing.T, db *boltstore.DB, id string) {
	t.Helper()
	leases, err := db.Claim(t.Context(), store.ClaimRequest{
		Node: testNode, Lines: []store.Line{{Mode: victimScope.Mode, Capability: "text.chat"}}, Limit: 1,
	})
	if err != nil || len(leases) != 1 || leases[0].Ref.TaskID != id {
		t.Fatalf("Claim: %v, %v", leases, err)
	}
	failed := task.Fail(task.FailureOf(fault.New(fault.ProviderUnavailable, "no")))
	if _, err := db.Advance(t.Context(), leases[0].Ref, store.Step{Moves: []task.Transition{failed}}); err != nil {
		t.Fatal(err)
	}
}

// TestSweepDropsRuns: an idempotency run goes with the last of its tasks and not before, whichever of them that
// is, and a key that is still in use is replayed.
func TestSweepDropsRuns(t *testing.T) {
	const length, all = 4, 40
	for place := range length {
		t.Run(fmt.Sprint("kept_", place), func(t *testing.T) {
			clock := storetest.NewClock()
			db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, Now: clock.Now})
			boltstore.SetRunLength(db, length)
			var kept store.NewTask
			for i := range all {
				clock.Advance(time.Millisecond)
				n := mustCreateAt(t, db, clock)
				mustFlush(t, db)
				if i == 20+place { // runs begin at multiples of their length
					kept = n
					continue
				}
				if _, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil {
					t.Fatal(err)
				}
			}
			if got := runs(t, db); got != all/length {
				t.Fatalf("%d runs of %d tasks, want %d", got, all, all/length)
			}
			clock.Advance(2 * time.Hour)
			if got := sweepAll(t, db); got != all-1 {
				t.Errorf("swept %d, want %d", got, all-1)
			}
			if got := runs(t, db); got != 1 {
				t.Errorf("%d runs, want the one of the task that is left", got)
			}
			mustReplay(t, db, kept)
			if _, err := db.RequestCancel(t.Context(), kept.Scope, kept.ID); err != nil {
				t.Fatal(err)
			}
			clock.Advance(2 * time.Hour)
			sweepAll(t, db)
			if got := runs(t, db); got != 0 {
				t.Errorf("%d runs, want none once the last task is gone", got)
			}
		})
	}
}

// mustReplay asserts that the task's request finds it again.
func mustReplay(t *testing.T, db *boltstore.DB, n store.NewTask) {
	t.Helper()
	again := n
	again.ID = freshID()
	if c, err := db.CreateTask(t.Context(), again); err != nil || c.Admit != store.AdmitReplayed || c.Task.ID != n.ID {
		t.Errorf("the request of %s again: %s %q, %v", n.ID, c.Admit, c.Task.ID, err)
	}
}

// TestKeysOfAFailedRun: without room for a run, its keys belong to the log as before, beside those that came
// meanwhile.
func TestKeysOfAFailedRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true, FlushAfter: time.Hour})
	var all []store.NewTask
	create := func(n int) {
		for range n {
			all = append(all, mustCreate(t, db))
		}
	}
	wantAll := func(when string) {
		t.Helper()
		for i, n := range all {
			if found, err := db.FindTask(t.Context(), n.Scope, n.IdempotencyHash); err != nil || found.ID != n.ID {
				t.Errorf("%s: under the key of task %d: %q, %v", when, i, found.ID, err)
			}
			mustReplay(t, db, n)
		}
	}
	create(4)
	boltstore.FailRun(db, func() {
		create(3)
		wantAll("on the way")
	})
	wantAll("after it failed")
	boltstore.SetRunLength(db, 4)
	create(1)
	mustFlush(t, db)
	if got := runs(t, db); got != 1 {
		t.Errorf("%d runs, want one of all keys", got)
	}
	wantAll("in the next run")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	wantAll("after a start")
}

// endedTasks creates tasks and cancels them, and lets their retention of an hour pass.
func endedTasks(t *testing.T, db *boltstore.DB, clock *storetest.Clock, n int) {
	t.Helper()
	for range n {
		clock.Advance(time.Millisecond)
		n := mustCreateAt(t, db, clock)
		if _, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(2 * time.Hour)
}

// TestSweepLeavesTurns: a sweep removes few rows in each turn of the committer, so that others wait for no more
// than that, and few in each flush of the tree.
func TestSweepLeavesTurns(t *testing.T) {
	clock := storetest.NewClock()
	var commits atomic.Int64
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, Now: clock.Now, FlushAfter: 100 * time.Hour,
		OnCommit: func(int, time.Duration) { commits.Add(1) },
	})
	const all = boltstore.SweepFlush + boltstore.MaxSweep
	endedTasks(t, db, clock, all)
	mustFlush(t, db)
	commits.Store(0)
	s, err := db.Sweep(t.Context(), store.SweepRequest{Retention: time.Hour, Limit: 1 << 20})
	if err != nil || s.Removed != boltstore.MaxSweep {
		t.Fatalf("Sweep: %+v, %v, want %d removed", s, err, boltstore.MaxSweep)
	}
	if least := int64(boltstore.MaxSweep / boltstore.SweepStep); commits.Load() < least {
		t.Errorf("%d removals in %d turns, want at least %d", s.Removed, commits.Load(), least)
	}
	sweepAll(t, db)
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		left, err := boltstore.TreeTasks(db)
		if err != nil {
			t.Fatal(err)
		}
		if left <= boltstore.MaxSweep { // no timer and no amount of bytes brought them there
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the tree has %d tasks left of %d: their removal waits for one flush", left, all)
		}
	}
}

// TestSweepReadsBesideTheCommitter: expired rows are found while the committer is at work, and removed only if they
// are unchanged. A task that was reopened meanwhile stays.
func TestSweepReadsBesideTheCommitter(t *testing.T) {
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, Now: clock.Now})
	var failed []store.NewTask
	for range 3 {
		clock.Advance(time.Millisecond)
		failed = append(failed, mustCreateAt(t, db, clock))
		mustFail(t, db, failed[len(failed)-1].ID)
	}
	clock.Advance(2 * time.Hour)
	again := failed[1]
	again.ID = freshID()
	queue, release := boltstore.HoldCommitter(db)
	reopened, swept := make(chan error, 1), make(chan int, 1)
	queue(func() {
		_, err := db.CreateTask(context.Background(), again)
		reopened <- err
	})
	queue(func() { // its first operation is the removal of its findings
		s, err := db.Sweep(context.Background(), store.SweepRequest{Retention: time.Hour, Limit: 10})
		if err != nil {
			t.Error(err)
		}
		swept <- s.Removed
	})
	release()
	if err := <-reopened; err != nil {
		t.Fatal(err)
	}
	if got := <-swept; got != 2 {
		t.Errorf("swept %d, want 2", got)
	}
	page, err := db.ListTasks(t.Context(), store.ListQuery{Scope: victimScope})
	if err != nil {
		t.Fatal(err)
	}
	left := slices.Collect(func(yield func(string) bool) {
		for _, one := range page.Tasks {
			if !yield(fmt.Sprint(one.ID, " ", one.State)) {
				return
			}
		}
	})
	if want := []string{fmt.Sprint(failed[1].ID, " ", task.Queued)}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func runs(t *testing.T, db *boltstore.DB) int {
	t.Helper()
	n, err := boltstore.Runs(db)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSweepStepsAreShort: a sweep says how long one of its turns held up the others, and that is short however much
// there is to remove. The bound is for slow machines under load; half of the sweeps have to keep it.
func TestSweepStepsAreShort(t *testing.T) {
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, Now: clock.Now, SweepPause: time.Millisecond,
	})
	const sweeps, most = 5, 50 * time.Millisecond
	endedTasks(t, db, clock, sweeps*boltstore.MaxSweep)
	mustFlush(t, db)
	var longest []time.Duration
	for range sweeps {
		s, err := db.Sweep(t.Context(), store.SweepRequest{Retention: time.Hour, Limit: 1 << 20})
		if err != nil || s.Removed == 0 || s.Longest <= 0 {
			t.Fatalf("Sweep: %+v, %v", s, err)
		}
		longest = append(longest, s.Longest)
	}
	slices.Sort(longest)
	if longest[sweeps/2] > most {
		t.Errorf("the longest steps took %v, want %v at most", longest, most)
	}
	t.Log(longest)
}
