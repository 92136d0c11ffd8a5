package boltstore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
)

// A sweep reads beside the committer and removes in its turns, which others wait for. So that a turn is short
// and a flush is no longer than without a sweep, each has its bound.
const (
	maxSweep        = 500                   // rows that one call removes
	sweepScan       = 500                   // rows that one read transaction looks at
	mostStuck       = 16                    // rows that are tried alone in a store without room: each try rewrites pages
	sweepDeliveries = 5000                  // deliveries that one looks at: a step that removes no delivery is the last for a minute
	sweepStep       = 32                    // rows that one turn of the committer removes
	sweepTurn       = time.Millisecond      // after which a turn removes no further row
	sweepFlush      = 1000                  // rows removed before the tree takes them
	sweepPause      = 30 * time.Millisecond // between two turns by default, and twice as long as a turn took
)

// sweeper is the state of the sweeps. One sweep runs at a time: it takes turn, which has room for one.
type sweeper struct {
	turn         chan struct{}
	pause        time.Duration
	tasksAt      rowID              // the beginning of the next look at the tasks
	usageAt      []byte             // the same for sums of usage; nil is the first row
	deliveriesAt []byte             // the same for deliveries
	spans        map[string]runSpan // of idempotency runs, by their keys
}

// expired is a row whose time is over. It is removed only while its value still begins as it did when it was
// found: a task may have been reopened since.
type expired struct {
	bucket
	key, was string
	listed   string // a task's key in by_scope
}

// Sweep implements store.Store. It goes through the tasks in the order of their ids, which is that of their
// creation, up to those created within the retention, and begins anew there.
func (db *DB) Sweep(ctx context.Context, r store.SweepRequest) (store.Swept, error) {
	select {
	case db.sweeper.turn <- struct{}{}:
	case <-ctx.Done():
		return store.Swept{}, ctx.Err()
	}
	defer func() { <-db.sweeper.turn }()
	limit := min(max(r.Limit, 1), maxSweep)
	rows, err := db.findExpired(ctx, r, limit)
	var bad asides
	for err != nil { // a row that can't be read is set aside
		if err = bad.goOn(ctx, db, err); err != nil {
			return store.Swept{}, err
		}
		rows, err = db.findExpired(ctx, r, limit)
	}
	s := store.Swept{}
	if err = db.removeAll(ctx, rows, &s); err == nil && r.Retention > 0 {
		err = db.dropRuns(ctx, db.clock.Past().Add(-r.Retention), &s)
	}
	if err != nil || r.Waiting <= 0 {
		return s, err
	}
	s.Disabled, err = db.disableFull(ctx, r) // last: it needs room in a store that may have been full
	return s, err
}

// findExpired returns at most limit rows whose time is over.
func (db *DB) findExpired(ctx context.Context, r store.SweepRequest, limit int) (rows []expired, err error) {
	now := db.clock.Past()
	if r.Retention > 0 {
		if rows, err = db.expiredTasks(ctx, now.Add(-r.Retention), limit); err != nil {
			return nil, err
		}
	}
	find := func(some []expired, err error) error {
		rows = append(rows, some...)
		return err
	}
	err = db.view(ctx, func(of *reader) error {
		if r.Retention > 0 && len(rows) < limit {
			if err := find(of.endedCounters(now.Add(-r.Retention), limit-len(rows))); err != nil {
				return err
			}
		}
		if r.Usage > 0 && len(rows) < limit {
			some, next, err := of.oldSums(db.sweeper.usageAt, account.DateOf(now.Add(-r.Usage)), limit-len(rows))
			db.sweeper.usageAt = next
			if err := find(some, err); err != nil {
				return err
			}
		}
		if len(rows) < limit {
			if err := find(of.expiredSessions(now, limit-len(rows))); err != nil {
				return err
			}
		}
		return db.findExpiredWebhooks(of, now, limit, &rows)
	})
	return rows, err
}

// findExpiredWebhooks appends listeners and deliveries whose time is over, up to the limit.
func (db *DB) findExpiredWebhooks(of *reader, now time.Time, limit int, rows *[]expired) error {
	if len(*rows) < limit {
		some, err := of.expiredListeners(now, limit-len(*rows))
		if err != nil {
			return err
		}
		*rows = append(*rows, some...)
	}
	if len(*rows) >= limit {
		return nil
	}
	some, next, err := of.oldDeliveries(db.sweeper.deliveriesAt, now, limit-len(*rows))
	if err != nil {
		return err
	}
	db.sweeper.deliveriesAt = next
	*rows = append(*rows, some...)
	return nil
}

