package save

import "syscall"

const (
	nonblocking = 0
	errNoReader = syscall.ENXIO
)
