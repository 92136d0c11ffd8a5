package wal

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sync makes a file's bytes last, and its size, but no times.
func Sync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// uncache drops a synced file from the kernel's page cache. Linux may cache a file in folios as large as the write that
// made them (ext4 since 6.16), and each later write into a folio walks through all of its blocks. It is advice: the
// kernel may ignore it, at the cost of time alone.
func uncache(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
