package boltstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"unitask/internal/store/boltstore/wal"

	bolt "go.etcd.io/bbolt"
)

// Repaired lists the rows that a repair gave up and those that it rebuilt. Both may be shortened as a Report's
// findings are.
type Repaired struct {
	Lost   []Finding `json:"lost"`
	Mended []Finding `json:"mended"`
}

// damagedSuffix ends the name that a repair gives to a file of the log with a part that it can't read.
const damagedSuffix = ".damaged"

// Repair makes a store usable without its unreadable rows, and returns them: groups of the log that are damaged or
// missing, rows that have a wrong sum or were set aside, and what belonged to an account that is lost. Rows that derive
// from the tasks' records are rebuilt. Damaged pages are beyond it: a *DamagedError. A *LockedError says who works on
// the store.
func Repair(ctx context.Context, path string) (Repaired, error) {
	done := Repaired{Lost: []Finding{}, Mended: []Finding{}}
	if _, err := os.Stat(path); err != nil {
		return done, err
	}
	if err := salvage(path, &done); err != nil {
		return done, err
	}
	db, err := Open(Config{Path: path}) // the newest schema, and the rows that a start mends
	if err != nil {
		return done, err
	}
	if err := db.Close(); err != nil {
		return done, err
	}
	b, err := openFile(path, Config{}.options())
	if err != nil {
		return done, err
	}
	err = guarded(path, func() error {
		return update(b, func(tx *bolt.Tx) error {
			return (&repair{tx: tx, stop: ctx.Err, done: &done, lost: map[rowID]bool{}}).all()
		})
	})
	return done, errors.Join(err, b.Close())
}

// salvage brings every group of the log into the tree that can be read, and puts the files away if there are others.
// A row of a group is whole, so that groups are of use without those before them.
func salvage(path string, done *Repaired) error {
	b, err := openFile(path, Config{}.options())
	if err != nil {
		return err
	}
	if err := allValid(path); err != nil {
		return errors.Join(err, b.Close())
	}
	err = settle(b, path)
	if _, damaged := errors.AsType[*LogError](err); damaged {
		err = guarded(path, func() error { return salvageInto(b, path, err, done) })
	}
	return errors.Join(err, b.Close())
}

func salvageInto(b *bolt.DB, path string, cause error, done *Repaired) error {
	var l wal.State
	err := b.View(func(tx *bolt.Tx) (err error) {
		l, err = logOf(tx, path)
		return err
	})
	if err != nil {
		return err
	}
	t := &table{}
	var all []wal.Group
	for _, name := range wal.Paths(path) {
		groups, err := wal.ReadWhole(name, l)
		if err != nil {
			return err
		}
		all = append(all, groups...)
	}
	slices.SortFunc(all, func(a, b wal.Group) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, g := range all {
		var rows rows
		if err := rows.parse(g.Bytes); err != nil {
			return err
		}
		t.add(&rows, g.Seq)
	}
	if len(all) > 0 {
		if err := t.apply(b); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("%v: what its damaged or missing groups alone had is lost; %d groups could be read", cause, len(all))
	done.Lost = append(done.Lost, Finding{Subject: "log", Problem: note})
	if l.Open() {
		if err := update(b, func(tx *bolt.Tx) error { return putLogs(tx, [2]int64{}) }); err != nil {
			return err
		}
	}
	for _, name := range wal.Paths(path) {
		if err := os.Rename(name, name+damagedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
