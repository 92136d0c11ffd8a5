package pgstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// CreateTask implements store.Store.
func (db *DB) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	if !task.ValidID(task.PrefixTask, n.ID) {
		return store.Created{}, fmt.Errorf("pgstore: %q is no task id", n.ID)
	}
	d := digestOf(n.Scope, n.IdempotencyHash)
	var c store.Created
	err := db.creates.do(ctx, &op{
		needs: func(all *needs) {
			all.ids, all.digests, all.takes = append(all.ids, n.ID), append(all.digests, d), append(all.takes, takesOf(n.Holds)...)
			if n.First != nil {
				for _, p := range n.First.Plans {
					all.takes = append(all.takes, takesOfCaps(p.Caps)...)
				}
			}
		},
		run: func(x *txn) (err error) {
			c, err = x.create(n, d)
			return err
		},
	})
	if err != nil {
		return store.Created{}, err
	}
	return c, nil
}

func (x *txn) create(n store.NewTask, d digest) (store.Created, error) {
	r := x.byDigest[d]
	admit := store.AdmitCreated
	if r != nil {
		if r.broken != nil {
			return store.Created{}, r.broken // another task would be paid for twice
		}
		if admit, repeated := n.Repeats(&r.t); repeated {
			return store.Created{Task: r.t, Admit: admit, Lease: x.leaseOf(r, n.First)}, nil
		}
		var err error
		if admit, err = n.Admit(r.t); err != nil || admit == store.AdmitReplayed {
			if err != nil {
				return store.Created{}, err
			}
			return store.Created{Task: r.t, Admit: admit}, nil
		}
	}
	if err := store.CheckHolds(n.Holds, x.held); err != nil {
		return store.Created{}, err
	}
	t, err := x.record(n, r)
	if err != nil {
		return store.Created{}, err
	}
	if r == nil {
		r = &row{digest: d}
	}
	c, err := x.admit(r, t, admit, n.First)
	if err != nil {
		return store.Created{}, err
	}
	x.rows[t.ID], x.byDigest[d] = r, r
	x.limitHolds(n.Holds)
	return c, nil
}

func (x *txn) record(n store.NewTask, found *row) (task.Task, error) {
	if found != nil {
		return n.Reopen(found.t, x.now)
	}
	if x.rows[n.ID] != nil {
		return task.Task{}, store.ErrExists
	}
	return n.Record(x.now)
}

// admit stores the accepted task, leased and started if that is asked for, its node has a session and there is room.
func (x *txn) admit(r *row, t task.Task, admit store.Admit, first *store.First) (store.Created, error) {
	if first == nil || !x.alive(first.Node) {
		x.save(r, t)
		return store.Created{Task: t, Admit: admit}, nil
	}
	if plan, ok := first.Pick(t, x.inFlight); ok {
		started, err := store.Begin(t, plan, x.now)
		if err != nil {
			return store.Created{}, err
		}
		started.Revision = t.Revision // one commit, one revision
		t = started
	}
	r.node, r.epoch, r.pause = first.Node, r.epoch+1, time.Time{}
	x.save(r, t)
	return store.Created{Task: t, Admit: admit, Lease: x.leaseOf(r, first)}, nil
}

// leaseOf returns the task's lease if it is the first one's.
func (x *txn) leaseOf(r *row, first *store.First) *store.Lease {
	if first == nil || r.node != first.Node || !x.alive(r.node) {
		return nil
	}
	return new(x.lease(r))
}

func (x *txn) lease(r *row) store.Lease {
	return store.Lease{Ref: store.LeaseRef{TaskID: r.t.ID, Epoch: r.epoch}, Task: r.t, Left: r.t.DeadlineAt.Sub(x.now)}
}

func joined(place []string) string { return strings.Join(place, "\n") }
