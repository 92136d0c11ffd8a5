package main

import (
	"errors"
	"os"
	"syscall"
)

// syncData makes a file's bytes last, as the engine does.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }

// fadvDontNeed is POSIX_FADV_DONTNEED.
const fadvDontNeed = 4

// dropCache takes a file's pages from the cache, so that the next process reads them from the disk.
func dropCache(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if _, _, failed := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, fadvDontNeed, 0, 0); failed != 0 {
		err = errors.Join(err, failed)
	}
	return errors.Join(err, f.Close())
}
