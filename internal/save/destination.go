package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"unitask/internal/client"
	"unitask/internal/disk"
)

// ExistError names the files that Save didn't replace, at least one.
type ExistError struct{ Names []string }

// Error says so of the first.
func (e *ExistError) Error() string { return e.Names[0] + " is there already" }

// destination is a folder and the names of a result's parts in it. No file outside of the folder is written to, whatever
// the names are and whatever links stand there.
type destination struct {
	folder string
	names  []string
}

// destinationOf returns the place of the parts of a task's result: into a folder, or to a file or NAME.* as of -o.
func destinationOf(to, taskID string, parts []Part) (destination, error) {
	into := destination{folder: filepath.Dir(to)}
	if IsFolder(to) {
		into.folder = filepath.Clean(to)
	}
	for i, p := range parts {
		name, err := filepath.Rel(into.folder, fileName(to, taskID, p.ContentType, i+1))
		if err != nil || filepath.Base(name) != name || !filepath.IsLocal(name) {
			return destination{}, fmt.Errorf("%q is no name for a file", name)
		}
		into.names = append(into.names, name)
	}
	return into, nil
}

// save writes the parts, each whole or not at all, and returns the files' paths. Without replace it writes no file
// and returns a *ExistError if one is there already.
func (p destination) save(ctx context.Context, c *client.Client, parts []Part, replace bool) ([]string, error) {
	root, err := os.OpenRoot(p.folder)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p.folder, Err: disk.Cause(err)}
	}
	defer func() { _ = root.Close() }()
	if there := p.there(root); !replace && len(there) > 0 {
		return nil, &ExistError{Names: there}
	}
	var files []string
	for i, one := range parts {
		if err := writeInto(root, p.names[i], replace, func(w io.Writer) error { return one.Write(ctx, c, w) }); err != nil {
			return files, err
		}
		files = append(files, filepath.Join(p.folder, p.names[i]))
	}
	return files, nil
}

// there returns the names that are taken.
func (p destination) there(root *os.Root) []string {
	var taken []string
	for _, name := range p.names {
		if _, err := root.Lstat(name); err == nil {
			taken = append(taken, name)
		}
	}
	return taken
}

// writeInto makes a file in one step. One that is there is replaced, keeping its mode, or left alone.
func writeInto(root *os.Root, name string, replace bool, write func(io.Writer) error) (err error) {
	mode, err := claim(root, name, replace)
	if err != nil {
		return err
	}
	part := "." + name + "." + client.NewIdempotencyKey()[:8] + ".part"
	defer func() {
		if err != nil {
			_ = root.Remove(part)
		}
		if err != nil && !replace {
			_ = root.Remove(name) // which claim made
		}
	}()
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: disk.Cause(err)}
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err := errors.Join(err, write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return root.Rename(part, name)
}

// claim makes an empty file, so that whoever else makes one meanwhile isn't overwritten; or it
// returns the mode of the file that is to be replaced.
func claim(root *os.Root, name string, replace bool) (fs.FileMode, error) {
	if !replace {
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return 0, &ExistError{Names: []string{name}}
		}
		if err != nil {
			return 0, &fs.PathError{Op: "write", Path: name, Err: disk.Cause(err)}
		}
		return 0, f.Close()
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return 0, nil //nolint:nilerr // it isn't there, or making it says why it can't be
	case info.Mode().IsRegular():
		return info.Mode().Perm(), nil
	case info.Mode().Type() == fs.ModeSymlink:
		return 0, nil // the link is replaced, not its target
	default:
		return 0, fmt.Errorf("%s is no regular file", name)
	}
}
