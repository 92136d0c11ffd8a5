package boltstore

import (
	"context"
	"maps"
	"os"
	"slices"

	"unitask/internal/store/boltstore/wal"

	bolt "go.etcd.io/bbolt"
)

// SetPendingMost sets up to how many pages that readers keep a flush writes the list of free pages. No flush may
// be under way.
func SetPendingMost(db *DB, pages int) { set(db, func() { db.pendingMost = pages }) }

// FreePages returns how many pages of the file are free, or are kept for readers alone.
func FreePages(db *DB) (n int) {
	set(db, func() { n = db.freePages() })
	return n
}

// FlushInterval is how long a flush may wait with so many free pages.
var FlushInterval = flushInterval

// SetFlushBytes lets the tree take rows as soon as there are so many bytes of them.
func SetFlushBytes(db *DB, n int64) { set(db, func() { db.flushBytes = n }) }

// CountSyncs calls count at each sync of the log.
func CountSyncs(db *DB, count func()) {
	set(db, func() {
		db.wal.SyncFile = func(f *os.File) error {
			count()
			return wal.Sync(f)
		}
	})
}

// Logged returns how many groups the log has taken.
func Logged(db *DB) (n uint64) {
	set(db, func() { n = db.wal.Seq })
	return n
}

// KeepSize lets the tree take only rows that fit its file.
func KeepSize(db *DB) { set(db, func() { db.treeMost = int(db.treeSize.Load()) }) }

// set runs a change in the committer.
func set(db *DB, change func()) {
	_ = db.do(context.Background(), &op{run: func(*txn) error { change(); return nil }})
}

// TreeTasks returns how many tasks the tree has by itself.
func TreeTasks(db *DB) (n int, err error) {
	err = db.bolt.View(func(tx *bolt.Tx) error {
		n = bucketTasks.of(tx).Stats().KeyN
		return nil
	})
	return n, err
}

// CopyStore copies a store as it lies there between two groups, as a crash would leave it.
func CopyStore(db *DB, to string) error {
	return db.do(context.Background(), &op{run: func(*txn) error {
		logs, copies := wal.Paths(db.path), wal.Paths(to)
		for i, name := range append(logs[:], db.path) {
			raw, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(append(copies[:], to)[i], raw, 0o600)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}})
}

// ReencodeRows reads a group's rows and writes them in order, each bucket's by their keys.
func ReencodeRows(raw []byte) ([]byte, bool) {
	var group rows
	if err := group.parse(raw); err != nil {
		return nil, false
	}
	var ordered []byte
	for b, changed := range group {
		for _, key := range slices.Sorted(maps.Keys(changed)) {
			var one rows
			one.set(bucket(b), key, changed[key])
			ordered = one.append(ordered)
		}
	}
	return ordered, true
}
