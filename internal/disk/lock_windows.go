package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes the file's lock, which ends with the process or when the file is closed. ErrLocked if another process has
// it. It locks one byte behind any content, so that the file can still be read.
func Lock(f *os.File) error {
	behind := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
