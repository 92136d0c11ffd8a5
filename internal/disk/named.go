package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir makes a folder that is the user's alone, with those above it, and their names durable.
func MakeDir(dir string) error {
	var parents []string
	for at := dir; !exists(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		parents = append(parents, filepath.Dir(at))
	}
	if len(parents) == 0 {
		return nil
	}
	err := os.MkdirAll(dir, 0o700)
	for _, parent := range parents {
		err = errors.Join(err, SyncDir(parent))
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenLocked opens a file to read and to append, and locks it. It returns ErrLocked, or fs.ErrNotExist for one that has
// gone or goes meanwhile.
func OpenLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if err := LockNamed(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// LockNamed is Lock for a file that still has its name: it returns fs.ErrNotExist if another process has removed it.
func LockNamed(f *os.File) error {
	if err := Lock(f); err != nil {
		return err
	}
	ours, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(f.Name())
	if err != nil {
		return err
	}
	if !os.SameFile(ours, named) {
		return fs.ErrNotExist
	}
	return nil
}
