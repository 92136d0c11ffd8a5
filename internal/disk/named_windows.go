package disk

import (
	"errors"
	"os"
)

// RemoveLocked deletes and closes a locked file, which can't be open here: another process may lock it in between.
func RemoveLocked(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
