package boltstore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/boltstore/wal"
)

// crashImage returns the path of a store as a crash leaves it, whose tasks stand in the log alone, a group
// each, and those tasks.
func crashImage(t *testing.T, n int) (string, []store.NewTask) {
	t.Helper()
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	tasks := make([]store.NewTask, n)
	for i := range tasks {
		tasks[i] = mustCreate(t, db)
	}
	if rows, err := boltstore.TreeTasks(db); rows != 0 || err != nil {
		t.Fatalf("the tree has %d tasks already (%v): the test proves nothing", rows, err)
	}
	path := filepath.Join(t.TempDir(), "unitask.db")
	if err := boltstore.CopyStore(db, path); err != nil {
		t.Fatal(err)
	}
	return path, tasks
}

// lost returns how many of the tasks the store doesn't have.
func lost(t *testing.T, db *boltstore.DB, tasks []store.NewTask) (n int) {
	t.Helper()
	for _, want := range tasks {
		_, err := db.GetTask(t.Context(), want.Scope, want.ID)
		if errors.Is(err, store.ErrNotFound) {
			n++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestLogIsReadAtAStart(t *testing.T) {
	path, tasks := crashImage(t, 20)
	db := mustOpen(t, boltstore.Config{Path: path})
	if n := lost(t, db, tasks); n > 0 {
		t.Errorf("%d of %d are lost", n, len(tasks))
	}
	mustBeConsistent(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"unitask.db"}, names(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files after Close (-want +got):\n%s", diff)
	}
}

func TestLogIsReadOffline(t *testing.T) {
	path, tasks := crashImage(t, 20)
	if got := mustCheck(t, path, boltstore.CheckConfig{}); got.Tasks != int64(len(tasks)) || len(got.Findings) > 0 {
		t.Errorf("a check sees %d tasks of %d: %v", got.Tasks, len(tasks), got.Findings)
	}
	path, tasks = crashImage(t, 20)
	if _, _, err := boltstore.Compact(path); err != nil {
		t.Fatal(err)
	}
	if n := lost(t, mustOpen(t, boltstore.Config{Path: path}), tasks); n > 0 {
		t.Errorf("%d of %d are lost by a compaction", n, len(tasks))
	}
}

// TestLogOfASecondCrash: the rows that the first start read and the groups after it are there after the next crash.
func TestLogOfASecondCrash(t *testing.T) {
	path, tasks := crashImage(t, 5)
	for range 3 {
		db := mustOpen(t, boltstore.Config{Path: path})
		for range 5 {
			tasks = append(tasks, mustCreate(t, db))
		}
		next := filepath.Join(t.TempDir(), "unitask.db")
		if err := boltstore.CopyStore(db, next); err != nil {
			t.Fatal(err)
		}
		path = next
	}
	db := mustOpen(t, boltstore.Config{Path: path})
	if n := lost(t, db, tasks); n > 0 {
		t.Errorf("%d of %d are lost", n, len(tasks))
	}
	mustBeConsistent(t, db)
}

// groups returns the offsets of groups, in the order of their numbers, which begin at 1.
func groups(log []byte) (at []int) {
	for page := 0; page < len(log); page += wal.PageSize {
		if binary.BigEndian.Uint64(log[page+24:]) == uint64(len(at)+1) {
			at = append(at, page)
		}
	}
	return at
}

// TestDamagedLog: a group torn off at the end by a power cut was never acknowledged; every other fault is refused,
// without a change.
func TestDamagedLog(t *testing.T) {
	const created = 6
	wrongByte := func(log []byte, at []int) []byte { log[at[created-1]+50] ^= 1; return log }
	wrongPadding := func(log []byte, at []int) []byte { log[at[created-1]+wal.PageSize-1] ^= 1; return log }
	for _, c := range []struct {
		name    string
		damage  func(log []byte, at []int) []byte
		behind  bool // the mark, as after a power cut
		missing bool // the other file
		lost    int
		says    string
	}{
		{name: "nothing", damage: func(log []byte, _ []int) []byte { return log }},
		{name: "a file is empty", says: "cut short", damage: func(log []byte, _ []int) []byte { return log[:0] }},
		{name: "the last group's end is missing", says: "cut short", damage: func(log []byte, at []int) []byte { return log[:at[created-1]+100] }},
		{name: "the last page is missing", says: "cut short", damage: func(log []byte, _ []int) []byte { return log[:len(log)-1] }},
		{name: "the last group has a wrong byte", says: "was kept", damage: wrongByte},
		{name: "the last group's padding has a wrong byte", says: "was kept", damage: wrongPadding},
		{name: "the last group was torn off", lost: 1, behind: true, damage: wrongByte},
		{name: "the last group's padding was torn off", lost: 1, behind: true, damage: wrongPadding},
		{name: "all groups are gone", says: "was kept", damage: func(log []byte, _ []int) []byte { clear(log); return log }},
		{name: "a group has a wrong byte", says: "damaged", damage: func(log []byte, at []int) []byte { log[at[2]+50] ^= 1; return log }},
		{name: "the first group is gone", says: "damaged", damage: func(log []byte, at []int) []byte { clear(log[:at[1]]); return log }},
		{name: "a group is gone", says: "damaged", damage: func(log []byte, at []int) []byte {
			return append(append(log[:at[2]:at[2]], log[at[3]:]...), make([]byte, at[3]-at[2])...)
		}},
		{name: "the other file is gone", says: "isn't there", missing: true, damage: func(log []byte, _ []int) []byte { return log }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, tasks := crashImage(t, created)
			log := mustReadFile(t, path+".log0")
			at := groups(log)
			if len(at) < created {
				t.Fatalf("the log has groups at %v", at)
			}
			mustWriteFile(t, path+".log0", c.damage(log, at[len(at)-created:]))
			if c.behind {
				other := mustReadFile(t, path+".log1")
				clear(other[:wal.PageSize])
				mustWriteFile(t, path+".log1", other)
			}
			if c.missing {
				if err := os.Remove(path + ".log1"); err != nil {
					t.Fatal(err)
				}
			}
			tree, left := mustReadFile(t, path), mustReadFile(t, path+".log0")
			db, err := boltstore.Open(boltstore.Config{Path: path})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("Open: got %v, want it to say %q", err, c.says)
				}
				if !bytes.Equal(tree, mustReadFile(t, path)) || !bytes.Equal(left, mustReadFile(t, path+".log0")) {
					t.Error("a refused start changed the files")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if n := lost(t, db, tasks); n != c.lost {
				t.Errorf("%d of %d are lost, want %d", n, created, c.lost)
			}
		})
	}
}

// TestLogIsGone takes away both files of a log after a crash.
func TestLogIsGone(t *testing.T) {
	path, _ := crashImage(t, 3)
	for _, name := range []string{".log0", ".log1"} {
		if err := os.Remove(path + name); err != nil {
			t.Fatal(err)
		}
	}
	_, started := boltstore.Open(boltstore.Config{Path: path})
	_, looked := boltstore.OpenOffline(path)
	_, _, compacted := boltstore.Compact(path)
	for name, err := range map[string]error{"Open": started, "OpenOffline": looked, "Compact": compacted} {
		if _, ok := errors.AsType[*boltstore.LogError](err); !ok || !strings.Contains(err.Error(), path+".log0") {
			t.Errorf("%s: got %v, want a *LogError that names the file", name, err)
		}
	}
}

// TestLogsDontMix puts the logs of other stores and of other times beside a file.
func TestLogsDontMix(t *testing.T) {
	path, _ := crashImage(t, 3)
	other, _ := crashImage(t, 3)
	mustWriteFile(t, path+".log0", mustReadFile(t, other+".log0"))
	if _, err := boltstore.Open(boltstore.Config{Path: path}); err == nil || !strings.Contains(err.Error(), "another store's") {
		t.Errorf("another store's log: got %v", err)
	}

	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	early := filepath.Join(t.TempDir(), "unitask.db")
	if err := boltstore.CopyStore(db, early); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, db)
	mustFlush(t, db) // the other file's turn begins
	mustCreate(t, db)
	late := filepath.Join(t.TempDir(), "unitask.db")
	if err := boltstore.CopyStore(db, late); err != nil {
		t.Fatal(err)
	}
	mustWriteFile(t, early+".log1", mustReadFile(t, late+".log1"))
	if _, err := boltstore.Open(boltstore.Config{Path: early}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a log whose first half is missing: got %v", err)
	}
}

// TestReadAfterClose: a closed store gives no answers, not even that a task isn't there.
func TestReadAfterClose(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	n := mustCreate(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, byID := db.GetTask(context.Background(), n.Scope, n.ID)
	_, byKey := db.FindTask(context.Background(), n.Scope, n.IdempotencyHash)
	_, byNewKey := db.FindTask(context.Background(), n.Scope, freshTask().IdempotencyHash)
	_, stats := db.Stats(context.Background())
	for name, err := range map[string]error{"GetTask": byID, "FindTask": byKey, "FindTask of a new key": byNewKey, "Stats": stats} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
}

// FuzzRows reads whatever a group of the log may hold, and what was read is written as it was.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{"", "a row", "\x81\x02ab", "\x01\x02ab\x03xyz\x05\x01k\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		again, ok := boltstore.ReencodeRows(raw)
		if !ok {
			return
		}
		if last, ok := boltstore.ReencodeRows(again); !ok || !bytes.Equal(last, again) {
			t.Errorf("%x is written as %x and that as %x", raw, again, last)
		}
	})
}

func mustReadFile(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mustWriteFile(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLogShrinks: the room that a burst of large groups took in the log is given back once the tree has them, and
// rows acknowledged afterwards are there after a crash.
func TestLogShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true, FlushAfter: time.Hour})
	sizes := func() (n int64) { return fileSize(t, path+".log0") + fileSize(t, path+".log1") }
	empty := sizes()
	large := freshTask()
	large.Input = sizedJSON(10 << 20)
	if _, err := db.CreateTask(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	mustFlush(t, db)
	if burst := sizes(); burst < empty+4<<20 {
		t.Fatalf("the logs have %d bytes after large groups: not enough for the test", burst)
	}
	for range 2 {
		mustCreate(t, db)
		mustFlush(t, db)
	}
	if got := sizes(); got > empty {
		t.Errorf("the logs have %d bytes, %d before the large groups", got, empty)
	}
	last := mustCreate(t, db)
	crashed := filepath.Join(t.TempDir(), "unitask.db")
	if err := boltstore.CopyStore(db, crashed); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, boltstore.Config{Path: crashed, NoSync: true})
	if _, err := again.GetTask(t.Context(), last.Scope, last.ID); err != nil {
		t.Errorf("the last task after a crash: %v", err)
	}
}
