package node

import (
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
