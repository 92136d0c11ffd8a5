package boltstore_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// sized returns a request with an input of n bytes.
func sized(clock *storetest.Clock, n int) store.NewTask {
	t := freshTask()
	t.ID, t.Input = task.NewID(task.PrefixTask, clock.Now()), sizedJSON(n)
	t.First = &store.First{Node: testNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
	t.Deadline = 2000 * time.Hour
	return t
}

func sizedJSON(n int) []byte {
	return append(append([]byte(`"`), bytes.Repeat([]byte("x"), n)...), '"')
}

// fillWith creates tasks with an input of n bytes until there is no room.
func fillWith(t *testing.T, db *boltstore.DB, clock *storetest.Clock, n int) (accepted []store.Lease) {
	t.Helper()
	for {
		c, err := db.CreateTask(t.Context(), sized(clock, n))
		if errors.Is(err, store.ErrFull) {
			return accepted
		}
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, *c.Lease)
	}
}

// reopen closes the store as a stop does and starts it again.
func reopen(t *testing.T, db *boltstore.DB, cfg boltstore.Config) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	mustBeConsistent(t, mustOpen(t, cfg))
}

// TestScatteredPages: the file is at its limit and most of its pages are free, but no two side by side. Work that
// needs more of them is refused, or accepted and kept; never accepted for a tree that can't take it.
func TestScatteredPages(t *testing.T) {
	for _, size := range []int{20_000, 60_000, 200_000} {
		clock := storetest.NewClock()
		cfg := boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 16 << 20, NoSync: true, Now: clock.Now}
		db := mustOpen(t, cfg)
		all := fillWith(t, db, clock, 1000)
		var kept, ended []store.Lease
		for i, l := range all {
			if i%12 < 3 {
				kept = append(kept, l)
			} else {
				ended = append(ended, l)
			}
		}
		endAll(t, db, ended)
		clock.Advance(2 * time.Hour)
		swept := sweepAll(t, db)
		large := fillWith(t, db, clock, size)
		mustFlush(t, db)
		t.Logf("%d bytes: %d swept of %d, then %d accepted", size, swept, len(all), len(large))
		rest := append(kept, large...)
		for len(rest) > 0 { // one that has no place yet has one when others have ended and are gone
			waiting := endSome(t, db, rest)
			clock.Advance(2 * time.Hour)
			if sweepAll(t, db); len(waiting) == len(rest) {
				t.Fatalf("%d of %d can't end", len(waiting), len(kept)+len(large))
			}
			rest = waiting
		}
		reopen(t, db, cfg)
	}
}

// TestSweepOfAFullStore: accepted work has used up the reserve; sweeping makes room again.
func TestSweepOfAFullStore(t *testing.T) {
	clock := storetest.NewClock()
	cfg := boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 16 << 20, NoSync: true, Now: clock.Now}
	db := mustOpen(t, cfg)
	all := fillWith(t, db, clock, 1000)
	endAll(t, db, all[:300])
	full, at := 0, 300
	for _, size := range []int{1500, 700, 300, 100, 10} {
		for ; at < len(all); at++ {
			if _, err := db.Advance(t.Context(), all[at].Ref, store.Step{Submitted: sizedJSON(size)}); errors.Is(err, store.ErrFull) {
				full++
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	mustFlush(t, db)
	clock.Advance(2 * time.Hour)
	swept := sweepAll(t, db)
	t.Logf("%d of %d submitted, %d times full, then %d swept", at-300, len(all), full, swept)
	if swept != 300 {
		t.Errorf("%d of 300 swept", swept)
	}
	reopen(t, db, cfg)
}

// TestImageIsWhole takes images while a store that is nearly full takes rows in small parts.
func TestImageIsWhole(t *testing.T) {
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 16 << 20, NoSync: true, Now: clock.Now})
	accepted := fill(t, db, clock)
	var work sync.WaitGroup
	work.Go(func() { endSome(t, db, accepted) }) // an image under way keeps pages
	for range 10 {
		image, size, err := db.Image(t.Context())
		if errors.Is(err, store.ErrFull) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "image.db")
		mustCopy(t, name, image, size)
		if report := mustCheck(t, name, boltstore.CheckConfig{}); len(report.Findings) > 0 {
			t.Errorf("%+v", report.Findings[0])
		}
	}
	work.Wait()
}

// TestMigrationBesideAnotherLog: a store of the schema before the log is put in the place of one that crashed.
func TestMigrationBesideAnotherLog(t *testing.T) {
	crashed, _ := crashImage(t, 3)
	path := filepath.Join(t.TempDir(), "unitask.db")
	mustReadOldStore(t, path)
	mustWriteFile(t, path+".log0", mustReadFile(t, crashed+".log0"))
	before := mustReadFile(t, path)
	if _, err := boltstore.Open(boltstore.Config{Path: path}); err == nil || !strings.Contains(err.Error(), "another store's") {
		t.Errorf("Open: got %v, want a refusal", err)
	}
	if !bytes.Equal(before, mustReadFile(t, path)) {
		t.Error("a refused start changed the file")
	}
}

// TestManyLookAtACrashedStore: one of them brings the log into the tree, and all of them see the same.
func TestManyLookAtACrashedStore(t *testing.T) {
	path, tasks := crashImage(t, 20)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			o, err := boltstore.OpenOffline(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = o.Close() }()
			report, err := o.Check(t.Context(), boltstore.CheckConfig{})
			if err != nil || report.Tasks != int64(len(tasks)) {
				t.Errorf("%d tasks of %d: %v", report.Tasks, len(tasks), err)
			}
		})
	}
	all.Wait()
}
