package boltstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/wal"
)

// The tree takes the rows in the log when there are enough of them, or after a while: a row that changed many times
// is written once, and a task that has ended by then never was in the queue's bucket.
const (
	flushBytes = 3 << 20     // of rows: enough for the tree to take them; less for a small limit
	flushMost  = 4           // times that many may wait before writers do
	flushAfter = time.Second // after the first of them at the latest, by default
	flushAgain = time.Second // after the tree had no room for them
)

// pending reports the bytes of rows that the tree doesn't have yet, an estimate.
func (db *DB) pending() int64 {
	n := db.fresh.bytes
	if db.old != nil {
		n += db.old.bytes
	}
	return n
}

// beginFlush lets the tree take the log's rows, concurrently with the following groups. It does nothing during a
// flush.
func (db *DB) beginFlush() {
	if db.flushing {
		return
	}
	if db.old == nil {
		if db.fresh.none() && !db.idem.Full() {
			return
		}
		db.tables.Lock()
		db.old, db.fresh = db.fresh, cmp.Or(db.next, &table{})
		db.tables.Unlock()
		db.next, db.swept = nil, 0
		db.noteLast(&db.old.rows)
		db.wal.Switch()
		db.idem.BeginRun()
	}
	db.flushing = true
	go func(t *table) {
		var end flushEnd
		err := guarded(db.path, func() error { end = db.flush(t); return nil })
		end.err = cmp.Or(err, end.err)
		db.flushed <- end
	}(db.old)
}

// flushEnd is how a flush ended.
type flushEnd struct {
	err error
	ran bool // the tree has the run that the idempotency log was to become
}

// flush writes a table to the tree, and the run that the idempotency log has become. The limit of the
// file doesn't hold here: it was seen to before the rows were acknowledged.
func (db *DB) flush(t *table) (end flushEnd) {
	db.bolt.MaxSize = db.treeMost
	db.keepFreelist()
	if !t.none() {
		if end.err = t.apply(db.bolt); end.err != nil {
			return end
		}
	}
	if db.idem.Moving() {
		err := update(db.bolt, func(tx *bolt.Tx) error { return writeRun(tx, &db.idem) })
		if end.ran = err == nil; err != nil && !errors.Is(err, store.ErrFull) { // a run needs many pages in a row, and can wait
			end.err = err
			return end
		}
	}
	end.err = db.measure()
	return end
}

// measure notes the size of the tree.
func (db *DB) measure() error {
	return db.bolt.View(func(tx *bolt.Tx) error {
		db.treeSize.Store(tx.Size())
		return nil
	})
}

// endFlush notes the outcome of a flush. Without room for them the log keeps its rows, and the tree is asked again
// after a while.
func (db *DB) endFlush(end flushEnd) error {
	db.flushing = false
	switch {
	case end.err == nil:
		db.idem.EndRun(end.ran)
		db.tables.Lock()
		ended := db.old
		db.old = nil
		db.tables.Unlock()
		db.reuse(ended)
		if !db.fresh.none() {
			db.due.Reset(db.flushIn())
		}
	case errors.Is(end.err, store.ErrFull):
		db.due.Reset(flushAgain)
	default:
		db.fail(end.err)
	}
	return end.err
}

// reuse takes back the memory of a table that the tree has, if no reader finds it any more. A small table ends a busy
// time: then no memory is kept.
func (db *DB) reuse(t *table) {
	switch {
	case t.bytes <= db.flushBytes/2:
		db.unused, db.next = nil, nil
	case t.inUse():
	default:
		db.unused.keep(&t.values)
		if t.bytes <= 2*flushBytes {
			t.empty()
			db.next = t
		}
	}
}

// noteLast notes the last of the tasks that the tree has or is about to have.
func (db *DB) noteLast(r *rows) {
	for key := range r[bucketTasks] {
		db.last = max(db.last, key)
	}
}

// flushAll waits until the tree has everything. ErrFull if it has no room.
func (db *DB) flushAll() error {
	for {
		if broken := db.broken.Load(); broken != nil {
			return *broken
		}
		if !db.flushing && db.old == nil && db.fresh.none() {
			return nil // a run of the idempotency log that finds no room can wait
		}
		db.beginFlush()
		if err := db.endFlush(<-db.flushed); err != nil {
			return err
		}
	}
}

// Flush brings everything that is acknowledged from the log into the tree. ErrFull if it has no room.
func (db *DB) Flush(ctx context.Context) error {
	return db.flushThen(ctx, func() error { return nil })
}

// flushThen calls then as soon as the tree has everything, before anything else changes.
func (db *DB) flushThen(ctx context.Context, then func() error) error {
	return db.do(ctx, &op{flushed: then, run: func(*txn) error { return nil }})
}

// replay brings the rows of an earlier process that are only in the log into the tree. A *SchemaError says that this
// version can't; ErrFull that there is no room.
func replay(b *bolt.DB, path string) error {
	var groups []wal.Group
	err := b.View(func(tx *bolt.Tx) (err error) {
		groups, err = unread(tx, path)
		return err
	})
	if err != nil || len(groups) == 0 {
		return err
	}
	t := &table{}
	for _, g := range groups {
		var rows rows
		if err := rows.parse(g.Bytes); err != nil {
			return err
		}
		t.add(&rows, g.Seq)
	}
	b.NoFreelistSync = false
	if err := t.apply(b); err != nil {
		return fmt.Errorf("boltstore: bring the log into %s: %w", path, err)
	}
	return nil
}

// settle brings the log into the tree of a file that no engine works on, and removes it.
func settle(b *bolt.DB, path string) error {
	return guarded(path, func() error {
		if err := replay(b, path); err != nil {
			return err
		}
		var l wal.State
		err := b.View(func(tx *bolt.Tx) (err error) {
			l, err = logOf(tx, path)
			return err
		})
		if err == nil && l.Open() {
			err = update(b, func(tx *bolt.Tx) error { return putLogs(tx, [2]int64{}) })
		}
		if err != nil {
			return err
		}
		return wal.Remove(path)
	})
}

// unread returns the groups of the log that the tree doesn't have.
func unread(tx *bolt.Tx, path string) ([]wal.Group, error) {
	l, err := logOf(tx, path)
	if err != nil {
		return nil, err
	}
	groups, err := wal.Read(path, l)
	if err != nil {
		return nil, &LogError{Path: path, Err: err}
	}
	return groups, nil
}
