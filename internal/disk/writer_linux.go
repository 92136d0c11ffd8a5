package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// writeOut has a part of the file written to the disk and waits for that. An error of the disk is reported once, here
// or by the file's sync, so it must not be ignored. On a system without such a call the sync does all.
func writeOut(f *os.File, from, n int64) error {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	for {
		err := unix.SyncFileRange(int(f.Fd()), from, n, all)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil, errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return nil
		default:
			return fmt.Errorf("writing %s out: %w", f.Name(), err)
		}
	}
}
