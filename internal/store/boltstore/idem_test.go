package boltstore_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// TestIdempotencyOfAGroup: the tasks of one group are found under their keys after a start, those that came
// alone too.
func TestIdempotencyOfAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var groups []int
		path := filepath.Join(t.TempDir(), "unitask.db")
		db := mustOpen(t, boltstore.Config{Path: path, NoSync: true, OnCommit: func(operations int, _ time.Duration) {
			groups = append(groups, operations)
			time.Sleep(time.Second) // until all others wait for the next commit
		}})
		tasks := make([]store.NewTask, 20)
		var created sync.WaitGroup
		for i := range tasks {
			tasks[i] = freshTask()
			tasks[i].IdempotencyHash = hashOf(uint64(i))
			created.Go(func() {
				if i > 0 {
					time.Sleep(time.Millisecond)
				}
				if _, err := db.CreateTask(context.Background(), tasks[i]); err != nil {
					t.Error(err)
				}
			})
		}
		created.Wait()
		if diff := cmp.Diff([]int{1, len(tasks) - 1}, groups); diff != "" {
			t.Errorf("groups (-want +got)\n%s", diff)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		again := mustOpen(t, boltstore.Config{Path: path, NoSync: true})
		for _, n := range tasks {
			if found, err := again.FindTask(context.Background(), n.Scope, n.IdempotencyHash); err != nil || found.ID != n.ID {
				t.Errorf("under the key of %s: %q, %v", n.ID, found.ID, err)
			}
		}
	})
}
