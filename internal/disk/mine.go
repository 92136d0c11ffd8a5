package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ForeignError reports a file that belongs to another user of the machine.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string { return e.Path + " belongs to another user" }

// ReadMine reads a regular file that was found by its name alone: in a folder such as /tmp anybody may have put it
// there. It returns a *ForeignError unless the file, and the link that leads to it, is this user's or root's, and a
// *WritableError as Own does. Windows keeps owners elsewhere, and passes.
func ReadMine(path string) ([]byte, error) {
	link, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // of the opened file, whatever has the name by now
	if err != nil {
		return nil, err
	}
	for _, one := range []fs.FileInfo{link, info} {
		if !mine(one) {
			return nil, &ForeignError{Path: path}
		}
	}
	if err := writable(path, info); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
