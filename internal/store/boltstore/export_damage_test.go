package boltstore

import (
	"context"
	"encoding/binary"
	"errors"
	"os"

	"unitask/internal/store/boltstore/wal"

	bolt "go.etcd.io/bbolt"
)

// Damage changes a row of the tree under a running engine, whose own memory stays as it is. The name is the
// bucket's; the row is the first that choose takes.
func Damage(db *DB, name string, choose func(key []byte) bool, change func(value []byte) []byte) error {
	return db.flushThen(context.Background(), func() error {
		return db.bolt.Update(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(name))
			c := b.Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				if choose(k) {
					return b.Put(append([]byte(nil), k...), change(append([]byte(nil), v...)))
				}
			}
			return errRecord
		})
	})
}

// Path returns the path of the engine's file.
func Path(db *DB) string { return db.path }

// Used is how far the files of a store are in use.
type Used struct {
	Page, Pages int64    // of the database: bytes of a page, and how many pages there are
	Logs        [2]int64 // bytes
	Newest      int      // the log with the newest group
}

// UsedOf returns how far the files of a store are in use that was killed.
func UsedOf(path string) (u Used, err error) {
	p, done, err := openPages(path)
	if err != nil {
		return u, err
	}
	u.Page, u.Pages = p.page, int64(p.meta.pages)
	if err := done(); err != nil {
		return u, err
	}
	o := Config{}.options()
	o.ReadOnly, o.InitialMmapSize = true, 0
	b, err := openFile(path, o)
	if err != nil {
		return u, err
	}
	var l wal.State
	err = b.View(func(tx *bolt.Tx) (err error) {
		l, err = logOf(tx, path)
		return err
	})
	if err := errors.Join(err, b.Close()); err != nil {
		return u, err
	}
	const groupHead = 32 // bytes before a group
	newest := uint64(0)
	for i, name := range wal.Paths(path) {
		found, err := wal.ReadWhole(name, l)
		if err != nil {
			return u, err
		}
		u.Logs[i] = wal.PageSize
		for _, g := range found {
			u.Logs[i] += int64((groupHead + len(g.Bytes) + wal.PageSize - 1) / wal.PageSize * wal.PageSize)
			if g.Seq > newest {
				newest, u.Newest = g.Seq, i
			}
		}
	}
	if newest == 0 {
		return u, os.ErrNotExist
	}
	return u, nil
}

// Sound returns the faults of a file's pages.
func Sound(path string) ([]string, error) { return valid(path, maxFindings) }

// LeadBack lets one of the ways of a bucket's first branch page lead to the page itself: the given one of a hundred
// parts, 0 the first and 100 the last.
func LeadBack(path, bucket string, part int) (err error) {
	p, done, err := openPages(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	root, err := p.read(p.meta.root)
	if err != nil {
		return err
	}
	row, at, err := p.valueAt(root, int64(root.id)*p.page, bucket)
	if err != nil {
		return err
	}
	page, begin, err := p.bucketPage(row, at)
	if err != nil {
		return err
	}
	if page.flags != branchPage || page.count < 3 {
		return p.damaged("%s has no branch page with three ways", bucket)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	way := begin + pageHeader + int64((page.count-1)*part/100)*elementSize + elementSize/2
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, page.id), way)
	return errors.Join(err, f.Close())
}
