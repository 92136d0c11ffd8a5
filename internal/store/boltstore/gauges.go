package boltstore

import (
	"context"
	"maps"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

var (
	_ store.Gauger = (*DB)(nil)
	_ store.Loader = (*DB)(nil)
)

// oldestWindow bounds the tasks that one scrape looks at: those older than the oldest queued one are
// at work, and there are no more of them than workers.
const oldestWindow = 8192

// Gauges implements store.Gauger.
func (db *DB) Gauges(ctx context.Context) (store.Gauges, error) {
	s, err := db.Stats(ctx)
	if err != nil {
		return store.Gauges{}, err
	}
	free, reserve := db.space()
	g := store.Gauges{Stats: s, Free: max(0, db.growth(s.Bytes, free)-reserve), Leases: db.index.held.Load(), Quarantined: db.quarantined.Load()}
	err = db.view(ctx, func(r *reader) error {
		queued, ok, err := oldestQueued(r)
		if ok {
			g.Oldest = max(0, db.now().Sub(queued))
		}
		return err
	})
	if err != nil {
		return g, err
	}
	return g, db.do(ctx, &op{run: func(x *txn) error {
		g.Waiting, g.Overdue = db.outbox.gauges(x.wall)
		return nil
	}})
}

// gauges returns how many deliveries wait, and for how long one has been due that may be sent.
func (o *outbox) gauges(now time.Time) (waiting int64, overdue time.Duration) {
	for id, q := range o.queues {
		waiting += int64(len(q.waits))
		if e := o.endpoints[id]; q.order.len() > 0 && e.Disabled == "" && e.URL != "" {
			overdue = max(overdue, now.Sub(time.Unix(0, q.order.items[0].due)))
		}
	}
	return waiting, overdue
}

// oldestQueued returns when the oldest queued task was accepted.
func oldestQueued(r *reader) (accepted time.Time, ok bool, _ error) {
	seen := 0
	for k, v := range r.ascend(bucketOpen, nil, nil) {
		if seen++; seen > oldestWindow {
			break
		}
		row, err := decodeOpen(v)
		if err != nil {
			continue // the next start mends it
		}
		if row.State == task.Queued {
			return rowTime(k), true, nil
		}
	}
	return accepted, false, nil
}

// InFlight implements store.Loader.
func (db *DB) InFlight(ctx context.Context) (map[string]int, error) {
	var open map[string]int
	err := db.do(ctx, &op{run: func(*txn) error {
		open = maps.Clone(db.index.inFlight)
		return nil
	}})
	return open, err
}
