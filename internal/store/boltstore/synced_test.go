package boltstore_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// TestEveryGroupIsSynced: whatever kind of change a group is made of, the log is synced before it is answered.
func TestEveryGroupIsSynced(t *testing.T) {
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), Now: clock.Now, FlushAfter: time.Hour})
	var syncs atomic.Int64
	boltstore.CountSyncs(db, func() { syncs.Add(1) })
	started := freshTask()
	started.First = &store.First{Node: testNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
	var lease *store.Lease
	waiting, ended := freshTask(), freshTask()
	ctx := t.Context()
	for _, change := range []struct {
		name string
		run  func() error
	}{
		{"a creation", func() error { _, err := db.CreateTask(ctx, waiting); return err }},
		{"a creation that is started", func() error {
			c, err := db.CreateTask(ctx, started)
			lease = c.Lease
			return err
		}},
		{"a step", func() error {
			_, err := db.Advance(ctx, lease.Ref, store.Step{Submitted: []byte(`"job"`)})
			return err
		}},
		{"a cancellation of a queued task", func() error { _, err := db.RequestCancel(ctx, waiting.Scope, waiting.ID); return err }},
		{"a cancellation of one under way", func() error { _, err := db.RequestCancel(ctx, started.Scope, started.ID); return err }},
		{"a secret", func() error { _, err := db.Secret(ctx, "one", 16); return err }},
		{"another creation", func() error { _, err := db.CreateTask(ctx, ended); return err }},
		{"an end of all", func() error { _, err := db.EndOpen(ctx, task.Failure{Code: "PROVIDER_TIMEOUT"}); return err }},
		{"a sweep", func() error {
			clock.Advance(48 * time.Hour)
			_, err := db.Sweep(ctx, store.SweepRequest{Retention: time.Hour, Limit: 100})
			return err
		}},
	} {
		groups, before := boltstore.Logged(db), syncs.Load()
		if err := change.run(); err != nil {
			t.Fatalf("%s: %v", change.name, err)
		}
		made := int64(boltstore.Logged(db) - groups)
		if made == 0 {
			t.Errorf("%s came to no group: the test proves nothing", change.name)
		}
		if n := syncs.Load() - before; n < made {
			t.Errorf("%s was answered after %d syncs of %d groups", change.name, n, made)
		}
	}
}

// TestStopWithoutRoom: a stop whose tree has no room for the log's rows leaves the log, and no row is lost.
func TestStopWithoutRoom(t *testing.T) {
	cfg := boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), FlushAfter: time.Hour}
	db := mustOpen(t, cfg)
	boltstore.SetFlushBytes(db, 64<<20)
	var tasks []store.NewTask
	for range 20 { // leaves free pages, one by one: enough for the stop's own commit
		tasks = append(tasks, mustCreate(t, db))
		mustFlush(t, db)
	}
	boltstore.KeepSize(db)
	for range 50 { // more than the tree has free pages for, and less than the log has room for
		n := freshTask()
		n.Input = sizedJSON(20_000)
		if _, err := db.CreateTask(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"unitask.db", "unitask.db.log0", "unitask.db.log1"}, names(t, filepath.Dir(cfg.Path))); diff != "" {
		t.Errorf("files after Close (-want +got):\n%s", diff)
	}
	again := mustOpen(t, cfg)
	if n := lost(t, again, tasks); n > 0 {
		t.Errorf("%d of %d are lost", n, len(tasks))
	}
	mustBeConsistent(t, again)
}
