package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Idempotency digests come in random order, and a tree that takes them so rewrites a page for each. They go to a log
// instead, whose rows are also in memory; once it holds runLength of them they move to a sorted run, which is one
// value and is searched in place in the file. The runs' filters are in memory too, a byte a digest: that a key is
// new, which it nearly always is, costs no transaction.
const runLength = 1 << 15

// idemLog is the part of the idempotency index that is in memory. The committer writes, anyone reads.
type idemLog struct {
	limit   int // pairs that make a run
	mu      sync.RWMutex
	rows    map[digest]rowID
	moving  map[digest]rowID // on their way into a run
	last    uint64           // the key of the newest row
	filters filters

	run    run // made of moving; the flush's own until the committer knows its end
	runKey []byte
}

// idemEntry is the tasks that a digest may lead to.
type idemEntry struct {
	row    rowID
	logged bool     // the log leads to the row
	runs   [][]byte // keys of the runs that may hold it, the newest first
}

// none reports that no committed task has the digest.
func (t idemEntry) none() bool { return !t.logged && len(t.runs) == 0 }

func (l *idemLog) find(d digest) (t idemEntry) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if t.row, t.logged = l.rows[d]; !t.logged {
		t.row, t.logged = l.moving[d]
	}
	t.runs = l.filters.runs(d)
	return t
}

// read yields the runs of a lookup with their keys. One that was dropped meanwhile is empty.
func (t idemEntry) read(r *reader) iter.Seq2[[]byte, run] {
	return func(yield func([]byte, run) bool) {
		for _, key := range t.runs {
			if !yield(key, r.get(bucketIdemRuns, key)) {
				return
			}
		}
	}
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

// nextKey returns the key of the next row. Only the committer asks.
func (l *idemLog) nextKey() []byte {
	l.last++
	return bigEndian(l.last)
}

// writeIdem writes the pairs of the group's new tasks, in one row.
func (x *txn) writeIdem() error {
	if len(x.idem) == 0 {
		return nil
	}
	pairs := make([]byte, 0, len(x.idem)*pairSize+sumSize)
	for d, row := range x.idem {
		pairs = append(append(pairs, d[:]...), row[:]...)
	}
	return x.put(bucketIdemLog, string(x.db.idem.nextKey()), sumPairs(pairs))
}

// beginRun makes the log a run if it is due: from now on rows go to a new one. The committer calls it at the end of a
// table, so that the tree has exactly the rows up to it.
func (l *idemLog) beginRun() {
	if !l.full() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moving, l.rows = l.rows, map[digest]rowID{}
}

// writeRun puts the rows under way into the tree as a run, in the place of the log.
func (l *idemLog) writeRun(tx *bolt.Tx) error {
	l.run = encodeRun(l.moving)
	runs := bucketIdemRuns.of(tx)
	seq, err := runs.NextSequence()
	if err != nil {
		return err
	}
	l.runKey = bigEndian(seq)
	if err := runs.Put(l.runKey, l.run); err != nil {
		return err
	}
	if err := tx.DeleteBucket(bucketNames[bucketIdemLog]); err != nil {
		return err
	}
	_, err = tx.CreateBucket(bucketNames[bucketIdemLog])
	return err
}

// endRun notes whether the tree has the run; if not, its rows belong to the log as before. Readers look into
// the log first, so that whatever they miss there is in a run by the time they look.
func (l *idemLog) endRun(ran bool) {
	if len(l.moving) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ran {
		l.keep(l.runKey, l.run)
	} else {
		maps.Copy(l.moving, l.rows)
		l.rows = l.moving
	}
	l.moving, l.run, l.runKey = nil, nil, nil
}

func (l *idemLog) keep(key []byte, r run) {
	if bits, _, ok := r.parts(); ok && len(bits) > 0 {
		l.filters.add(filter{bytes.Clone(key), bytes.Clone(bits)})
	}
}

// dropped forgets the filter of a run that is gone.
func (l *idemLog) dropped(key []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filters.remove(key)
}

// load reads the log and the filters at a start, and returns the rows that can't be read.
func (l *idemLog) load(tx *bolt.Tx) (bad []*unreadableError) {
	l.rows = map[digest]rowID{}
	r := &reader{opened: tx}
	for k, v := range r.ascend(bucketIdemRuns, nil, nil) {
		l.keep(k, v)
		if _, _, ok := run(v).parts(); !ok {
			bad = append(bad, &unreadableError{bucketIdemRuns, bytes.Clone(k), bytes.Clone(v), errRecord})
		}
	}
	for k, v := range r.ascend(bucketIdemLog, nil, nil) {
		pairs, ok := pairsOf(v)
		if !ok || len(k) != 8 {
			bad = append(bad, &unreadableError{bucketIdemLog, bytes.Clone(k), bytes.Clone(v), errRecord})
			continue
		}
		for pair := range slices.Chunk(pairs, pairSize) {
			l.rows[digest(pair)] = rowID(pair[len(digest{}):])
		}
		l.last = max(l.last, binary.BigEndian.Uint64(k))
	}
	return bad
}

// sumPairs appends the sum of a row of the log.
func sumPairs(pairs []byte) []byte {
	return binary.BigEndian.AppendUint32(pairs, summed(nil, pairs))
}

// pairsOf returns the pairs of a row of the log, false if it was damaged. Older versions wrote no sum.
func pairsOf(v []byte) ([]byte, bool) {
	switch pairs := v[:len(v)/pairSize*pairSize]; len(v) - len(pairs) {
	case 0:
		return pairs, len(pairs) > 0
	case sumSize:
		return pairs, binary.BigEndian.Uint32(v[len(pairs):]) == summed(nil, pairs)
	}
	return nil, false
}

// findTask returns the stored task under an idempotency hash, given the tasks that it may lead to and the runs to
// search; false if it is missing. Rows of removed tasks stay behind and are passed over.
func findTask(r *reader, s task.Scope, hash task.Hash, d digest, at idemEntry, runs iter.Seq2[[]byte, run]) (task.Task, bool, error) {
	if at.logged {
		if t, ok, err := matching(r, at.row, s, hash); ok || err != nil {
			return t, ok, err
		}
	}
	for key, one := range runs {
		if err := one.check(key); err != nil {
			return task.Task{}, false, err // the task may be in it
		}
		row, ok := one.search(d)
		if !ok {
			continue
		}
		if t, ok, err := matching(r, row, s, hash); ok || err != nil {
			return t, ok, err
		}
	}
	return task.Task{}, false, nil
}

func matching(r *reader, row rowID, s task.Scope, hash task.Hash) (task.Task, bool, error) {
	t, err := readTask(r, row)
	if errors.Is(err, store.ErrNotFound) {
		return task.Task{}, false, nil
	}
	return t, err == nil && t.Scope == s && t.IdempotencyHash == hash, err
}

// runs returns the keys of all runs.
func (l *idemLog) runs() (keys []string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, one := range l.filters.all {
		keys = append(keys, string(one.key))
	}
	return keys
}
