package boltstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// TestGauges: the oldest task in the queue is found behind older ones at work, and leases are counted.
func TestGauges(t *testing.T) {
	at := time.Now()
	var operations int
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), Now: func() time.Time { return at },
		OnCommit: func(n int, took time.Duration) {
			if took <= 0 {
				t.Errorf("a commit took %v", took)
			}
			operations += n
		},
	})
	create := func(age time.Duration, first *store.First) {
		t.Helper()
		n := benchTask()
		n.ID, n.First = task.NewID(task.PrefixTask, at.Add(-age)), first
		if _, err := db.CreateTask(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	create(time.Hour, &store.First{Node: testNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}})
	create(time.Minute, nil)
	create(time.Second, nil)
	got, err := db.Gauges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Free <= 0 || got.Bytes <= 0 || got.Oldest < time.Minute || got.Oldest > time.Minute+time.Millisecond {
		t.Errorf("got %+v", got)
	}
	got.Free, got.Bytes, got.Oldest = 0, 0, 0
	want := store.Gauges{
		Stats:  store.Stats{ByState: map[task.State]int64{task.Queued: 2, task.Running: 1, task.Transferring: 0}},
		Leases: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
	if operations != 3 {
		t.Errorf("OnCommit heard of %d operations, want 3", operations)
	}
}
