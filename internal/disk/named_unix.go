//go:build !windows

package disk

import (
	"errors"
	"os"
)

// RemoveLocked deletes and closes a locked file before anybody else can lock it.
func RemoveLocked(f *os.File) error {
	return errors.Join(os.Remove(f.Name()), f.Close())
}
