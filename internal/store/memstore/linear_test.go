package memstore_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// shortOps is the short form's number of operations.
const shortOps = 10_000

// restarted is memstore with a restart for a crash.
func restarted(db *memstore.DB, s store.Store) storetest.Engine {
	return storetest.Engine{Store: s, Registry: db, Secrets: db, Crash: func(*testing.T) storetest.Engine {
		db.Restart()
		return restarted(db, s)
	}}
}

func TestLinearizable(t *testing.T) {
	storetest.Linearizable(t, shortOps, func(_ *testing.T, now func() time.Time) storetest.Engine {
		db := memstore.New(now)
		return restarted(db, db)
	})
}

// TestCheckThenActIsFound is the control: an engine whose creation looks first and acts then.
func TestCheckThenActIsFound(t *testing.T) {
	const rounds = 20
	for round := range rounds {
		if !storetest.Linear(t, round, func(_ *testing.T, now func() time.Time) storetest.Engine {
			db := memstore.New(now)
			return restarted(db, &checkThenAct{Store: db, tasks: map[task.Hash]string{}})
		}) {
			t.Logf("found in round %d", round)
			return
		}
	}
	t.Errorf("%d rounds look sound", rounds)
}

// checkThenAct finds tasks by an index of its own, which it reads and writes in two steps.
type checkThenAct struct {
	store.Store

	mu    sync.Mutex
	tasks map[task.Hash]string
}

func (e *checkThenAct) index(h task.Hash) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, ok := e.tasks[h]
	return id, ok
}

func (e *checkThenAct) FindTask(ctx context.Context, s task.Scope, h task.Hash) (task.Task, error) {
	if id, ok := e.index(h); ok {
		return e.GetTask(ctx, s, id)
	}
	return task.Task{}, store.ErrNotFound
}

func (e *checkThenAct) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	h := n.IdempotencyHash
	found, err := e.FindTask(ctx, n.Scope, h)
	if err == nil {
		n.IdempotencyHash = found.IdempotencyHash
		return e.Store.CreateTask(ctx, n)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return store.Created{}, err
	}
	runtime.Gosched()
	copy(n.IdempotencyHash[:], n.ID) // there is no conflict
	c, err := e.Store.CreateTask(ctx, n)
	if err == nil {
		e.mu.Lock()
		e.tasks[h] = n.ID
		e.mu.Unlock()
	}
	return c, err
}
