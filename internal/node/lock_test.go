package node

import (
	"errors"
	"testing"

	"unitask/internal/store/boltstore"
)

// TestLockData: a data folder beside a database elsewhere is one process's, until it lets go.
func TestLockData(t *testing.T) {
	dir := t.TempDir()
	first, err := lockData(false, dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := lockData(false, dir)
	if _, locked := errors.AsType[*boltstore.LockedError](err); !locked {
		t.Errorf("the folder of another: %v", err)
	}
	_ = second.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := lockData(false, dir)
	if err != nil {
		t.Errorf("after it was let go: %v", err)
	}
	_ = third.Close()
}
