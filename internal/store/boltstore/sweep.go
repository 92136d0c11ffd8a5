package boltstore

import (
	"context"
	"errors"
	"time"

	"unitask/internal/store"
)

// One step looks at sweepWindow tasks at most and removes maxSweep at most.
const (
	sweepWindow = 2000
	maxSweep    = 500
)

// Sweep implements store.Store. Steps go through the tasks in the order of their ids, which is that
// of their creation, up to those created within the retention, and begin anew there.
func (db *DB) Sweep(ctx context.Context, r store.SweepRequest) (store.Swept, error) {
	for limit := min(max(r.Limit, 1), maxSweep); ; limit /= 2 {
		s, err := db.sweep(ctx, r, limit)
		if limit == 1 || !errors.Is(err, store.ErrFull) { // a removal rewrites pages too
			return s, err
		}
	}
}

func (db *DB) sweep(ctx context.Context, r store.SweepRequest, limit int) (store.Swept, error) {
	var s store.Swept
	err := db.do(ctx, &op{writes: true, frees: true, run: func(x *txn) (err error) {
		s.Removed = 0
		if r.Retention > 0 {
			if s.Removed, err = x.sweepTasks(db.clock.Past().Add(-r.Retention), limit); err != nil {
				return err
			}
		}
		sums, err := x.sweepUsage(r.Usage, limit-s.Removed)
		if err != nil {
			return err
		}
		s.Removed += sums
		sessions, err := x.sweepSessions(limit - s.Removed)
		s.Removed += sessions
		return err
	}})
	if err != nil {
		return store.Swept{}, err
	}
	return s, nil
}

// sweepTasks removes at most limit tasks and counters that are over since before the given time, and
// returns how many.
func (x *txn) sweepTasks(before time.Time, limit int) (int, error) {
	rows, next, err := x.expired(before, limit)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if err := x.removeTask(row); err != nil {
			return 0, err
		}
	}
	old := x.db.sweepAt
	x.db.sweepAt = next
	x.undo.note(changed{back: func() { x.db.sweepAt = old }})
	counters, err := x.sweepCounters(before, limit-len(rows))
	if err != nil {
		return 0, err
	}
	if len(rows) > 0 {
		err = dropRuns(x)
	}
	return len(rows) + counters, err
}

// expired collects terminal tasks unchanged since before, from the cursor on and once around, and
// returns where the next step begins.
func (x *txn) expired(before time.Time, limit int) (rows []rowID, next rowID, _ error) {
	from, seen := x.db.sweepAt, 0
	for _, part := range [2][2][]byte{{from[:], timeKey(before)}, {nil, from[:]}} {
		for k, record := range x.ascend(bucketTasks, part[0], part[1]) {
			if seen++; seen > sweepWindow || len(rows) == limit {
				return rows, rowID(k), nil
			}
			state, changed, err := recordHead(record)
			if err != nil {
				return nil, from, err
			}
			if state.Terminal() && changed.Before(before) {
				rows = append(rows, rowID(k))
			}
		}
	}
	return rows, rowID{}, nil
}

// timeKey returns what the ids of a time begin with.
func timeKey(t time.Time) []byte { return bigEndian(uint64(max(t.UnixMilli(), 0)))[2:] }

// rowTime returns the millisecond in which the id was made.
func rowTime(k []byte) time.Time {
	var ms int64
	for _, b := range k[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms)
}

// removeTask removes a task and its row in the listing; its idempotency row stays behind unread.
func (x *txn) removeTask(row rowID) error {
	t, err := x.load(row)
	if err != nil {
		return err
	}
	if err := x.del(bucketTasks, string(row[:])); err != nil {
		return err
	}
	listed := scopeRowOf(t.Scope, row)
	return x.del(bucketByScope, string(listed[:]))
}
