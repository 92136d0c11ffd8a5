package boltstore_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// TestFlood has one account fill the queue with 100,000 tasks and another come last with one: it has
// the second turn at the latest, and a turn costs no more than in an empty queue.
func TestFlood(t *testing.T) {
	const flood = 100_000
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			for range flood / 1000 {
				n := freshTask()
				n.Scope.Account = "acct_flood"
				if _, err := db.CreateTask(t.Context(), n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	claim := func(limit int) []store.Lease {
		leases, err := db.Claim(t.Context(), store.ClaimRequest{
			Node: testNode, Lines: []store.Line{{Mode: task.Live, Capability: "text.chat"}}, Limit: limit,
		})
		if err != nil {
			t.Fatal(err)
		}
		return leases
	}
	claim(10)
	single := freshTask()
	single.Scope.Account = "acct_single"
	if _, err := db.CreateTask(t.Context(), single); err != nil {
		t.Fatal(err)
	}
	if at := slices.IndexFunc(claim(10), func(l store.Lease) bool { return l.Task.ID == single.ID }); at < 0 || at > 1 {
		t.Errorf("the single task had turn %d of ten, want 0 or 1", at)
	}
	fastest := time.Hour
	for range 5 { // the machine may stand still in one of them
		start := time.Now()
		claim(10)
		fastest = min(fastest, time.Since(start))
	}
	if fastest > time.Second {
		t.Errorf("ten turns took %s and more", fastest)
	}
}
