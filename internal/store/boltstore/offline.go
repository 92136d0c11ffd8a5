package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"unitask/internal/disk"
)

// Offline is a store that no process works on. It is looked at, never changed, and others may look at it at the same
// time; no process can open it for work meanwhile. Rows that a killed process had left in the log are brought into
// the file first.
type Offline struct {
	resting
	schema uint64
	damage []string // of its pages; then the file isn't read
}

// OpenOffline opens the file for reading. Of one with damaged pages Check alone says something. A *LockedError says who works on it, a *SchemaError that
// this version can't read it.
func OpenOffline(path string) (*Offline, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	for tries := 0; ; tries++ {
		off, behind, err := openOffline(path)
		if err != nil || !behind {
			return off, err
		}
		if err := errors.Join(off.Close(), catchUp(path)); err != nil {
			if _, locked := errors.AsType[*LockedError](err); locked && tries < catchUpTries {
				continue // by another who looks at it, and has caught up by now
			}
			return nil, err
		}
	}
}

const catchUpTries = 3

// openOffline also reports whether the tree lacks groups of the log.
func openOffline(path string) (_ *Offline, behind bool, _ error) {
	o := Config{}.options()
	o.ReadOnly, o.InitialMmapSize = true, 0
	b, err := openFile(path, o)
	if err != nil {
		return nil, false, err
	}
	off := &Offline{resting: resting{path, b}}
	if off.damage, err = valid(path, maxFindings); err != nil {
		return nil, false, errors.Join(err, b.Close())
	}
	if len(off.damage) > 0 {
		return off, false, nil
	}
	err = guarded(path, func() error {
		return b.View(func(tx *bolt.Tx) (err error) {
			if off.schema, err = schemaOf(tx, path); err != nil {
				return err
			}
			l, err := logOf(tx, path)
			if err != nil {
				return err
			}
			groups, err := unread(tx, path)
			behind = len(groups) > 0 || l.Open()
			return err
		})
	})
	if err != nil {
		return nil, false, errors.Join(err, b.Close())
	}
	return off, behind, nil
}

// catchUp brings the log into the tree.
func catchUp(path string) error {
	b, err := openFile(path, Config{}.options())
	if err != nil {
		return err
	}
	return errors.Join(settle(b, path), b.Close())
}

// Close gives the file back.
func (o *Offline) Close() error { return o.bolt.Close() }

// Image returns the file as it lies there and its size in bytes, under the lock that o holds. The caller closes it,
// before o. A *store.UnfinishedError for a copy that isn't finished.
func (o *Offline) Image(context.Context) (io.ReadCloser, int64, error) {
	if len(o.damage) > 0 {
		return nil, 0, &DamagedError{Path: o.path, Problem: o.damage[0]}
	}
	var size int64
	if err := o.view(func(tx *bolt.Tx) error { size = tx.Size(); return unfinished(tx) }); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(o.path)
	if err != nil {
		return nil, 0, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, size), f}, size, nil
}

// openFile opens the file under its lock, once it is sure that bbolt can read the pages that opening reads.
func openFile(path string, o *bolt.Options) (*bolt.DB, error) {
	if o.ReadOnly {
		b, err := openLocked(path, o)
		if err != nil {
			return nil, err
		}
		if err := provePages(path, false); err != nil {
			return nil, errors.Join(err, b.Close())
		}
		return b, nil
	}
	look := *o
	look.ReadOnly, look.InitialMmapSize = true, 0 // only the meta pages are read
	b, err := openLocked(path, &look)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(provePages(path, true), b.Close()); err != nil {
		return nil, err
	}
	return openLocked(path, o)
}

// openLocked opens the file. While it waited for the lock, the file may have been replaced by another, and writes to
// the old one would be lost: it is opened anew.
func openLocked(path string, o *bolt.Options) (*bolt.DB, error) {
	var opened *os.File
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		opened, err = os.OpenFile(name, flag|disk.NoFollow, mode)
		return opened, err
	}
	for {
		var b *bolt.DB
		err := guarded(path, func() (err error) {
			b, err = bolt.Open(path, 0o600, o)
			return err
		})
		if errors.Is(err, bolterrors.ErrTimeout) {
			return nil, lockedError(path)
		}
		if _, damaged := errors.AsType[*DamagedError](err); damaged {
			return nil, errors.Join(err, opened.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("boltstore: open %s: %w", path, err)
		}
		have, err := opened.Stat()
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(have, now) {
			return b, nil
		}
		if err := b.Close(); err != nil {
			return nil, err
		}
	}
}
