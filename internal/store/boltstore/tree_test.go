package boltstore_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// TestTakenIDs: an id is taken wherever its task is, whichever ids came before and after it.
func TestTakenIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	older, first, newer := freshTask(), freshTask(), freshTask()
	taken := func(where string, all ...store.NewTask) {
		t.Helper()
		for i, n := range all {
			n.IdempotencyHash = freshTask().IdempotencyHash
			if _, err := db.CreateTask(t.Context(), n); !errors.Is(err, store.ErrExists) {
				t.Errorf("%s: task %d again: %v, want ErrExists", where, i, err)
			}
		}
	}
	create := func(n store.NewTask) {
		t.Helper()
		if c, err := db.CreateTask(t.Context(), n); err != nil || c.Admit != store.AdmitCreated {
			t.Fatalf("CreateTask: %q, %v", c.Admit, err)
		}
	}
	create(first)
	taken("in the log", first)
	mustFlush(t, db)
	taken("in the tree", first)
	create(newer)
	create(older)
	taken("around the tree's last", older, first, newer)
	mustFlush(t, db)
	taken("all in the tree", older, first, newer)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	taken("after a start", older, first, newer)
}

// TestTakenIDWrittenThrough: the same holds for a group that was too large for the log and went to the tree at once.
func TestTakenIDWrittenThrough(t *testing.T) {
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 4 << 20, NoSync: true, FlushAfter: time.Hour,
	})
	n := freshTask()
	n.Input = sizedJSON(1_700_000)
	if _, err := db.CreateTask(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got, err := boltstore.TreeTasks(db); got != 1 || err != nil {
		t.Fatalf("the tree has %d tasks (%v), want the one that was written through", got, err)
	}
	again := freshTask()
	again.ID = n.ID
	if _, err := db.CreateTask(t.Context(), again); !errors.Is(err, store.ErrExists) {
		t.Errorf("the id again: %v, want ErrExists", err)
	}
}

// TestRowsLeaveTheTree: a task's row in the queue's bucket goes when the task ends, whether it came there or the task
// ended before, and beside others that stay.
func TestRowsLeaveTheTree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	cancel := func(n store.NewTask) {
		t.Helper()
		if c, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil || c.State != task.Canceled {
			t.Fatalf("RequestCancel: %q, %v", c.State, err)
		}
	}
	kept, last := mustCreate(t, db), mustCreate(t, db)
	mustFlush(t, db)
	brief := mustCreate(t, db)
	cancel(brief)
	cancel(last)
	mustFlush(t, db)
	got, err := boltstore.OpenRows(db)
	if diff := cmp.Diff([]string{kept.ID}, got); diff != "" || err != nil {
		t.Errorf("rows of open tasks: %v (-want +got)\n%s", err, diff)
	}
	cancel(kept)
	mustFlush(t, db)
	if got, err = boltstore.OpenRows(db); len(got) > 0 || err != nil {
		t.Errorf("rows of open tasks after the last has ended: %v, %v", got, err)
	}
}
