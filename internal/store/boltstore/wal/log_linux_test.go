package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestGroupDirtiesItsPagesAlone: a group dirties its own pages in the kernel's cache, not the whole of the large folios in
// which a new log would be cached.
func TestGroupDirtiesItsPagesAlone(t *testing.T) {
	runtime.LockOSThread() // the kernel counts by thread
	defer runtime.UnlockOSThread()
	dir := t.TempDir()
	before := dirtied(t)
	if err := os.WriteFile(filepath.Join(dir, "control"), make([]byte, PageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if dirtied(t) == before {
		t.Skip("not run: the kernel doesn't count what is written in the folder for temporary files")
	}
	l, err := Open(filepath.Join(dir, "unitask.db"), ID{1}, 0, Room, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	const groups, pages = 50, 8
	before = dirtied(t)
	for range groups {
		if _, err := l.Write(appending(make([]byte, (pages-1)*PageSize))); err != nil {
			t.Fatal(err)
		}
	}
	// A group's pages and the mark's; twice, because a group may share folios with the one before.
	if got, most := dirtied(t)-before, int64(2*groups*(pages+1)*PageSize); got > most {
		t.Errorf("%d groups of %d pages made the kernel write %d bytes, want at most %d", groups, pages, got, most)
	}
}

// dirtied returns how many bytes of the page cache this thread has dirtied, by the kernel's count (proc(5), write_bytes).
func dirtied(t *testing.T) (n int64) {
	t.Helper()
	raw, err := os.ReadFile("/proc/thread-self/io")
	if err != nil {
		t.Skipf("not run: the kernel doesn't count what is written: %v", err)
	}
	_, rest, _ := strings.Cut(string(raw), "\nwrite_bytes: ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return n
}
