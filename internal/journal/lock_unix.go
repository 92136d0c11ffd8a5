//go:build !windows

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the file's lock, which ends with the process or when the file is closed.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

// remove deletes a locked file before anybody else can lock it.
func remove(f *os.File) error {
	return errors.Join(os.Remove(f.Name()), f.Close())
}
