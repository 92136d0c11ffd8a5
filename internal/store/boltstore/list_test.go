package boltstore_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// TestListIsBounded: a page that finds little looks at no more than its bound and leads on, and locks what the
// tree doesn't have yet a few times, however many rows it looks at.
func TestListIsBounded(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	const all = 2*boltstore.ListWindow + 500
	oldest := mustCreate(t, db)
	for range all - 1 {
		mustCreate(t, db)
	}
	if _, err := db.RequestCancel(t.Context(), oldest.Scope, oldest.ID); err != nil {
		t.Fatal(err)
	}
	q := store.ListQuery{Scope: victimScope, State: task.Canceled, Limit: 1}
	if locks, err := boltstore.ListLocks(db, q); err != nil || locks > 20 {
		t.Errorf("one page takes %d locks (%v), want 20 at most", locks, err)
	}
	var found [][]string
	for {
		page, err := db.ListTasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, one := range page.Tasks {
			ids = append(ids, one.ID)
		}
		found = append(found, ids)
		if page.Next == "" || len(found) > all {
			break
		}
		q.Cursor = page.Next
	}
	if diff := cmp.Diff([][]string{{}, {}, {oldest.ID}}, found); diff != "" {
		t.Errorf("pages (-want +got)\n%s", diff)
	}
}
