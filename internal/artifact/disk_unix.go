//go:build unix

package artifact

import (
	"errors"
	"syscall"
)

// isFull reports whether the disk, or its user's share of it, is used up.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
