// Package disk makes written files durable: it syncs folders so that names survive a power cut, makes files without
// following links that others may have planted, locks them, and writes large files in pieces beside small urgent ones. Syncing a
// file is its writer's own matter.
package disk

import (
	"errors"
	"os"
	"runtime"
)

// ErrLocked is a file whose lock another process has.
var ErrLocked = errors.New("another process works on it")

// SyncDir makes the names in a folder durable: the files that were made, renamed or removed in it.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders can't be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err = d.Sync(); err == nil {
		_, err = d.Stat() // XFS that has shut down reports success for the sync, and an error here
	}
	return errors.Join(err, d.Close())
}
