//go:build !windows

package disk

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes the file's lock, which ends with the process or when the file is closed. ErrLocked if another process has it.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
