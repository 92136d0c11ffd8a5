//go:build !windows

package save

import "syscall"

const (
	nonblocking = syscall.O_NONBLOCK
	errNoReader = syscall.ENXIO // of a named pipe without a reader
)
