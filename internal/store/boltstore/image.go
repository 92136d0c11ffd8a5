package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
)

// imagePrefix begins the name of an image under way, beside the file.
const imagePrefix = ".image-"

// Image returns the file with everything that is acknowledged now, and its size in bytes. It is copied to the disk
// first, which needs as much room again: whoever reads it may take their time, and a long read transaction would make
// the file grow. ErrFull if there is no room. The caller closes it.
func (db *DB) Image(ctx context.Context) (io.ReadCloser, int64, error) {
	copied, err := os.CreateTemp(filepath.Dir(db.path), filepath.Base(db.path)+imagePrefix)
	if err != nil {
		return nil, 0, err
	}
	_ = os.Remove(copied.Name()) // open, it lives on without a name; if the system can't, Close removes it
	image := &image{File: copied}
	err = db.whole(ctx, func(tx *bolt.Tx) error {
		size := tx.Size()
		if free, _, ok := diskSpace(db.path); ok && free < size+db.reserve() {
			return fmt.Errorf("%w: a copy of the database needs %d bytes, %d are free", store.ErrFull, size+db.reserve(), free)
		}
		_, err := tx.WriteTo(writerFunc(func(p []byte) (int, error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			return copied.Write(p)
		}))
		return err
	})
	if err == nil {
		err = endCopy(copied)
	}
	var size int64
	if err == nil {
		size, err = copied.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = copied.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, image.Close())
	}
	return image, size, nil
}

// whole reads the tree as it stands when it has everything: another time it may have half of a table.
func (db *DB) whole(ctx context.Context, read func(*bolt.Tx) error) error {
	var tx *bolt.Tx
	err := db.flushThen(ctx, func() (err error) {
		tx, err = db.bolt.Begin(false)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(guarded(db.path, func() error { return read(tx) }), tx.Rollback())
}

type image struct{ *os.File }

// Close frees the copy's room.
func (i *image) Close() error {
	err := i.File.Close()
	_ = os.Remove(i.Name()) // gone already, unless an open file keeps its name
	return err
}

// writerFunc is an io.Writer by one function.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
