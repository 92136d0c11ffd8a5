package disk

import (
	"io/fs"
	"os"
	"runtime"
)

// WritableError reports a file or folder that other users of the machine may write to.
type WritableError struct {
	Path string
	// Shared is a folder whose group was meant to write to it, by the setgid bit, as the volumes that Kubernetes
	// mounts under an fsGroup: as a rule it belongs to root, so this process can't close it.
	Shared bool
}

// Error names the path and, unless it is a shared folder, the command that mends it.
func (e *WritableError) Error() string {
	if e.Shared {
		return e.Path + " is shared with a group, whose members could put their own into it"
	}
	return e.Path + " can be written by its group or by others, who could put their own into it; chmod go-w " + e.Path + " closes it"
}

// Own returns a *WritableError if the group or others may write to the file or folder that the path leads to: they
// could put their own keys, routes or results there. Windows keeps this elsewhere, and passes.
func Own(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return writable(path, info)
}

// writable returns a *WritableError if the group or others may write to a file.
func writable(path string, info fs.FileInfo) error {
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return &WritableError{Path: path, Shared: info.Mode()&(fs.ModeSetgid|0o002) == fs.ModeSetgid}
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
