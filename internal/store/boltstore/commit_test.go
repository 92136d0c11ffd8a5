package boltstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

func mustCreate(t testing.TB, db *boltstore.DB) store.NewTask {
	t.Helper()
	n := freshTask()
	if _, err := db.CreateTask(context.Background(), n); err != nil {
		t.Fatalf("CreateTask: %v", err)
	}
	return n
}

// TestFailingOperationsLeaveTheirGroup puts failing operations between good ones of one commit.
func TestFailingOperationsLeaveTheirGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	own := errors.New("own")
	tasks := []store.NewTask{freshTask(), freshTask(), freshTask()}
	create := func(i int) func() error {
		return func() error {
			_, err := db.CreateTask(t.Context(), tasks[i])
			return err
		}
	}
	errs := boltstore.Together(db,
		create(0),
		func() error { return boltstore.PutSecret(db, "failed", func() error { return own }) },
		create(1),
		func() error { return boltstore.PutSecret(db, "panicked", func() error { panic("no") }) },
		create(2),
	)
	for i, want := range []error{nil, own, nil, boltstore.ErrPanic, nil} {
		if !errors.Is(errs[i], want) {
			t.Errorf("operation %d: got %v, want %v", i, errs[i], want)
		}
	}
	for _, name := range []string{"failed", "panicked"} {
		if s, err := db.Secret(t.Context(), name, 16); err != nil || len(s) != 16 {
			t.Errorf("secret %q: %d bytes (%v), want nothing left of the failed operation", name, len(s), err)
		}
	}
	leases, err := db.Claim(t.Context(), store.ClaimRequest{Node: testNode, Lines: []store.Line{{Mode: task.Live, Capability: "text.chat"}}, Limit: 10})
	if err != nil || len(leases) != len(tasks) {
		t.Errorf("Claim: %d leases (%v), want each task once", len(leases), err)
	}
	stats, err := db.Stats(t.Context())
	if err != nil || stats.ByState[task.Queued] != int64(len(tasks)) {
		t.Errorf("Stats: %v (%v), want %d queued", stats.ByState, err, len(tasks))
	}
	mustBeConsistent(t, db)
}

func TestEndedContext(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := freshTask()
	if _, err := db.CreateTask(ctx, n); !errors.Is(err, context.Canceled) {
		t.Errorf("CreateTask: got %v, want context.Canceled", err)
	}
	if _, err := db.GetTask(ctx, n.Scope, n.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("GetTask: got %v, want context.Canceled", err)
	}
	if _, err := db.GetTask(t.Context(), n.Scope, n.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("GetTask: got %v, want nothing recorded", err)
	}
}

// TestCloseUnderLoad closes while callers write: acknowledged writes are there, the rest is reported.
func TestCloseUnderLoad(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "unitask.db")
		db := mustOpen(t, boltstore.Config{Path: path})
		var mu sync.Mutex
		var acknowledged []store.NewTask
		started := make(chan struct{}, 64)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for {
					n := freshTask()
					_, err := db.CreateTask(context.Background(), n)
					if errors.Is(err, store.ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("CreateTask: %v", err)
						return
					}
					mu.Lock()
					acknowledged = append(acknowledged, n)
					mu.Unlock()
					select {
					case started <- struct{}{}:
					default:
					}
				}
			})
		}
		for range cap(started) {
			<-started
		}
		if err := db.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		wg.Wait()
		again := mustOpen(t, boltstore.Config{Path: path})
		for _, n := range acknowledged {
			if _, err := again.GetTask(t.Context(), n.Scope, n.ID); err != nil {
				t.Fatalf("acknowledged task %s: %v", n.ID, err)
			}
		}
	}
}
