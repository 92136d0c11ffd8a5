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
	if abs, err = filepath.Abs(dir); err != nil {
		return nil, "", err
	}
	if err = os.MkdirAll(abs, 0o700); err != nil {
		return nil, "", err
	}
	if err = disk.Own(abs); err != nil {
		return nil, "", err
	}
	c.Path, c.Now = filepath.Join(abs, backup.DatabaseName), wallClock
	db, err = boltstore.Open(c)
	return db, abs, err
}
