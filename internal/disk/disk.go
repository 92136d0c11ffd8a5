// Package disk makes what was written last: the one place that knows how a folder's names survive a
// power cut, how a file is made in a folder without following what somebody else has put there, and how
// large files are written beside small ones that others wait for. Syncing a file is its writer's own matter.
package disk

import (
	"errors"
	"os"
	"runtime"
)

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
