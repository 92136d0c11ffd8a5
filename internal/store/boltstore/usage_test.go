package boltstore_test

import (
	"bytes"
	"slices"
	"testing"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// TestOldSums: a row from before a number was added has it at zero, and is written again as it was.
func TestOldSums(t *testing.T) {
	old := []byte("\x01\x01\x02\x03\x04\x05\x06\x07\x08\x09")
	numbers, again := boltstore.ReadSums(old)
	want := store.Usage{Succeeded: 1, Failed: 2, Canceled: 3, Cost: 9, Usage: task.Usage{
		InputTokens: 4, OutputTokens: 5, Images: 6, Milliseconds: 7, Characters: 8,
	}}
	if got := store.UsageOf([store.UsageNumbers]int64(numbers)); got != want || !bytes.Equal(again, old) {
		t.Errorf("%q reads as %+v and is written as %q", old, got, again)
	}
}

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
