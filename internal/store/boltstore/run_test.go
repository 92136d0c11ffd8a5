package boltstore_test

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"unitask/internal/store/boltstore"
)

func TestRunSearch(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 5000} {
		var in, out [][16]byte
		for i := range 2 * n {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
			if d := [16]byte(sum[:]); i < n {
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

// FuzzRun: what a run says it holds, it holds; a broken one holds nothing or something, and no more.
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