// expiredTasks returns at most limit terminal tasks unchanged since before, from the end of the last call on and once
// around.
func (db *DB) expiredTasks(ctx context.Context, before time.Time, limit int) (rows []expired, _ error) {
	from := db.sweeper.tasksAt
	db.sweeper.tasksAt = rowID{}
	for _, part := range [2][2][]byte{{from[:], timeKey(before)}, {{}, from[:]}} {
		for low := part[0]; low != nil; {
			err := db.view(ctx, func(r *reader) (err error) {
				low, err = r.expiredTasks(low, part[1], before, limit, &rows)
				return err
			})
			if err != nil {
				return nil, err
			}
			if len(rows) >= limit && low != nil {
				db.sweeper.tasksAt = rowID(low)
				return rows, nil
			}
		}
	}
	return rows, nil
}

// expiredTasks appends tasks of [low, high) up to the limit and returns the key to continue at, nil at the end. It
// looks at sweepScan rows at most.
func (r *reader) expiredTasks(low, high []byte, before time.Time, limit int, rows *[]expired) (next []byte, _ error) {
	seen := 0
	for k, record := range r.ascend(bucketTasks, low, high) {
		if seen++; seen > sweepScan || len(*rows) >= limit {
			return bytes.Clone(k), nil
		}
		state, changed, err := recordHead(record)
		if err != nil {
			return nil, unreadable(bucketTasks, k, record, err)
		}
		if !state.Terminal() || !changed.Before(before) {
			continue
		}
		t, err := decodeTask(record)
		if err != nil {
			return nil, unreadable(bucketTasks, k, record, err)
		}
		listed := scopeRowOf(t.Scope, rowID(k))
		*rows = append(*rows, expired{bucketTasks, string(k), string(record[:headSize]), string(listed[:])})
	}
	return nil, nil
}

// timeKey returns the beginning of the ids of a time.
func timeKey(t time.Time) []byte { return bigEndian(uint64(max(t.UnixMilli(), 0)))[2:] }

// rowTime returns the millisecond in which the id was made.
func rowTime(k []byte) time.Time {
	var ms int64
	for _, b := range k[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms)
}

// removeAll removes the rows in many turns, with pauses between them, and counts them. A removal rewrites pages too: if
// there is no room for those of one turn, the next has fewer, and a single row that stands among large ones waits until
// others have made room.
func (db *DB) removeAll(ctx context.Context, rows []expired, s *store.Swept) error {
	stuck := 0 // rows in a row that couldn't be removed alone
	for step := sweepStep; len(rows) > 0; {
		var done, gone int
		start := time.Now()
		err := db.turn(ctx, s, func(x *txn) (err error) {
			done, gone, err = x.removeExpired(rows[:min(step, len(rows))])
			return err
		})
		switch {
		case errors.Is(err, store.ErrFull) && step > 1:
			step /= 2
			continue
		case errors.Is(err, store.ErrFull) && stuck < min(mostStuck, len(rows)-1):
			stuck++
			rows = append(slices.Clone(rows[1:]), rows[0])
			continue
		case err != nil:
			return err
		}
		stuck = 0
		s.Removed += gone
		if rows = rows[done:]; len(rows) > 0 {
			pause(ctx, max(db.sweeper.pause, 2*time.Since(start)))
		}
	}
	return nil
}

// turn is one of the committer's for a sweep, and notes how long it took.
func (db *DB) turn(ctx context.Context, s *store.Swept, run func(*txn) error) error {
	return db.do(ctx, &op{writes: true, frees: true, run: func(x *txn) error {
		start := time.Now()
		defer func() { s.Longest = max(s.Longest, time.Since(start)) }()
		return run(x)
	}})
}

// pause waits for d or the end of the context.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// removeExpired removes rows from the first one on, for as long as a turn may take and the tree keeps up. It
// returns how many it has looked at and how many of them it removed.
func (x *txn) removeExpired(rows []expired) (done, removed int, _ error) {
	if x.db.swept >= sweepFlush && x.db.old != nil && !x.db.flushing {
		return 0, 0, store.ErrFull // the tree had no room for the earlier rows
	}
	start := time.Now()
	for _, row := range rows {
		if x.db.swept+x.swept >= sweepFlush || (done > 0 && time.Since(start) > sweepTurn) {
			break
		}
		done++
		value := x.get(row.bucket, []byte(row.key))
		if value == nil || !bytes.HasPrefix(value, []byte(row.was)) {
			continue
		}
		if err := x.removeRow(row); err != nil {
			return 0, 0, err
		}
		removed++
		x.swept++
	}
	return done, removed, nil
}

// removeRow removes a row and those that go with it. The idempotency row of a task stays behind unread.
func (x *txn) removeRow(row expired) error {
	switch row.bucket {
	case bucketHoldEnds:
		return x.removeCounter(row.key)
	case bucketEndpoints:
		return x.setEndpoint(row.key, nil)
	case bucketDeliveries:
		return x.removeDelivery(row.key)
	case bucketTasks:
		if err := x.del(bucketByScope, row.listed); err != nil {
			return err
		}
	}
	return x.del(row.bucket, row.key)
}
