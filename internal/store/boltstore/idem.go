package boltstore

import (
	"bytes"
	"errors"
	"sync"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Idempotency digests come in random order, and a tree that takes them so rewrites a page for each.
// They go to a log instead, whose rows are also in memory; once it holds runLength of them they move
// to a sorted run, which is one value and is searched where it lies in the file. The runs' filters are
// in memory too, a byte a digest: that a key is new, which it nearly always is, costs no transaction.
const runLength = 1 << 15

// idemLog is the part of the idempotency index that is in memory. The committer writes, anyone reads.
type idemLog struct {
	limit   int // rows that make a run
	mu      sync.RWMutex
	rows    map[digest]rowID
	filters map[string][]byte // of every run, and perhaps of some that were dropped, by the run's key
}

// absent reports that no committed task has the digest. false says nothing.
func (l *idemLog) absent(d digest) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if _, ok := l.rows[d]; ok {
		return false
	}
	for _, filter := range l.filters {
		if mayHold(filter, d) {
			return false
		}
	}
	return true
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

// moved notes that the rows are in a run now.
func (l *idemLog) moved(key []byte, r run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = map[digest]rowID{}
	l.keep(key, r)
}

func (l *idemLog) keep(key []byte, r run) {
	if filter, _, ok := r.parts(); ok && len(filter) > 0 {
		l.filters[string(key)] = bytes.Clone(filter)
	}
}

// dropped forgets the filter of a run that is gone.
func (l *idemLog) dropped(key []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.filters, string(key))
}

// load reads the log and the filters at a start.
func (l *idemLog) load(tx *bolt.Tx) error {
	l.rows, l.filters = map[digest]rowID{}, map[string][]byte{}
	err := tx.Bucket(bucketIdemRuns).ForEach(func(k, v []byte) error {
		l.keep(k, v)
		return nil
	})
	if err != nil {
		return err
	}
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
	r := encodeRun(db.idem.rows)
	var key []byte
	tx, err := db.bolt.Begin(true)
	if err == nil {
		defer func() { _ = tx.Rollback() }() // nothing to do after a commit
		if key, err = writeRun(tx, r); err == nil {
			err = db.commitTx(tx)
		}
	}
	switch {
	case err == nil:
		db.idem.moved(key, r)
	case errors.Is(err, store.ErrFull): // tried again after the next group
	default:
		db.fail(err)
	}
}

// writeRun puts the run in the place of the log and returns its key.
func writeRun(tx *bolt.Tx, r run) ([]byte, error) {
	runs := tx.Bucket(bucketIdemRuns)
	seq, err := runs.NextSequence()
	if err != nil {
		return nil, err
	}
	key := bigEndian(seq)
	if err := runs.Put(key, r); err != nil {
		return nil, err
	}
	if err := tx.DeleteBucket(bucketIdemLog); err != nil {
		return nil, err
	}
	_, err = tx.CreateBucket(bucketIdemLog)
	return key, err
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
			x.gone = append(x.gone, k)
		}
	}
	return err
}
