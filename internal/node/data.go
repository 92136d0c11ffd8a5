package node

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"unitask/internal/backup"
	"unitask/internal/disk"
	"unitask/internal/store/boltstore"
)

// OpenData opens the database of a data folder and returns the folder's absolute path; it makes a missing folder and a
// missing database. c is without Path and Now.
func OpenData(dir string, c boltstore.Config) (db *boltstore.DB, abs string, err error) {
	if abs, err = makeData(dir); err != nil {
		return nil, "", err
	}
	c.Path, c.Now = filepath.Join(abs, backup.DatabaseName), wallClock
	db, err = boltstore.Open(c)
	return db, abs, err
}

// makeData makes a missing data folder, and returns its absolute path.
func makeData(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err = os.MkdirAll(abs, 0o700); err != nil {
		return "", err
	}
	return abs, disk.Own(abs)
}

// lockName is a file in the data folder that the process locks whose folder it is.
const lockName = "node.lock"

// lockData claims the data folder for this process, until the result is closed. A database file in it is locked by
// itself. A *boltstore.LockedError says that another process has the folder.
func lockData(oneNode bool, dir string) (io.Closer, error) {
	if oneNode {
		return io.NopCloser(nil), nil
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return io.NopCloser(nil), err
	}
	if err := disk.Lock(f); err != nil {
		if errors.Is(err, disk.ErrLocked) {
			err = &boltstore.LockedError{Path: dir}
		}
		return f, err
	}
	return f, nil
}
