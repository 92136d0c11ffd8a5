package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/disk"
)

// stagingPrefix begins the name of the folder, within a data folder, that an archive is unpacked into: on the same
// file system, whatever the mounts.
const stagingPrefix = ".restore-"

// ErrOccupied reports a data folder that holds something already.
var ErrOccupied = errors.New("the data folder isn't empty")

// held are the names by which a data folder holds something; the logs are the newest part of the database.
var held = [...]string{DatabaseName, DatabaseName + ".log0", DatabaseName + ".log1", ArtifactsName, LocationName}

// Stage makes the folder to unpack into. Remains of restores that were cut off are removed.
func Stage(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	remains, err := filepath.Glob(filepath.Join(dir, stagingPrefix+"*"))
	if err != nil {
		return "", err
	}
	for _, path := range remains {
		if err := os.RemoveAll(path); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(dir, stagingPrefix) // made with mode 0700
}

// Occupied reports whether the data folder holds something.
func Occupied(dir string) bool {
	for _, name := range held {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// Aside moves the data folder's files into a folder within it, whose path it returns; "" for an empty one. No other
// process may work on it meanwhile.
func Aside(dir string, now time.Time) (string, error) {
	if !Occupied(dir) {
		return "", nil
	}
	aside := filepath.Join(dir, "before-restore-"+now.UTC().Format("20060102T150405.000Z"))
	if err := os.Mkdir(aside, 0o700); err != nil {
		return "", err
	}
	for _, name := range held {
		err := os.Rename(filepath.Join(dir, name), filepath.Join(aside, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, errors.Join(disk.SyncDir(aside), disk.SyncDir(dir))
}

// Place moves the unpacked files to their places and removes the rest of the staging folder: the database last,
// without which a data folder holds no tasks. ErrOccupied, without a change, if the folder isn't empty.
func Place(staging, dir string) error {
	if Occupied(dir) {
		return ErrOccupied
	}
	files := filepath.Join(staging, ArtifactsName)
	if err := os.Mkdir(files, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // an archive without any
		return err
	}
	if err := os.Rename(files, filepath.Join(dir, ArtifactsName)); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(staging, LocationName), filepath.Join(dir, LocationName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A link doesn't replace a file that a server has made here meanwhile.
	database := filepath.Join(staging, DatabaseName)
	if err := os.Link(database, filepath.Join(dir, DatabaseName)); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: a database was made in it meanwhile", ErrOccupied)
	} else if err != nil { // a file system without links
		if err := os.Rename(database, filepath.Join(dir, DatabaseName)); err != nil {
			return err
		}
	}
	return errors.Join(disk.SyncDir(dir), os.RemoveAll(staging))
}

// syncTree makes the names in a folder and below it durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = disk.SyncDir(path)
		}
		return err
	})
}
