package wal

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// appending is a group of these bytes.
func appending(group []byte) func([]byte) []byte {
	return func(b []byte) []byte { return append(b, group...) }
}

// TestRefusedGroupLeavesNothing: a group that was refused for want of room isn't read back, and the next
// takes its number and its place.
func TestRefusedGroupLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	got, err := writeGroups(path, "kept", "!refused", "next", "!refused", "last")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 kept", "2 next", "3 last"}, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// writeGroups writes groups to a new log, takes those back that begin with "!" as if the disk had been full, and returns
// the groups that are read back.
func writeGroups(path string, values ...string) (read []string, err error) {
	id := ID{1}
	l, err := Open(path, id, 0, PageSize, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, value := range values {
		at, seq := l.at, l.Seq
		if _, err := l.Write(appending([]byte(value))); err != nil {
			return nil, err
		}
		if strings.HasPrefix(value, "!") {
			l.at, l.Seq = at, seq
			if err := errors.Join(l.invalidate(l.files[l.active]), l.putMark()); err != nil {
				return nil, err
			}
			if found, err := Read(path, State{ID: id, Seq: seq, Marked: true}); len(found) > 0 || err != nil {
				return nil, fmt.Errorf("a refused group is read back: %v, %w", found, err)
			}
		}
	}
	found, err := Read(path, State{ID: id, Marked: true})
	for _, g := range found {
		read = append(read, fmt.Sprintf("%d %s", g.Seq, g.Bytes))
	}
	return read, err
}

// TestFull: a log is full at its room, and Switch goes on in the other file.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	l, err := Open(path, ID{1}, 0, 2*PageSize, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for n := uint64(1); n <= 3; n++ {
		if l.Full() {
			t.Errorf("full before group %d", n)
		}
		if got, err := l.Write(appending([]byte("a group"))); got != n || err != nil {
			t.Fatalf("Write: %d, %v; want %d", got, err, n)
		}
		if !l.Full() {
			t.Errorf("not full after group %d", n)
		}
		l.Switch()
	}
	found, err := Read(path, State{ID: ID{1}, Seq: 1, Marked: true})
	if len(found) != 2 || err != nil {
		t.Errorf("Read: %d groups after the first (%v), want 2", len(found), err)
	}
}

// FuzzLog reads whatever a file of the log may hold: no group is made up.
func FuzzLog(f *testing.F) {
	for _, seed := range []string{"", "a group", strings.Repeat("x", 2*PageSize)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if found, err := groupsOf(file{bytes.NewReader(raw), 0, int64(len(raw))}, ID{1, 2, 3}, 0); len(found) > 0 {
			t.Errorf("%d groups (%v) of another's bytes", len(found), err)
		}
	})
}
