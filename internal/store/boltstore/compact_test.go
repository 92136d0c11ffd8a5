package boltstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store/boltstore"
)

// mustSwell makes the old store large and almost empty.
func mustSwell(t *testing.T, path string) {
	t.Helper()
	b, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("ballast")
	fill := func(tx *bolt.Tx) error {
		ballast, err := tx.CreateBucket(name)
		if err != nil {
			return err
		}
		return ballast.Put(name, make([]byte, 8<<20))
	}
	if err := errors.Join(b.Update(fill), b.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket(name) }), b.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCompact(t *testing.T) {
	path, old := mustUpgrade(t)
	mustSwell(t, path)
	before, after, err := boltstore.Compact(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if before < 8<<20 || after != info.Size() || after > 1<<20 || info.Mode() != 0o600 {
		t.Errorf("from %d to %d bytes, mode %s; the file has %d", before, after, info.Mode(), info.Size())
	}
	if err := old.compare(path); err != nil {
		t.Error(err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left in the folder: %v", left)
	}
}

// TestCompactKilled kills a compaction at calls by which it reaches the disk: the old file or the new
// one is there, whole.
func TestCompactKilled(t *testing.T) {
	mustHaveStrace(t)
	const points = 6 // of each call
	path := filepath.Join(t.TempDir(), "unitask.db")
	sizes := map[bool]int{} // whether the file was still large
	for _, call := range []string{"pwrite64", "fdatasync", "ftruncate", "renameat", "fsync"} {
		for n := 1; n <= points; n++ {
			old := mustReadOldStore(t, path)
			mustSwell(t, path)
			if !killedAt(t, compactorVariable+"="+path, call, n) {
				break
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			sizes[info.Size() > 8<<20]++
			if err := old.compare(path); err != nil {
				t.Fatalf("killed at %s number %d: %v", call, n, err)
			}
			if left := names(t, filepath.Dir(path)); len(left) != 1 {
				t.Errorf("killed at %s number %d: left in the folder: %v", call, n, left)
			}
		}
	}
	t.Logf("killed with the old file in place %d times, with the new one %d times", sizes[true], sizes[false])
	if sizes[true] == 0 || sizes[false] == 0 {
		t.Error("the kills missed one side of the renaming")
	}
}

// TestOpenWaitsForTheNewFile opens a file that is replaced while its lock is waited for.
func TestOpenWaitsForTheNewFile(t *testing.T) {
	path, old := mustUpgrade(t)
	b, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		opened <- old.compare(path) // would find the tasks missing in the file without a name
	}()
	next, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".next", next, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("tasks")) }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(path+".next", path), b.Close(), <-opened); err != nil {
		t.Error(err)
	}
}
