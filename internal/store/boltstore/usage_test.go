package boltstore_test

import (
	"bytes"
	"slices"
	"testing"

	"unitask/internal/store/boltstore"
)

// FuzzSums: whatever is read is no sum below 0 and reads the same when it is written again, and a key
// that has parts is made of them.
func FuzzSums(f *testing.F) {
	f.Add([]byte("\x01\x01\x00\x80\x01"), []byte("kacct_1\x00\x00\x00P\xff"+"live\x00text.chat\x00key_1"))
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), []byte("s\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, row, key []byte) {
		numbers, again := boltstore.ReadSums(row)
		if slices.Min(numbers) < 0 {
			t.Errorf("%q reads as %d", row, numbers)
		}
		if second, _ := boltstore.ReadSums(again); !slices.Equal(numbers, second) {
			t.Errorf("%d is read again as %d", numbers, second)
		}
		if same, ok := boltstore.UsageKeyAgain(key); ok && !bytes.Equal(same, key) {
			t.Errorf("%q is written again as %q", key, same)
		}
	})
}
