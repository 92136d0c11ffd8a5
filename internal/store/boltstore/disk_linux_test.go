package boltstore_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
)

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("not run: no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(dir, "unitask.db"), Now: clock.Now})
	t.Cleanup(func() { _ = db.Close() }) // before the unmount
	proveFullStore(t, db, clock)

	accepted := fill(t, db, clock)
	rest := filepath.Join(dir, "rest") // takes the room that the store had left for itself
	if err := os.WriteFile(rest, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("WriteFile: got %v, want a full disk", err)
	}
	job := append(append([]byte(`"`), bytes.Repeat([]byte("x"), 3<<20)...), '"')
	before, err := db.GetTask(t.Context(), victimScope, accepted[0].Ref.TaskID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Advance(t.Context(), accepted[0].Ref, store.Step{Submitted: job}); !errors.Is(err, store.ErrFull) {
		t.Fatalf("a commit that meets the end of the disk: got %v, want ErrFull", err)
	}
	after, err := db.GetTask(t.Context(), victimScope, accepted[0].Ref.TaskID)
	if err != nil || after.Revision != before.Revision {
		t.Errorf("afterwards: revision %d (%v), want %d", after.Revision, err, before.Revision)
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	endAll(t, db, accepted)
	mustBeConsistent(t, db)
}

// TestNoRoomForARun: a full disk has no room for the run that the idempotency log is due to become. Everything else
// goes on, and the log serves instead.
func TestNoRoomForARun(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("not run: no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(dir, "unitask.db"), NoSync: true})
	t.Cleanup(func() { _ = db.Close() }) // before the unmount
	tasks := make([]store.NewTask, 4000)
	for i := range tasks {
		tasks[i] = freshTask()
		tasks[i].IdempotencyHash = hashOf(uint64(i))
		if _, err := db.CreateTask(t.Context(), tasks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	rest := filepath.Join(dir, "rest")
	if err := os.WriteFile(rest, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("WriteFile: got %v, want a full disk", err)
	}
	boltstore.SetRunLength(db, len(tasks))
	flushed := make(chan error, 1)
	go func() { flushed <- db.Flush(context.Background()) }()
	select {
	case err := <-flushed:
		if err != nil {
			t.Errorf("Flush: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Flush waits for a run that has no room")
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	for _, n := range tasks {
		if found, err := db.FindTask(t.Context(), n.Scope, n.IdempotencyHash); err != nil || found.ID != n.ID {
			t.Fatalf("under the key of %s: %q, %v", n.ID, found.ID, err)
		}
	}
	mustBeConsistent(t, db)
}

// TestFailedCommitEndsTheEngine takes the log away under the engine: the next commit fails, Fatal is called once and
// only errors are answered.
func TestFailedCommitEndsTheEngine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	var fatal []error
	db := mustOpen(t, boltstore.Config{Path: path, Fatal: func(err error) { fatal = append(fatal, err) }})
	before := mustCreate(t, db)
	makeReadOnly(t, path+".log0")

	n := freshTask()
	if _, err := db.CreateTask(t.Context(), n); err == nil || errors.Is(err, store.ErrFull) {
		t.Errorf("CreateTask: got %v, want the failure", err)
	}
	if _, err := db.CreateTask(t.Context(), freshTask()); err == nil {
		t.Error("CreateTask afterwards: no error")
	}
	if _, err := db.GetTask(t.Context(), before.Scope, before.ID); err == nil {
		t.Error("GetTask afterwards: no error")
	}
	if len(fatal) != 1 {
		t.Errorf("Fatal was called %d times, want once: %v", len(fatal), fatal)
	}
}

// makeReadOnly puts a descriptor that can't write in the place of those on the file.
func makeReadOnly(t *testing.T, path string) {
	t.Helper()
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = readOnly.Close() }() // read only
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Fatalf("no descriptors: %v", err)
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		fd := descriptor(link)
		if err != nil || target != path || fd == int(readOnly.Fd()) {
			continue
		}
		if err := syscall.Dup3(int(readOnly.Fd()), fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
}

func descriptor(link string) (fd int) {
	for _, digit := range strings.TrimPrefix(link, "/proc/self/fd/") {
		fd = fd*10 + int(digit-'0')
	}
	return fd
}

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	for magic, refused := range map[uint32]bool{0x6969: true, 0xff534d42: true, 0xef53: false, 0x58465342: false} {
		if err := boltstore.RefuseFilesystem("dir", magic); (err != nil) != refused {
			t.Errorf("magic %#x: got %v, want refused %v", magic, err, refused)
		}
	}
}
