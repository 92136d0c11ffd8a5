//go:build unix

package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"unitask/internal/disk"
)

// TestReadMine reads a user's own file and refuses one that others may have put there.
func TestReadMine(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := disk.ReadMine(own); err != nil || string(got) != "text" {
		t.Errorf("got %q, %v, want the text", got, err)
	}
	if _, err := disk.ReadMine(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v, want that it doesn't exist", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ReadMine(pipe); err == nil {
		t.Error("a pipe was read")
	}
	if err := os.Chmod(own, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ReadMine(own); !is[*disk.WritableError](err) {
		t.Errorf("writable by others: %v, want a WritableError", err)
	}
}

// TestReadMineOfOthers needs root, who may give files away.
func TestReadMineOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	dir := t.TempDir()
	own, theirs, link := filepath.Join(dir, "own"), filepath.Join(dir, "theirs"), filepath.Join(dir, "link")
	for _, name := range []string{own, theirs} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(own, link), os.Chown(theirs, 1, 1), os.Lchown(link, 1, 1)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{theirs, link} {
		if _, err := disk.ReadMine(name); !is[*disk.ForeignError](err) {
			t.Errorf("%s: %v, want a ForeignError", name, err)
		}
	}
	if err := os.Lchown(link, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ReadMine(link); err != nil {
		t.Errorf("a link of this user's own: %v", err)
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
