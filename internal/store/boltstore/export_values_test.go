package boltstore

import (
	"bytes"
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
)

// Unused returns how many chunks wait for a table.
func Unused(db *DB) (n int) {
	_ = db.do(context.Background(), &op{run: func(*txn) error { n = len(db.unused); return nil }})
	return n
}

const noFlush = 1 << 40

// Reading creates a task and returns its record as a reader finds it before the tree has it, and again after another
// operation.
func Reading(db *DB, n store.NewTask, meanwhile func()) (before, after []byte, _ error) {
	SetFlushBytes(db, noFlush)
	if _, err := db.CreateTask(context.Background(), n); err != nil {
		return nil, nil, err
	}
	err := db.view(context.Background(), func(r *reader) error {
		row, _ := parseID(n.ID)
		record, known := r.pending(bucketTasks, row[:])
		if !known {
			return errors.New("the tree has it already")
		}
		before = bytes.Clone(record)
		SetFlushBytes(db, 1)
		meanwhile()
		after = bytes.Clone(record)
		return nil
	})
	return before, after, err
}

// FlushAmid creates tasks in one group, with a flush of the earlier rows after the first of them. It returns that
// one's record before the flush and at the end of the group.
func FlushAmid(db *DB, earlier, first store.NewTask, more ...store.NewTask) (before, after []byte, _ error) {
	SetFlushBytes(db, noFlush)
	if _, err := db.CreateTask(context.Background(), earlier); err != nil {
		return nil, nil, err
	}
	err := db.do(context.Background(), &op{writes: true, run: func(x *txn) error {
		row, _ := parseID(first.ID)
		if _, err := x.create(&first, row); err != nil {
			return err
		}
		before = bytes.Clone(db.group[bucketTasks][string(row[:])])
		db.flushBytes = 1
		if err := x.makeRoom(); err != nil {
			return err
		}
		db.flushBytes = noFlush
		for _, n := range more {
			row, _ := parseID(n.ID)
			if _, err := x.create(&n, row); err != nil {
				return err
			}
		}
		after = bytes.Clone(db.group[bucketTasks][string(row[:])])
		return nil
	}})
	return before, after, err
}

// OpenRows returns the ids of the tasks that the tree has a row of `open` for.
func OpenRows(db *DB) (ids []string, err error) {
	err = db.bolt.View(func(tx *bolt.Tx) error {
		return bucketOpen.of(tx).ForEach(func(k, _ []byte) error {
			ids = append(ids, rowID(k).String())
			return nil
		})
	})
	return ids, err
}
