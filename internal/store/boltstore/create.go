package boltstore

import (
	"context"
	"errors"
	"fmt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// CreateTask implements store.Store.
func (db *DB) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	if _, ok := parseID(n.ID); !ok {
		return store.Created{}, fmt.Errorf("boltstore: %q is no task id", n.ID)
	}
	var c store.Created
	err := db.do(ctx, &op{writes: true, admits: true, run: func(x *txn) (err error) {
		c, err = x.create(n)
		return err
	}})
	if err != nil {
		return store.Created{}, err
	}
	return c, nil
}

func (x *txn) create(n store.NewTask) (store.Created, error) {
	d := idemDigest(n.Scope, n.IdempotencyHash)
	found, ok, err := x.find(n, d)
	if err != nil {
		return store.Created{}, err
	}
	admit := store.AdmitCreated
	if ok {
		if admit, err = n.Admit(found); err != nil || admit == store.AdmitReplayed {
			return store.Created{Task: found, Admit: admit}, err
		}
	}
	if !x.room() {
		return store.Created{}, store.ErrFull
	}
	if err := store.CheckHolds(n.Holds, x.read); err != nil {
		return store.Created{}, err
	}
	if admit == store.AdmitReopened {
		t, err := n.Reopen(found, x.wall)
		if err != nil {
			return store.Created{}, err
		}
		c, err := x.admit(found, t, admit, n.First)
		x.limit(n.Holds)
		return c, err
	}
	return x.createNew(n, d)
}

// find returns the task under n's idempotency hash, this group's own included; false where there is
// none.
func (x *txn) find(n store.NewTask, d digest) (task.Task, bool, error) {
	row, logged := x.idem[d]
	if !logged {
		if x.db.idem.absent(d) {
			return task.Task{}, false, nil
		}
		row, logged = x.db.idem.lookup(d)
	}
	return findTask(&x.reader, n.Scope, n.IdempotencyHash, d, row, logged)
}

// createNew records a task with its rows in the other buckets.
func (x *txn) createNew(n store.NewTask, d digest) (store.Created, error) {
	row, _ := parseID(n.ID)
	if _, err := x.load(row); !errors.Is(err, store.ErrNotFound) {
		return store.Created{}, errors.Join(store.ErrExists, err)
	}
	t, err := n.Record(x.wall)
	if err != nil {
		return store.Created{}, err
	}
	c, err := x.admit(task.Task{}, t, store.AdmitCreated, n.First)
	if err != nil {
		return c, err
	}
	x.limit(n.Holds)
	if err := x.put(bucketByScope, scopeRow(n.Scope, row), []byte(n.Capability)); err != nil {
		return c, err
	}
	x.idem[d] = row
	return c, nil
}

// admit stores the task that comes in, leased and begun where that was asked for and there is room.
func (x *txn) admit(before, t task.Task, admit store.Admit, first *store.First) (store.Created, error) {
	if first == nil {
		queued := t // moves to the heap; t, which mostly goes on as a lease, doesn't
		return store.Created{Task: t, Admit: admit}, x.save(&before, &queued, nil, 0)
	}
	l := &lease{node: first.Node, epoch: x.db.nextEpoch(), expires: x.now.after(first.Term)}
	given := &store.Lease{Ref: store.LeaseRef{TaskID: t.ID, Epoch: l.epoch}, Task: t, Left: t.DeadlineAt.Sub(x.wall)}
	if plan, ok := first.Pick(t, x.inFlight); ok {
		begun, err := store.Begin(t, plan, x.wall)
		if err != nil {
			return store.Created{}, err
		}
		begun.Revision = t.Revision // one commit, one revision
		given.Task = begun
	}
	return store.Created{Task: given.Task, Admit: admit, Lease: given}, x.save(&before, &given.Task, l, 0)
}

func (x *txn) inFlight(key string) int { return x.db.index.inFlight[key] }
