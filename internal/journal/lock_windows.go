package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the file's lock, which ends with the process or when the file is closed. It locks one
// byte behind any content, so that the file can still be read.
func lock(f *os.File) error {
	behind := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrBusy
	}
	return err
}

// remove deletes a file, which can't be open here. Who takes the entry in between finds the same task.
func remove(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
