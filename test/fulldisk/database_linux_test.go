package fulldisk_test

import (
	"testing"

	"unitask/internal/task"
)

// TestDatabaseDiskFull fills the disk of the database in two steps: to the point at which new work is refused while
// accepted work still ends, and to the last byte.
func TestDatabaseDiskFull(t *testing.T) {
	b := newSetup(t, "")
	mount(t, b.Data(), 64*mib)
	b.Start()
	b.chat(10)
	b.awaitAll("before")

	release := b.paid.Hold()
	ballast := fill(t, b.Data(), 12*mib)
	for b.chat(30_000) {
		if len(b.tasks) > 5000 {
			t.Fatal("the disk never fills up")
		}
	}
	accepted := len(b.tasks)
	b.read("while the disk is full")
	b.mustRefuse("while the disk is full")
	release()
	b.awaitAll("while the disk is full")

	remove(t, ballast)
	release = b.paid.Hold()
	for range 50 {
		if !b.chat(30_000) {
			t.Fatal("refused although there is room again")
		}
	}
	ballast = fill(t, b.Data(), 0)
	for b.chat(30_000) { // into the pages that ended tasks left
	}
	b.mustRefuse("without a byte left")
	b.read("without a byte left")
	release()
	b.read("without a byte left")
	if n := b.states(); n[task.Failed]+n[task.Canceled] > 0 {
		t.Errorf("without a byte left: %v, want results that are kept or wait", n)
	}
	remove(t, ballast)
	b.awaitAll("once there was room")
	if !b.chat(10) {
		t.Error("refused although there is room again")
	}
	b.awaitAll("in the end")
	t.Logf("%d tasks until full, %d in all", accepted, len(b.tasks))
	b.close()
}

// TestDatabaseLimit fills the database to its own limit, on a disk that has room.
func TestDatabaseLimit(t *testing.T) {
	b := newSetup(t, ", database: 16MiB")
	b.Start()
	release := b.paid.Hold()
	for b.chat(30_000) {
		if len(b.tasks) > 5000 {
			t.Fatal("the database never fills up")
		}
	}
	accepted := len(b.tasks)
	b.mustRefuse("at the limit")
	b.read("at the limit")
	release()
	b.awaitAll("at the limit")
	if !b.chat(10) {
		t.Error("refused although the inputs of ended tasks are erased")
	}
	b.awaitAll("in the end")
	t.Logf("%d tasks until full", accepted)
	b.close()
}
