package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
)

// runsOf yields the runs that a digest may be in, with their keys. One that was dropped meanwhile is empty.
func runsOf(r *reader, found idem.Found) iter.Seq2[[]byte, idem.Run] {
	return func(yield func([]byte, idem.Run) bool) {
		for _, key := range found.Runs {
			if !yield(key, r.get(bucketIdemRuns, key)) {
				return
			}
		}
	}
}

// writeIdem writes the pairs of the group's new tasks, in one row.
func (x *txn) writeIdem() error {
	if len(x.idem) == 0 {
		return nil
	}
	pairs := make([]byte, 0, (len(x.idem)+1)*idem.PairSize) // room for the sum too
	for d, row := range x.idem {
		pairs = idem.AppendPair(pairs, d, row)
	}
	return x.put(bucketIdemLog, string(bigEndian(x.db.idem.NextNumber())), idem.Sum(pairs))
}

// writeRun puts the pairs under way into the tree as a run, in the place of the log.
func writeRun(tx *bolt.Tx, x *idem.Index) error {
	runs := bucketIdemRuns.of(tx)
	seq, err := runs.NextSequence()
	if err != nil {
		return err
	}
	key := bigEndian(seq)
	if err := runs.Put(key, x.MakeRun(key)); err != nil {
		return err
	}
	if err := tx.DeleteBucket(bucketNames[bucketIdemLog]); err != nil {
		return err
	}
	_, err = tx.CreateBucket(bucketNames[bucketIdemLog])
	return err
}

// checkRun returns an error about a run of another form. It stays in its place until a start or a repair finds its keys'
// tasks again: without it a task under one of them would be made and paid for again.
func checkRun(key []byte, r idem.Run) error {
	if r.Valid() {
		return nil
	}
	return unreadable(bucketIdemRuns, key, nil, errRecord)
}

// loadIdem reads the log and the filters into an index at a start, and returns the rows that can't be read.
func loadIdem(tx *bolt.Tx, x *idem.Index) (bad []*unreadableError) {
	r := &reader{opened: tx}
	for k, v := range r.ascend(bucketIdemRuns, nil, nil) {
		if !x.AddRun(k, v) {
			bad = append(bad, &unreadableError{bucketIdemRuns, bytes.Clone(k), bytes.Clone(v), errRecord})
		}
	}
	for k, v := range r.ascend(bucketIdemLog, nil, nil) {
		if len(k) != 8 || !x.AddRow(binary.BigEndian.Uint64(k), v) {
			bad = append(bad, &unreadableError{bucketIdemLog, bytes.Clone(k), bytes.Clone(v), errRecord})
		}
	}
	return bad
}

// findTask returns the stored task under an idempotency hash, given the tasks that it may lead to and the runs to
// search; false if it is missing. Rows of removed tasks stay behind and are passed over.
func findTask(r *reader, s task.Scope, hash task.Hash, d digest, at idem.Found, runs iter.Seq2[[]byte, idem.Run]) (task.Task, bool, error) {
	if at.Logged {
		if t, ok, err := matching(r, at.Row, s, hash); ok || err != nil {
			return t, ok, err
		}
	}
	for key, one := range runs {
		if err := checkRun(key, one); err != nil {
			return task.Task{}, false, err // the task may be in it
		}
		row, ok := one.Search(d)
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
