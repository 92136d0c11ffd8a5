//go:build !windows

package journal

import (
	"errors"
	"os"
)

// remove deletes a locked file before anybody else can lock it.
func remove(f *os.File) error {
	return errors.Join(os.Remove(f.Name()), f.Close())
}
