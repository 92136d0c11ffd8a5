package artifact

import (
	"errors"
	"syscall"
)

// ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL.
const (
	handleDiskFull syscall.Errno = 39
	diskFull       syscall.Errno = 112
)

// isFull reports whether the disk is used up.
func isFull(err error) bool { return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull) }
