package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Idempotency digests come in random order, and a tree that takes them so rewrites a page for each.
// They go to a log instead, whose rows are also in memory; once it holds runLength of them they move
// to a sorted run, which is one value and is searched where it lies in the file.
const (
	runLength = 1 << 15
	pairSize  = len(digest{}) + rowSize
	runHead   = 2 * rowSize // the lowest and the highest row of the run
)

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

func encodeRun(rows map[digest]rowID) []byte {
	pairs := make([][pairSize]byte, 0, len(rows))
	var low, high rowID
	for d, row := range rows {
		var p [pairSize]byte
		copy(p[:], d[:])
		copy(p[len(d):], row[:])
		if len(pairs) == 0 || bytes.Compare(row[:], low[:]) < 0 {
			low = row
		}
		if bytes.Compare(row[:], high[:]) > 0 {
			high = row
		}
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [pairSize]byte) int { return bytes.Compare(a[:], b[:]) })
	run := make([]byte, 0, runHead+len(pairs)*pairSize)
	run = append(append(run, low[:]...), high[:]...)
	for _, p := range pairs {
		run = append(run, p[:]...)
	}
	return run
}

// searchRun looks a digest up in a run. Digests are evenly spread, so the search starts where this one
// should stand and widens from there: two or three pages of the file instead of fifteen.
func searchRun(run []byte, d digest) (rowID, bool) {
	if len(run) < runHead || (len(run)-runHead)%pairSize != 0 {
		return rowID{}, false
	}
	run = run[runHead:]
	n := len(run) / pairSize
	before := func(i int) bool { return bytes.Compare(run[i*pairSize:][:len(d)], d[:]) < 0 }
	guess, _ := bits.Mul64(binary.BigEndian.Uint64(d[:]), uint64(n))
	low, high := int(guess), int(guess) // the answer is in [low, high]
	for step := 16; low > 0 && !before(low-1); step *= 2 {
		low = max(low-step, 0)
	}
	for step := 16; high < n && before(high); step *= 2 {
		high = min(high+step, n)
	}
	for low < high {
		if mid := (low + high) / 2; before(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == n || digest(run[low*pairSize:]) != d {
		return rowID{}, false
	}
	return rowID(run[low*pairSize+len(d):]), true
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
	for k, run := c.Last(); k != nil; k, run = c.Prev() {
		row, ok := searchRun(run, d)
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
	err := x.tx.Bucket(bucketIdemRuns).ForEach(func(k, run []byte) error {
		if len(run) < runHead {
			return errRecord
		}
		if first, _ := tasks.Seek(run[:rowSize]); first == nil || bytes.Compare(first, run[rowSize:runHead]) > 0 {
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
