package boltstore_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// TestFreelistIsThereAfterACrash: the file as it stands between two flushes has its list of free pages,
// and so has the next one's, also when a reader keeps a thousand pages and more. Under a long reader it goes
// without, and gets it back once the reader is gone.
func TestFreelistIsThereAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	want := func(want bool, when string) {
		t.Helper()
		mustCreate(t, db)
		mustFlush(t, db)
		if got := freelistWritten(t, path); got != want {
			t.Errorf("%s: the list is written: %v, want %v", when, got, want)
		}
	}
	want(true, "at first")
	release := boltstore.HoldReader(t, db)
	for range 400 {
		mustCreate(t, db)
		mustFlush(t, db)
	}
	want(true, "with as many kept pages as merging runs leaves")
	boltstore.SetPendingMost(db, 1<<10)
	want(false, "with more than are listed under a reader")
	if size := fileSize(t, path); size > 64<<20 {
		t.Errorf("the file has %d bytes", size)
	}
	release()
	for range 10 {
		mustCreate(t, db)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if !freelistWritten(t, path) {
		t.Error("Close left the list out")
	}
}

// TestFreelistHoweverLong: however many pages are free, the list is written with each flush, and when the log is
// brought into the tree after a crash.
func TestFreelistHoweverLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true, FlushAfter: time.Hour})
	boltstore.SetPendingMost(db, 1<<10)
	var large []store.NewTask
	for range 16 {
		n := freshTask()
		n.Input = sizedJSON(1 << 20)
		if _, err := db.CreateTask(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		large = append(large, n)
	}
	mustFlush(t, db)
	for _, n := range large {
		if _, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil { // its input goes
			t.Fatal(err)
		}
	}
	mustFlush(t, db)
	mustCreate(t, db)
	mustFlush(t, db)
	if free := boltstore.FreePages(db); free < 1<<10 {
		t.Fatalf("%d pages are free: not enough for the test", free)
	}
	if !freelistWritten(t, path) {
		t.Error("a flush left a long list out")
	}
	mustCreate(t, db)
	crashed := filepath.Join(t.TempDir(), "unitask.db")
	if err := boltstore.CopyStore(db, crashed); err != nil {
		t.Fatal(err)
	}
	o, err := boltstore.OpenOffline(crashed)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if !freelistWritten(t, crashed) {
		t.Error("a command that brought the log into the tree left the list out: the next start reads all of it")
	}
}

// TestFlushInterval: a list of some hundred thousand free pages isn't written every second for the sake of a few
// rows.
func TestFlushInterval(t *testing.T) {
	for pages, want := range map[int]time.Duration{0: time.Second, 1 << 16: time.Second, 1 << 20: 8 * time.Second} {
		if got := boltstore.FlushInterval(time.Second, pages); got != want {
			t.Errorf("with %d free pages: %s, want %s", pages, got, want)
		}
	}
}

func mustFlush(t testing.TB, db *boltstore.DB) {
	t.Helper()
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// freelistWritten reads the newer of bbolt's two meta pages.
func freelistWritten(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var newest, list uint64
	for page := range int64(2) {
		meta := make([]byte, 72)
		if _, err := f.ReadAt(meta, page*int64(os.Getpagesize())); err != nil {
			t.Fatal(err)
		}
		if txid := binary.NativeEndian.Uint64(meta[64:]); txid >= newest {
			newest, list = txid, binary.NativeEndian.Uint64(meta[48:])
		}
	}
	return list != ^uint64(0)
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
