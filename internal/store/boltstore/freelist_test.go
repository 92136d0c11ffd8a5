package boltstore_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"unitask/internal/store/boltstore"
)

// TestFreelistIsThereAfterACrash: the file as it stands between two flushes has its list of free pages,
// and so has the next one's, also when there are a thousand free pages and more. Under a long reader that
// makes the list longer it goes without, and gets it back once the reader is gone.
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
	want(true, "with as many free pages as merging runs leaves")
	boltstore.SetListMost(db, 1<<10)
	want(false, "with more than are listed")
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
