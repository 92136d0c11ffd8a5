package boltstore_test

import (
	"path/filepath"
	"testing"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// TestEmptyQueueRingsNobody: a synchronous task's end frees its place, and wakes a claim only if a task waits for it.
func TestEmptyQueueRingsNobody(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	queue, stop := db.Wake(store.TopicQueue)
	defer stop()
	rungAfter := func(what string, want bool, change func()) {
		t.Helper()
		change()
		got := false
		select {
		case <-queue:
			got = true
		default: // an answer comes after its ring
		}
		if got != want {
			t.Errorf("%s: rung %v, want %v", what, got, want)
		}
	}
	whole := func() {
		if err := runWhole(db); err != nil {
			t.Error(err)
		}
	}
	rungAfter("a synchronous task alone", false, whole)
	rungAfter("a task that waits", true, func() { mustCreate(t, db) })
	rungAfter("a synchronous task while another waits", true, whole)
}
