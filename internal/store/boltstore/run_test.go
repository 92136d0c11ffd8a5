package boltstore_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"unitask/internal/store/boltstore"
)

func digestOf(i int) [16]byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return [16]byte(sum[:])
}

func TestRunSearch(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 5000} {
		var in, out [][16]byte
		for i := range 2 * n {
			if d := digestOf(i); i < n {
				in = append(in, d)
			} else {
				out = append(out, d)
			}
		}
		out = append(out, [16]byte{}, [16]byte(slices.Repeat([]byte{0xff}, 16)))
		run := boltstore.EncodeRun(in...)
		for _, d := range in {
			if row, ok := boltstore.SearchRun(run, d); !ok || row != d {
				t.Fatalf("run of %d: %x not found", n, d)
			}
		}
		for _, d := range out {
			if _, ok := boltstore.SearchRun(run, d); ok {
				t.Fatalf("run of %d: %x found", n, d)
			}
		}
	}
	clustered := [][16]byte{{15: 1}, {15: 2}, {14: 1}, {0: 255}, {0: 255, 15: 9}}
	for _, d := range clustered {
		if _, ok := boltstore.SearchRun(boltstore.EncodeRun(clustered...), d); !ok {
			t.Errorf("clustered: %x not found", d)
		}
	}
}

// TestFilters: whatever runs come and go, each that holds a digest is named, the newest first, and removed ones
// aren't.
func TestFilters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var (
		filters boltstore.Filters
		keys    []uint64
		holders = map[[16]byte][]uint64{}
	)
	digests := make([][16]byte, 40)
	for i := range digests {
		digests[i] = digestOf(i)
	}
	for step := range uint64(2000) {
		switch {
		case len(keys) < 8 && random.IntN(4) == 0:
			held := digests[random.IntN(len(digests))]
			filters.Add(step, boltstore.EncodeRun(held))
			keys, holders[held] = append(keys, step), append(holders[held], step)
		case len(keys) > 0 && random.IntN(6) == 0:
			gone := keys[random.IntN(len(keys))]
			filters.Remove(gone)
			is := func(key uint64) bool { return key == gone }
			keys = slices.DeleteFunc(keys, is)
			for d := range holders {
				holders[d] = slices.DeleteFunc(holders[d], is)
			}
		}
		d := digests[random.IntN(len(digests))]
		got := filters.Runs(d)
		for _, key := range holders[d] {
			if !slices.Contains(got, key) {
				t.Fatalf("step %d: %x may be in %v, it is in %v", step, d, got, holders[d])
			}
		}
		for _, key := range got {
			if !slices.Contains(keys, key) {
				t.Fatalf("step %d: run %d is gone", step, key)
			}
		}
		if !slices.IsSortedFunc(got, func(a, b uint64) int { return cmp.Compare(b, a) }) {
			t.Fatalf("step %d: %v, want the newest first", step, got)
		}
	}
}

// FuzzRun: a run holds the digests that it says; a broken one never causes more than a wrong answer.
func FuzzRun(f *testing.F) {
	a, b := [16]byte{1, 2, 3}, [16]byte{0xf0, 15: 9}
	f.Add(boltstore.EncodeRun(a, b), a[:])
	f.Add(boltstore.EncodeRun(), b[:])
	f.Add([]byte("run"), a[:])
	f.Fuzz(func(t *testing.T, run, key []byte) {
		if len(key) != len(a) {
			return
		}
		boltstore.SearchRun(run, [16]byte(key))
		both := boltstore.EncodeRun(a, [16]byte(key))
		for _, d := range [][16]byte{a, [16]byte(key)} {
			if row, ok := boltstore.SearchRun(both, d); !ok || row != d {
				t.Fatalf("%x not found", d)
			}
		}
		_, held := boltstore.SearchRun(both, b)
		if want := [16]byte(key) == b; held != want {
			t.Fatalf("%x: found %v, want %v", b, held, want)
		}
	})
}
