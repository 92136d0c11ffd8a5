package pgstore

import (
	"context"
	"maps"
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Stats implements store.Store.
func (db *DB) Stats(ctx context.Context) (store.Stats, error) {
	sums, err := db.sumsOf(ctx, kindState)
	if err != nil {
		return store.Stats{}, err
	}
	s := store.Stats{ByState: map[task.State]int64{}}
	for _, state := range task.States() {
		if !state.Terminal() {
			s.ByState[state] = sums[string(state)]
		}
	}
	return s, nil
}

// gaugesAge is how long gauges serve that take a scan.
const gaugesAge = 5 * time.Second

// Gauges implements store.Gauger.
func (db *DB) Gauges(ctx context.Context) (store.Gauges, error) {
	return db.gauges.get(gaugesAge, func() (store.Gauges, error) {
		s, err := db.Stats(ctx)
		if err != nil {
			return store.Gauges{}, err
		}
		g := store.Gauges{Stats: s, Lost: db.latest.count(), Quarantined: db.broken.count()}
		var oldest *string
		var overdue *float64
		err = db.read(ctx, func(ctx context.Context) error {
			return db.pool.QueryRow(ctx, db.q(`SELECT pg_database_size(current_database()),
				(SELECT count(*) FROM {s}.open_tasks WHERE node IS NOT NULL),
				(SELECT id FROM {s}.open_tasks WHERE state = $1 ORDER BY id LIMIT 1),
				(SELECT count(*) FROM (SELECT FROM {s}.deliveries WHERE due IS NOT NULL LIMIT $2) AS few),
				(SELECT extract(epoch FROM coalesce($3::timestamptz, clock_timestamp()) - min(first.due))::float8 FROM {s}.endpoints e, LATERAL (
					SELECT due FROM {s}.deliveries WHERE endpoint = e.id AND due IS NOT NULL ORDER BY due LIMIT 1) AS first
					WHERE e.told AND e.addressed)`), string(task.Queued), store.MaxWaiting, db.at()).Scan(&g.Bytes, &g.Leases, &oldest, &g.Waiting, &overdue)
		})
		if overdue != nil {
			g.Overdue = max(0, time.Duration(*overdue*float64(time.Second)))
		}
		if oldest != nil {
			g.Oldest = max(0, db.Now().Sub(task.IDTime(*oldest)))
		}
		return g, err
	})
}

// broken is the tasks that this node's claims couldn't read, and when each was met last. Safe for concurrent use.
type broken struct {
	mu   sync.Mutex
	seen map[string]time.Time // by id
}

func (b *broken) note(ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[string]time.Time{}
	}
	for _, id := range ids {
		b.seen[id] = time.Now()
	}
}

// count returns how many there are. One that wasn't met again for ten of its pauses is forgotten: it was mended, or the
// claims of other nodes meet it.
func (b *broken) count() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.seen, func(_ string, at time.Time) bool { return time.Since(at) > 10*brokenPause })
	return int64(len(b.seen))
}

// cached keeps a value for a while.
type cached[T any] struct {
	mu    sync.Mutex
	at    time.Time
	value T
}

func (c *cached[T]) get(age time.Duration, read func() (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && time.Since(c.at) < age {
		return c.value, nil
	}
	v, err := read()
	if err == nil {
		c.value, c.at = v, time.Now()
	}
	return v, err
}
