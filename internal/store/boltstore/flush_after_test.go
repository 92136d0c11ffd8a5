package boltstore_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/store/boltstore"
)

// TestFlushAfter checks that a change is in the log alone for Config.FlushAfter, and then in the tree.
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
