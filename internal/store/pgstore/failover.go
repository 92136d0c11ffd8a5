package pgstore

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// How many of the latest acknowledged writes a node remembers and for how long, and how many tasks a report names.
const (
	rememberedWrites = 8192
	rememberedTime   = time.Minute
	namedTasks       = 20
)

// acked is a write that the database acknowledged: what the task became.
type acked struct {
	id       string
	revision int64
	updated  time.Time // on the database's clock
	at       time.Time // on the node's
}

// latest is the latest acknowledged writes of a node. When the database was away they are looked for: a standby that
// took over without them, or a database that was restored, has lost them. It costs the database nothing while it is
// there. Safe for concurrent use.
type latest struct {
	mu     sync.Mutex
	writes []acked // a ring
	next   int

	changes uint64       // of accounts and keys, the highest count that was acknowledged
	doubts  atomic.Int64 // how often the database was away
	settled atomic.Int64 // as many of the doubts are looked into
	lost    atomic.Int64 // found gone since the start
}

// add remembers what a transaction made of its tasks.
func (l *latest) add(rows map[string]*row) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range rows {
		if !r.dirty {
			continue
		}
		w := acked{id: r.t.ID, revision: r.t.Revision, updated: r.t.UpdatedAt, at: now}
		if len(l.writes) < rememberedWrites {
			l.writes = append(l.writes, w)
			continue
		}
		l.writes[l.next] = w
		l.next = (l.next + 1) % rememberedWrites
	}
}

// addChanges remembers a count of the changes of accounts and keys.
func (l *latest) addChanges(count uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = max(l.changes, count)
}

// take returns the last write of each task that is remembered and the count of changes, and forgets them.
func (l *latest) take() (map[string]acked, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[string]acked{}
	for _, w := range l.writes {
		if before, ok := last[w.id]; time.Since(w.at) <= rememberedTime && (!ok || before.revision < w.revision) {
			last[w.id] = w
		}
	}
	changes := l.changes
	l.writes, l.next, l.changes = nil, 0, 0
	return last, changes
}

// doubt notes that the database was away, if that is what the error says.
func (db *DB) doubt(err error) {
	if err != nil && lostConnection(err) {
		db.latest.doubts.Add(1)
	}
}

// lookForLost looks for the latest acknowledged writes once the database was away, and says which are gone.
func (db *DB) lookForLost(ctx context.Context) {
	doubts := db.latest.doubts.Load()
	if doubts == db.latest.settled.Load() {
		return
	}
	writes, changes := db.latest.take()
	lost, fewer, err := db.lostOf(ctx, writes, changes)
	if err != nil {
		db.latest.restore(writes, changes)
		return
	}
	defer db.latest.settled.Store(doubts)
	if len(lost) == 0 && fewer == 0 {
		return
	}
	db.latest.lost.Add(int64(len(lost)) + fewer)
	db.log.Error("the database has lost writes that it had acknowledged: a standby without them took its place, or it was restored",
		slog.Int("tasks", len(lost)), slog.Any("task_ids", lost[:min(len(lost), namedTasks)]), slog.Int64("changes_of_accounts_and_keys", fewer))
}

// restore remembers writes again that couldn't be looked for.
func (l *latest) restore(writes map[string]acked, changes uint64) {
	l.addChanges(changes)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range writes {
		if len(l.writes) < rememberedWrites {
			l.writes = append(l.writes, w)
		}
	}
}

// lostOf returns the ids of the tasks that the database doesn't have as they were written, or newer, and how many
// changes of accounts and keys it lacks.
func (db *DB) lostOf(ctx context.Context, writes map[string]acked, changes uint64) (lost []string, fewer int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	var count uint64
	if err := db.pool.QueryRow(ctx, db.q(`SELECT count FROM {s}.changes`)).Scan(&count); err != nil {
		return nil, 0, err
	}
	rows, err := db.pool.Query(ctx, db.q(`SELECT id, record FROM {s}.open_tasks WHERE id = ANY($1)
		UNION ALL SELECT id, record FROM {s}.ended_tasks WHERE id = ANY($1)`), slices.Collect(maps.Keys(writes)))
	if err != nil {
		return nil, 0, err
	}
	var id string
	var record []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &record}, func() error {
		t, err := decode(record, nil)
		if w := writes[id]; err != nil || t.Revision > w.revision || t.Revision == w.revision && t.UpdatedAt.Equal(w.updated) {
			delete(writes, id) // an unreadable record is another fault
		}
		return nil
	}); err != nil {
		return nil, 0, err
	}
	return slices.Sorted(maps.Keys(writes)), max(0, int64(changes-count)), nil
}
