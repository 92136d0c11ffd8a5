package disk

import (
	"errors"
	"io/fs"
)

// Cause returns an error of the file system without its path, for a message that names the path itself; any other
// error as it is.
func Cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
