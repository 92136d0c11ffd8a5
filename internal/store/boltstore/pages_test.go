package boltstore_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store/boltstore"
)

// treeOfPages returns the path and the bytes of a small file with branch pages, an overflow and a bucket in a row.
func treeOfPages(t *testing.T) (path string, raw []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tree.db")
	b, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	b.AllocSize = 4096
	err = b.Update(func(tx *bolt.Tx) error {
		rows, err := tx.CreateBucket([]byte("rows"))
		if err != nil {
			return err
		}
		for n := range 400 {
			if err := rows.Put(fmt.Appendf(nil, "key %04d", n), bytes.Repeat([]byte{'v'}, 100)); err != nil {
				return err
			}
		}
		small, err := tx.CreateBucket([]byte("small"))
		if err != nil {
			return err
		}
		return errors.Join(small.Put([]byte("k"), []byte("v")), rows.Put([]byte("long"), make([]byte, 20_000)))
	})
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	if found, err := boltstore.Sound(path); len(found) > 0 || err != nil {
		t.Fatalf("a sound file: %v, %v", found, err)
	}
	return path, mustReadFile(t, path)
}

// branch returns the offset of the first branch page.
func branch(t *testing.T, raw []byte) int {
	t.Helper()
	for at := 2 * 4096; at < len(raw); at += 4096 {
		if binary.NativeEndian.Uint16(raw[at+8:]) == 1 && binary.NativeEndian.Uint64(raw[at:]) == uint64(at/4096) {
			return at
		}
	}
	t.Fatal("the file has no branch page")
	return 0
}

// TestPages: each kind of damage is found, one that would lead a reader round in circles among them.
func TestPages(t *testing.T) {
	path, raw := treeOfPages(t)
	at := branch(t, raw)
	element := at + 16
	long := func(at int, n uint64) func([]byte) {
		return func(raw []byte) { binary.NativeEndian.PutUint64(raw[at:], n) }
	}
	word := func(at int, n uint32) func([]byte) {
		return func(raw []byte) { binary.NativeEndian.PutUint32(raw[at:], n) }
	}
	for name, tt := range map[string]struct {
		damage func(raw []byte)
		says   string
	}{
		"a page leads to itself":          {long(element+8, uint64(at/4096)), "named twice"},
		"a page leads beyond the end":     {long(element+8, 1<<40), "is named, and there are"},
		"a page leads to a meta page":     {long(element+8, 1), "is named, and there are"},
		"a page is another":               {long(at, 7), "says that it is page 7"},
		"a page is zeroed":                {func(raw []byte) { clear(raw[at : at+4096]) }, "says that it is page 0"},
		"a page goes on beyond the end":   {word(at+12, 1<<30), "goes on for"},
		"a page has too many elements":    {func(raw []byte) { raw[at+11] = 0xff }, "no room for its elements"},
		"a page has fewer elements":       {func(raw []byte) { raw[at+10]-- }, "is in no place"},
		"a page is of no kind":            {func(raw []byte) { raw[at+8] = 0x40 }, "is of kind"},
		"a key lies beyond the end":       {word(element, 1<<31), "lies beyond its end"},
		"a key is larger than the next":   {func(raw []byte) { raw[element+int(binary.NativeEndian.Uint32(raw[element:]))] = 0xff }, "aren't in order"},
		"both meta pages are overwritten": {func(raw []byte) { clear(raw[:2*4096]) }, "doesn't begin as a database"},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := bytes.Clone(raw)
			tt.damage(damaged)
			mustWriteFile(t, path, damaged)
			found, err := boltstore.Sound(path)
			if all := fmt.Sprint(found, err); !strings.Contains(all, tt.says) {
				t.Errorf("got %s, want %q among it", all, tt.says)
			}
		})
	}
}

// TestPagesAtRandom: whatever stands in the pages, looking at them ends.
func TestPagesAtRandom(t *testing.T) {
	path, raw := treeOfPages(t)
	found := 0
	for range 300 {
		damaged := bytes.Clone(raw)
		for range 1 + rand.IntN(8) {
			damaged[2*4096+rand.IntN(len(raw)-2*4096)] ^= byte(1 + rand.IntN(255))
		}
		mustWriteFile(t, path, damaged)
		if damage, err := boltstore.Sound(path); err != nil || len(damage) > 0 {
			found++
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
}
