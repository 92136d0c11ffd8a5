package boltstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// TestSweepDropsRuns: an idempotency run goes with the last of its tasks.
func TestSweepDropsRuns(t *testing.T) {
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, Now: clock.Now})
	boltstore.SetRunLength(db, 4)
	var kept task.Task
	for i := range 40 {
		clock.Advance(time.Millisecond)
		n := freshTask()
		n.ID = task.NewID(task.PrefixTask, clock.Now())
		c, err := db.CreateTask(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		mustFlush(t, db)
		if i == 21 {
			kept = c.Task
			continue
		}
		if _, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := runs(t, db); got < 9 {
		t.Fatalf("%d runs of 40 tasks, want at least 9", got)
	}
	clock.Advance(2 * time.Hour)
	if got := sweepAll(t, db); got != 39 {
		t.Errorf("swept %d, want 39", got)
	}
	if got := runs(t, db); got != 1 {
		t.Errorf("%d runs, want the one of the task that is left", got)
	}
	found, err := db.FindTask(t.Context(), kept.Scope, kept.IdempotencyHash)
	if err != nil || found.ID != kept.ID {
		t.Errorf("FindTask: %q (%v), want %q", found.ID, err, kept.ID)
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
