package disk

import (
	"os"
	"runtime"
)

// WritableError reports a file or folder that other users of the machine may write to.
type WritableError struct{ Path string }

// Error names the path and the command that mends it.
func (e *WritableError) Error() string {
	return e.Path + " can be written by its group or by others, who could put their own into it; chmod go-w " + e.Path + " closes it"
}

// Own returns a *WritableError where the group or others may write to what the path leads to: they could
// put their own keys, routes or results there. Windows keeps this elsewhere, and passes.
func Own(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return &WritableError{Path: path}
	}
	return nil
}

// WriteNew makes a private file. Whatever has the name already, a link too, is an error.
func WriteNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
