package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// WALPage is the size of the log's pages.
const WALPage = walPage

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
		db.wal.syncFunc = func(f *os.File) error {
			count()
			return syncData(f)
		}
	})
}

// Logged returns how many groups the log has taken.
func Logged(db *DB) (n uint64) {
	set(db, func() { n = db.wal.seq })
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
		logs, copies := walPaths(db.path), walPaths(to)
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

// WriteGroups writes groups of one row each to a new log, strikes those that begin with "!" as if the disk had been
// full, and returns the groups that are read back.
func WriteGroups(path string, values ...string) (read []string, err error) {
	id := identity{1}
	w, err := openWAL(path, id, 0, walPage, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, value := range values {
		at, seq := w.at, w.seq
		var group rows
		group.set(bucketSecrets, "key", []byte(value))
		if _, err := w.write(&group); err != nil {
			return nil, err
		}
		if strings.HasPrefix(value, "!") {
			w.at, w.seq = at, seq
			if err := errors.Join(w.invalidate(w.files[w.active]), w.note()); err != nil {
				return nil, err
			}
			if found, err := readWAL(path, logState{id: id, seq: seq, marked: true}); len(found) > 0 || err != nil {
				return nil, fmt.Errorf("a refused group is read back: %v, %w", found, err)
			}
		}
	}
	found, err := readWAL(path, logState{id: id, marked: true})
	for _, g := range found {
		var group rows
		if err := group.parse(g.rows); err != nil {
			return nil, err
		}
		for _, value := range group[bucketSecrets] {
			read = append(read, fmt.Sprintf("%d %s", g.seq, value))
		}
	}
	return read, err
}

// OpenLog makes a log of the usual size. write appends a group of one row and syncs it; stop closes the files.
func OpenLog(path string) (write func(value []byte) error, stop func() error, err error) {
	w, err := openWAL(path, identity{1}, 0, walRoom, false)
	if err != nil {
		return nil, nil, err
	}
	write = func(value []byte) error {
		var group rows
		group.set(bucketSecrets, "key", value)
		_, err := w.write(&group)
		return err
	}
	return write, w.close, nil
}

// GroupsOf returns how many groups the bytes hold of a store that never wrote any.
func GroupsOf(raw []byte) (int, error) {
	found, err := groupsOf(walFile{bytes.NewReader(raw), 0, int64(len(raw))}, identity{1, 2, 3}, 0)
	return len(found), err
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
