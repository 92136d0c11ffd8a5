// Package save keeps results as files: it names them, writes each whole or not at all, and opens them with the system's
// program. Check finds out before a task is paid for whether its result has a place to go.
package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"unitask/internal/client"
	"unitask/internal/disk"
	"unitask/internal/hint"
	"unitask/internal/snippet"
)

// extensions are those of the content types that the service makes.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/wave": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg",
	"audio/opus": ".opus", "audio/flac": ".flac", "audio/aac": ".aac", "audio/mp4": ".m4a",
	"text/plain": ".txt", "application/json": ".json",
}

// extension returns the ending of a file with this content.
func extension(contentType string) string {
	base, _, _ := strings.Cut(contentType, ";")
	if e, ok := extensions[strings.TrimSpace(base)]; ok {
		return e
	}
	return ".bin"
}

// fileName returns the file of the n-th part of a task's result, counted from 1: the second of "fox.png" is
// "fox-2.png", in a folder the task's id is the name.
func fileName(output, taskID, contentType string, n int) string {
	stem, ext := strings.TrimSuffix(output, filepath.Ext(output)), filepath.Ext(output)
	if IsFolder(output) {
		stem, ext = filepath.Join(output, taskID), ".*"
	}
	if ext == ".*" {
		ext = extension(contentType)
	}
	if n > 1 {
		stem += "-" + strconv.Itoa(n)
	}
	return stem + ext
}

// IsFolder reports whether an -o names a folder: it ends in a slash, or is one.
func IsFolder(output string) bool {
	if strings.HasSuffix(output, "/") || strings.HasSuffix(output, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(output)
	return err == nil && info.IsDir()
}

// Absolute is an -o that means the same from any folder.
func Absolute(output string) string {
	if output == "" || output == "-" {
		return output
	}
	full, err := filepath.Abs(output)
	if err != nil {
		return output
	}
	if IsFolder(output) {
		full += string(filepath.Separator)
	}
	return full
}

// Check finds out before a task is paid for whether its result has a place to go.
func Check(output string, asJSON bool) error {
	if output == "-" && asJSON {
		return &hint.UsageError{Message: "--json and -o - both want stdout"}
	}
	if output == "" || output == "-" {
		return nil
	}
	return CheckFile("-o", output)
}

// CheckFile is Check of a file or a folder that is given by an option or a command.
func CheckFile(by, output string) error {
	if info, err := os.Stat(output); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return tryDevice(by, output)
	}
	parent := filepath.Dir(output)
	if IsFolder(output) {
		parent = firstThere(output)
	}
	info, err := os.Stat(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &hint.UsageError{Message: by + ": there is no folder " + parent, Hint: "mkdir -p " + snippet.Word(parent)}
	case err != nil:
		return &hint.UsageError{Message: by + ": " + err.Error()}
	case !info.IsDir():
		return &hint.UsageError{Message: by + ": " + parent + " is no folder"}
	}
	return tryFolder(by, parent)
}

// firstThere is a folder, or the first above it that exists: the others are made when they are needed.
func firstThere(dir string) string {
	dir = filepath.Clean(dir)
	for {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// tryFolder makes a file and removes it: only that says whether one can be made.
func tryFolder(by, dir string) error {
	f, err := os.CreateTemp(dir, ".unitask-*")
	if err != nil {
		return unwritable(by, dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// tryDevice opens a device or a pipe, without waiting for a pipe's other end.
func tryDevice(by, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|nonblocking, 0)
	if errors.Is(err, errNoReader) {
		return nil
	}
	if err != nil {
		return unwritable(by, name, err)
	}
	return f.Close()
}

func unwritable(by, path string, err error) error {
	return &hint.UsageError{Message: fmt.Sprintf("%s: %s can't be written: %v", by, path, disk.Cause(err)), Hint: by + " takes a file, or DIR/"}
}

// WriteFile makes a file in one step: it is there whole, or as it was, and who may read it stays. A device or a pipe
// is written to.
func WriteFile(name string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	mode := fs.FileMode(0) // of the file that is replaced
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	} else if err == nil {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+client.NewIdempotencyKey()[:8]+".part")
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part) }()
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err := errors.Join(err, write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(part, name)
}

// Mismatch says that a name promises another content, "" if it doesn't.
func Mismatch(name, contentType string) string {
	said, is := strings.ToLower(filepath.Ext(name)), extension(contentType)
	if said == ".jpeg" {
		said = ".jpg"
	}
	for _, known := range extensions {
		if said == known && said != is && is != ".bin" && is != ".txt" {
			return fmt.Sprintf("%s holds %s; -o 'NAME.*' chooses the right ending", name, contentType)
		}
	}
	return ""
}

// Replaces reports for each part of a task's result whether All would put it in the place of a file.
func Replaces(parts []Part, output, taskID string) []bool {
	replaced := make([]bool, len(parts))
	for i, p := range parts {
		info, err := os.Stat(fileName(output, taskID, p.ContentType, i+1))
		replaced[i] = err == nil && info.Mode().IsRegular()
	}
	return replaced
}

// All saves the parts of a task's result and returns the files that were written, in their order.
func All(ctx context.Context, c *client.Client, parts []Part, output, taskID string) ([]string, error) {
	var files []string
	for i, p := range parts {
		name := fileName(output, taskID, p.ContentType, i+1)
		if err := WriteFile(name, func(w io.Writer) error { return p.Write(ctx, c, w) }); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, nil
}
