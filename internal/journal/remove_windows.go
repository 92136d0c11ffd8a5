package journal

import (
	"errors"
	"os"
)

// remove deletes a file, which can't be open here. Who takes the entry in between finds the same task.
func remove(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
