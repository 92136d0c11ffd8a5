package pgstore

import (
	"context"
	"errors"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// RecordWindow bounds the rows that a page of a list by metadata, key or code looks at.
const RecordWindow = recordWindow

// SetIdle sets after how long the server ends a transaction whose node fell silent.
func SetIdle(db *DB, d time.Duration) { db.idle = d }

// Migrations are the statements of each step of the schema.
func Migrations(db *DB) (steps []string) {
	for _, m := range migrations {
		steps = append(steps, db.q(m))
	}
	return steps
}

// Take is what a transaction of Hold takes.
type Take struct {
	Counter       store.Counter
	Amount, Limit int64
}

// Hold begins a transaction that takes from a counter and may record the task under a digest, and leaves it between
// its round trips until it is called.
func Hold(ctx context.Context, db *DB, of *store.NewTask, takes ...Take) (commit func() error, err error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	n := &needs{}
	for _, t := range takes {
		n.takes = append(n.takes, take{t.Counter, t.Amount, t.Limit})
	}
	if of != nil {
		n.digests = append(n.digests, digestOf(of.Scope, of.IdempotencyHash))
	}
	strict := map[store.Counter]bool{}
	for {
		x := newTxn(db, conn.Conn(), db.newShard(), strict)
		err := x.begin(ctx, n)
		if errors.Is(err, errNear) {
			x.rollback()
			continue
		}
		if err != nil {
			conn.Release()
			return nil, err
		}
		return func() error {
			defer conn.Release()
			for _, t := range takes {
				x.deltas[t.Counter] += t.Amount
			}
			return x.end(ctx)
		}, nil
	}
}

// Schema returns the quoted name of the tables' schema.
func (db *DB) Schema() string { return db.schema }

// Doubts reports whether the database was away and the latest writes aren't looked for yet.
func Doubts(db *DB) bool {
	_, _, doubts := db.latest.open()
	return doubts > 0
}

// Age makes all that a node remembers so much older.
func Age(db *DB, by time.Duration) {
	db.latest.mu.Lock()
	defer db.latest.mu.Unlock()
	db.latest.since = db.latest.since.Add(-by)
	for i := range db.latest.writes {
		db.latest.writes[i].at = db.latest.writes[i].at.Add(-by)
	}
}

// ClockAfter returns the times as a node knows them whose machine's clock is off by that much, after readings of a
// database's clock that is off by those.
func ClockAfter(machine time.Duration, database ...time.Duration) (now, steady time.Time) {
	c := newClock(func() time.Time { return time.Now().Add(machine) })
	for _, off := range database {
		asked := time.Now()
		c.set(asked.Add(off), asked)
	}
	return c.both()
}

// EndAll ends tasks as a later transaction of EndOpen does, after a node has begun a session.
func EndAll(ctx context.Context, db *DB, node string, ids []string, f task.Failure) error {
	if err := db.Renew(ctx, node, time.Hour); err != nil {
		return err
	}
	return db.alone(ctx, &op{
		needs: func(n *needs) { n.ids = ids },
		run: func(x *txn) error {
			_, _, err := x.endAll(f)
			return err
		},
	})
}
