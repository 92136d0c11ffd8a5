package secret

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

const fileLimit = 64 << 10 // bytes; no key is longer, and a wrong path may be a device or a disk image

// readFile returns the file's text without the line ends after it. A file that every user may
// write is ErrUnsafe, because anybody could have put another key there.
func readFile(path string) (Value, error) {
	f, err := os.Open(path)
	if err != nil {
		return Value{}, fileError(path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Value{}, fileError(path, err)
	}
	if !info.Mode().IsRegular() {
		return Value{}, &Error{Kind: ErrUnsafe, Message: "secret file " + path + " is not a regular file"}
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 { // modes don't cover other users there
		return Value{}, &Error{
			Kind: ErrUnsafe, Message: "secret file " + path + " can be written by every user",
			Hint: "chmod 600 " + path,
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err != nil {
		return Value{}, fileError(path, err)
	}
	if len(raw) > fileLimit {
		return Value{}, &Error{Kind: ErrUnsafe, Message: "secret file " + path + " is over 64 KiB"}
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if text == "" {
		return Value{}, &Error{Kind: ErrNotFound, Message: "secret file " + path + " is empty"}
	}
	return New(text), nil
}

// Warning describes a doubt about the place, "" without one: a file that every user of the machine may read. That is
// no error, because containers mount their secrets so.
func (r Ref) Warning() string {
	if r.scheme != schemeFile || runtime.GOOS == "windows" {
		return ""
	}
	info, err := os.Stat(r.name)
	if err != nil || info.Mode().Perm()&0o004 == 0 {
		return ""
	}
	return "secret file " + r.name + " can be read by every user of this machine; chmod 600 closes it"
}

func fileError(path string, err error) *Error {
	// A PathError repeats the path that the message names already.
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &Error{Kind: ErrNotFound, Message: "secret file " + path + " can't be read", cause: err}
}
