package boltstore_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/store/boltstore"
)

// TestReadAgain: an open task that is read again isn't decoded again.
func TestReadAgain(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	n := freshTask()
	if _, err := db.CreateTask(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(100, func() {
		if got, err := db.GetTask(t.Context(), n.Scope, n.ID); err != nil || got.ID != n.ID {
			t.Errorf("%v, got %q, want %q", err, got.ID, n.ID)
		}
	})
	if most := 4.0; allocations > most {
		t.Errorf("reading it again allocates %.0f times, want %.0f at most", allocations, most)
	}
}

// TestFlushAfter: the log alone has a change for as long as it was told, and no longer.
func TestFlushAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, FlushAfter: time.Minute})
		if _, err := db.CreateTask(t.Context(), freshTask()); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{0, 1} {
			time.Sleep(40 * time.Second)
			synctest.Wait()
			if got, err := boltstore.TreeTasks(db); err != nil || got != want {
				t.Errorf("%v, the tree has %d tasks after %d s, want %d", err, got, 40*(i+1), want)
			}
		}
	})
}
