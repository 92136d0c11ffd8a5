package boltstore

import (
	"context"
	"fmt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// CreateTask implements store.Store.
func (db *DB) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	row, ok := parseID(n.ID)
	if !ok {
		return store.Created{}, fmt.Errorf("boltstore: %q is no task id", n.ID)
	}
	c, ok := db.creations.Get().(*creation)
	if !ok {
		c = &creation{}
		c.run = c.create
	}
	c.writes, c.admits, c.n, c.row = true, true, n, row
	err := db.do(ctx, &c.op)
	created := c.created
	*c = creation{op: op{run: c.run}}
	db.creations.Put(c)
	if err != nil {
		return store.Created{}, err
	}
	return created, nil
}

// creation is a CreateTask and its result. It is the committer's until it is answered, and empty when it serves
// again.
type creation struct {
	op
	n       store.NewTask
	row     rowID // of its id
	created store.Created
}

func (c *creation) create(x *txn) (err error) {
	c.created, err = x.create(&c.n, c.row)
	return err
}

func (x *txn) create(n *store.NewTask, row rowID) (store.Created, error) {
	d := idemDigest(n.Scope, n.IdempotencyHash)
	found, ok, err := x.find(n, d)
	if err != nil {
		return store.Created{}, err
	}
	admit := store.AdmitCreated
	if ok {
		if admit, again := n.Repeats(&found); again {
			return store.Created{Task: found, Admit: admit, Lease: x.leaseOfFirst(&found, n.First)}, nil
		}
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
		of, _ := parseID(found.ID)
		c, err := x.admit(of, found, t, admit, n.First)
		x.limit(n.Holds)
		return c, err
	}
	return x.createNew(n, row, d)
}

// find returns the task under n's idempotency hash, this group's own included; false if it is missing.
func (x *txn) find(n *store.NewTask, d digest) (task.Task, bool, error) {
	at := x.db.idem.Find(d)
	if row, ok := x.idem[d]; ok {
		at.Row, at.Logged = row, true
	}
	if at.None() {
		return task.Task{}, false, nil
	}
	return findTask(&x.reader, n.Scope, n.IdempotencyHash, d, at, runsOf(&x.reader, at))
}

// createNew records a task with its rows in the other buckets.
func (x *txn) createNew(n *store.NewTask, row rowID, d digest) (store.Created, error) {
	if x.taken(row) {
		return store.Created{}, store.ErrExists
	}
	t, err := n.Record(x.wall)
	if err != nil {
		return store.Created{}, err
	}
	c, err := x.admit(row, task.Task{}, t, store.AdmitCreated, n.First)
	if err != nil {
		return c, err
	}
	x.limit(n.Holds)
	listed := scopeRowOf(n.Scope, row)
	if err := x.put(bucketByScope, string(listed[:]), []byte(n.Capability)); err != nil {
		return c, err
	}
	x.idem[d] = row
	return c, nil
}

// taken reports whether there is such a task. A new one is mostly beyond all that the tree has.
func (x *txn) taken(row rowID) bool {
	record, known := x.pending(bucketTasks, row[:])
	if !known && string(row[:]) <= x.db.last {
		record = x.get(bucketTasks, row[:])
	}
	return record != nil
}

// leaseOfFirst returns the lease of a task that was accepted before, if the node that first names has it.
func (x *txn) leaseOfFirst(t *task.Task, first *store.First) *store.Lease {
	row, _ := parseID(t.ID)
	e := x.db.index.tasks[row]
	if e == nil || first == nil {
		return nil
	}
	l := x.db.index.leaseOf(e)
	if l == nil || l.session.node != first.Node {
		return nil
	}
	given := x.given(e, l)
	return &given
}

// admit stores the accepted task, leased and started if requested and there is room.
func (x *txn) admit(row rowID, before, t task.Task, admit store.Admit, first *store.First) (store.Created, error) {
	var s *session
	if first != nil {
		s = x.session(first.Node)
	}
	if s == nil {
		queued := t // moves to the heap; t, which mostly goes on as a lease, doesn't
		return store.Created{Task: t, Admit: admit}, x.save(row, &before, &queued, nil, 0)
	}
	l := &lease{session: s, epoch: x.db.nextEpoch()}
	given := &store.Lease{Ref: store.LeaseRef{TaskID: t.ID, Epoch: l.epoch}, Task: t, Left: t.DeadlineAt.Sub(x.wall)}
	if plan, ok := first.Pick(t, x.inFlight); ok {
		started, err := store.Begin(t, plan, x.wall)
		if err != nil {
			return store.Created{}, err
		}
		started.Revision = t.Revision // one commit, one revision
		given.Task = started
	}
	l.task = &given.Task
	return store.Created{Task: given.Task, Admit: admit, Lease: given}, x.save(row, &before, &given.Task, l, 0)
}

func (x *txn) inFlight(key string) int { return x.db.index.inFlight[key] }
