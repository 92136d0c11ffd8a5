package boltstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"unitask/internal/disk"
)

// LockedError reports that another process has the file open.
type LockedError struct {
	Path   string
	Holder string // "process 812, since 2026-11-21T08:38:00Z"; "" if that isn't known
}

// Error says who holds the file.
func (e *LockedError) Error() string {
	return e.Path + " is in use by " + cmp.Or(e.Holder, "another process")
}

// The holder stands in a file of its own: reading the store's needs its lock, and a system's table of
// locks is often hidden inside a container. It is only believed while the lock is held.
func holderPath(path string) string { return path + ".holder" }

func writeHolder(path string, start time.Time) error {
	text := fmt.Sprintf("process %d, since %s\n", os.Getpid(), start.UTC().Format(time.RFC3339))
	if err := removeHolder(path); err != nil { // of a process that was killed
		return err
	}
	return disk.WriteNew(holderPath(path), []byte(text))
}

func removeHolder(path string) error {
	if err := os.Remove(holderPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func lockedError(path string) error {
	text, err := os.ReadFile(holderPath(path))
	if err != nil {
		text = nil // unknown is said so
	}
	return &LockedError{Path: path, Holder: strings.TrimSpace(string(text))}
}
