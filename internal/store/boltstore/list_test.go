package boltstore_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// TestListIsBounded: a page that finds little looks at no more than its bound and leads on, and locks the rows that
// the tree doesn't have yet a few times, however many rows it looks at.
func TestListIsBounded(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	const all = 2*boltstore.ListWindow + 500
	oldest := freshTask()
	oldest.Metadata = task.Metadata{"team": "search"}
	if _, err := db.CreateTask(t.Context(), oldest); err != nil {
		t.Fatal(err)
	}
	for range all - 1 {
		mustCreate(t, db)
	}
	if _, err := db.RequestCancel(t.Context(), oldest.Scope, oldest.ID); err != nil {
		t.Fatal(err)
	}
	for _, q := range []store.ListQuery{{State: task.Canceled}, {Metadata: oldest.Metadata}} {
		q.Scope, q.Limit = victimScope, 1
		if locks, err := boltstore.ListLocks(db, q); err != nil || locks > 20 {
			t.Errorf("%v: one page takes %d locks (%v), want 20 at most", q, locks, err)
		}
		if diff := cmp.Diff([][]string{{}, {}, {oldest.ID}}, mustWalk(t, db, q, all)); diff != "" {
			t.Errorf("%v: pages (-want +got)\n%s", q, diff)
		}
	}
}

// mustWalk returns the ids on every page, of which there are so many at most.
func mustWalk(t *testing.T, db *boltstore.DB, q store.ListQuery, most int) (pages [][]string) {
	t.Helper()
	for len(pages) <= most {
		page, err := db.ListTasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, one := range page.Tasks {
			ids = append(ids, one.ID)
		}
		pages = append(pages, ids)
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	return pages
}

// TestListNamesNoOtherTask: the cursor of a page that looked at tasks outside its query doesn't name them, and the
// next page goes on right there.
func TestListNamesNoOtherTask(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	var ids []string
	for range boltstore.ListWindow + 1 {
		ids = append(ids, mustCreate(t, db).ID)
	}
	oldest := slices.Min(ids)
	page, err := db.ListTasks(t.Context(), store.ListQuery{Scope: victimScope, Scopes: []string{"image.*"}})
	if err != nil || len(page.Tasks) != 0 || page.Next == "" || slices.Contains(ids, page.Next) {
		t.Fatalf("%d tasks, next %q, which is a task: %v; %v", len(page.Tasks), page.Next, slices.Contains(ids, page.Next), err)
	}
	page, err = db.ListTasks(t.Context(), store.ListQuery{Scope: victimScope, Cursor: page.Next})
	if err != nil || len(page.Tasks) != 1 || page.Tasks[0].ID != oldest || page.Next != "" {
		t.Errorf("after it %d tasks, next %q; %v", len(page.Tasks), page.Next, err)
	}
}
