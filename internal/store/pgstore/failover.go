package pgstore

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// How many of the latest acknowledged writes a node remembers, how far back it looks for them from the moment when the
// database went away, and how many tasks a report names.
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
	mu      sync.Mutex
	writes  []acked   // a ring
	next    int       // in writes, once it is full
	changes uint64    // of accounts and keys, the highest count that was acknowledged
	doubts  int64     // how often the database was away
	settled int64     // as many of the doubts are looked into
	since   time.Time // when the first of the others came up
	lost    int64     // writes that were found gone since the start
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

// doubt notes that the database was away.
func (l *latest) doubt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubts == l.settled {
		l.since = time.Now()
	}
	l.doubts++
}

// open returns the last write of each task and the count of changes that are to be looked for; doubts is 0 if there are
// none.
func (l *latest) open() (last map[string]acked, changes uint64, doubts int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubts == l.settled {
		return nil, 0, 0
	}
	from := l.since.Add(-rememberedTime)
	last = map[string]acked{}
	for _, w := range l.writes {
		if before, ok := last[w.id]; w.at.After(from) && (!ok || before.revision < w.revision) {
			last[w.id] = w
		}
	}
	return last, l.changes, l.doubts
}

// settle notes that the doubts up to a number are looked into, and what was found. What is there stays remembered: the
// next standby may lack it.
func (l *latest) settle(doubts int64, lost []string, fewer int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = doubts
	l.since = time.Now()
	l.lost += int64(len(lost)) + fewer
	l.changes -= uint64(fewer)
	if len(lost) > 0 { // they aren't reported again
		oldestFirst := slices.Concat(l.writes[l.next:], l.writes[:l.next])
		l.writes = slices.DeleteFunc(oldestFirst, func(w acked) bool { return slices.Contains(lost, w.id) })
		l.next = 0
	}
}

func (l *latest) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// doubt notes that the database was away, if that is what the error of a call that wasn't given up says.
func (db *DB) doubt(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && lostConnection(err) {
		db.latest.doubt()
	}
}

// lookForLost looks for the latest acknowledged writes once the database was away, and says which are gone.
func (db *DB) lookForLost(ctx context.Context) error {
	writes, changes, doubts := db.latest.open()
	if doubts == 0 {
		return nil
	}
	lost, fewer, err := db.lostOf(ctx, writes, changes)
	if err != nil {
		return err // it is tried again
	}
	db.latest.settle(doubts, lost, fewer)
	if len(lost) > 0 || fewer > 0 {
		db.log.Error("the database has lost writes that it had acknowledged: a standby without them took its place, or it was restored",
			slog.Int("tasks", len(lost)), slog.Any("task_ids", lost[:min(len(lost), namedTasks)]), slog.Int64("changes_of_accounts_and_keys", fewer))
	}
	return nil
}

// errStandby is a server that may have everything soon: it can't tell what is lost.
var errStandby = errors.New("pgstore: the server is a standby")

// lostOf returns the ids of the tasks that the database doesn't have as they were written, or newer, and how many
// changes of accounts and keys it lacks.
func (db *DB) lostOf(ctx context.Context, writes map[string]acked, changes uint64) (lost []string, fewer int64, err error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Release()
	var count uint64
	var standby bool
	if err := conn.QueryRow(ctx, db.q(`SELECT count, pg_is_in_recovery() FROM {s}.changes`)).Scan(&count, &standby); err != nil {
		return nil, 0, err
	}
	if standby {
		return nil, 0, errStandby
	}
	rows, err := conn.Query(ctx, db.q(`SELECT id, record FROM {s}.open_tasks WHERE id = ANY($1)
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
