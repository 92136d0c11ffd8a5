package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Idempotency digests come in random order, and a tree that takes them so rewrites a page for each.
// They go to a log instead, whose rows are also in memory; once it holds runLength of them they move
// to a sorted run, which is one value and is searched where it lies in the file.
const runLength = 1 << 15

// idemLog is the part of the idempotency index that is in memory. The committer writes, anyone reads.
type idemLog struct {
	limit int // rows that make a run
	mu    sync.RWMutex
	rows  map[digest]rowID
}

func (l *idemLog) lookup(d digest) (rowID, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	row, ok := l.rows[d]
	return row, ok
}

func (l *idemLog) publish(rows map[digest]rowID) {
	if len(rows) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for d, row := range rows {
		l.rows[d] = row
	}
}

// full reports whether the log is due to become a run. Only the committer asks.
func (l *idemLog) full() bool { return len(l.rows) >= l.limit }

func (l *idemLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = map[digest]rowID{}
}

// load reads the log at a start.
func (l *idemLog) load(tx *bolt.Tx) error {
	l.rows = map[digest]rowID{}
	return tx.Bucket(bucketIdemLog).ForEach(func(_, v []byte) error {
		if len(v) != pairSize {
			return errRecord
		}
		l.rows[digest(v)] = rowID(v[len(digest{}):])
		return nil
	})
}

// flushIdem moves the log into a run. Readers look into the log first, so that whatever they miss
// there is in a run by the time they look.
func (db *DB) flushIdem() {
	tx, err := db.bolt.Begin(true)
	if err == nil {
		defer func() { _ = tx.Rollback() }() // nothing to do after a commit
		if err = writeRun(tx, db.idem.rows); err == nil {
			err = db.commitTx(tx)
		}
	}
	switch {
	case err == nil:
		db.idem.clear()
	case errors.Is(err, store.ErrFull): // tried again after the next group
	default:
		db.fail(err)
	}
}

func writeRun(tx *bolt.Tx, rows map[digest]rowID) error {
	runs := tx.Bucket(bucketIdemRuns)
	seq, err := runs.NextSequence()
	if err != nil {
		return err
	}
	if err := runs.Put(binary.BigEndian.AppendUint64(nil, seq), encodeRun(rows)); err != nil {
		return err
	}
	if err := tx.DeleteBucket(bucketIdemLog); err != nil {
		return err
	}
	_, err = tx.CreateBucket(bucketIdemLog)
	return err
}

// findTask returns the stored task under an idempotency hash, given what the log says; false where
// there is none. Rows of removed tasks stay behind and are passed over.
func findTask(tx *bolt.Tx, s task.Scope, hash task.Hash, d digest, logged rowID, inLog bool) (task.Task, bool, error) {
	if inLog {
		if t, ok, err := matching(tx, logged, s, hash); ok || err != nil {
			return t, ok, err
		}
	}
	c := tx.Bucket(bucketIdemRuns).Cursor()
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		row, ok := run(v).search(d)
		if !ok {
			continue
		}
		if t, ok, err := matching(tx, row, s, hash); ok || err != nil {
			return t, ok, err
		}
	}
	return task.Task{}, false, nil
}

func matching(tx *bolt.Tx, row rowID, s task.Scope, hash task.Hash) (task.Task, bool, error) {
	t, err := readTask(tx, row)
	if errors.Is(err, store.ErrNotFound) {
		return task.Task{}, false, nil
	}
	return t, err == nil && t.Scope == s && t.IdempotencyHash == hash, err
}

// dropRuns removes the runs none of whose tasks is left.
func dropRuns(x *txn) error {
	tasks := x.tx.Bucket(bucketTasks).Cursor()
	var empty [][]byte
	err := x.tx.Bucket(bucketIdemRuns).ForEach(func(k, v []byte) error {
		low, high, ok := run(v).bounds()
		if !ok {
			return errRecord
		}
		if first, _ := tasks.Seek(low); first == nil || bytes.Compare(first, high) > 0 {
			empty = append(empty, bytes.Clone(k))
		}
		return nil
	})
	for _, k := range empty {
		if err == nil {
			err = x.del(bucketIdemRuns, k)
		}
	}
	return err
}
