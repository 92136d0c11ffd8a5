package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
)

// failover is a node whose database has a standby.
type failover struct {
	*testing.T
	primary, standby *pgtest.Server
	db               *pgstore.DB
	log              bytes.Buffer
}

func newFailover(t *testing.T) *failover {
	t.Helper()
	f := &failover{T: t, primary: pgtest.Start(t, pgtest.Config{Sync: true})}
	f.standby = f.primary.Standby(t)
	var err error
	f.db, err = pgstore.Open(t.Context(), pgstore.Config{
		URL: f.primary.Both(f.standby), Logger: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *failover) create(key string) task.Task {
	f.Helper()
	c, err := f.db.CreateTask(f.Context(), newTask(key))
	if err != nil {
		f.Fatalf("create %s: %v", key, err)
	}
	return c.Task
}

func (f *failover) must(what string, err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%s: %v", what, err)
	}
}

// settled waits until the node has looked for its writes.
func (f *failover) settled() {
	f.Helper()
	for end := time.Now().Add(time.Minute); pgstore.Doubts(f.db); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatal("the node doesn't look for its writes")
		}
	}
}

// fail ends the primary and promotes the standby, and returns how many writes the node finds lost.
func (f *failover) fail() int64 {
	f.Helper()
	f.must("crash", f.primary.Crash())
	away := time.Now()
	f.must("promote", f.standby.Promote(f.Context()))
	for {
		_, err := f.db.CreateTask(f.Context(), newTask("after the failover"))
		if err == nil {
			break
		}
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrUnknown) || time.Since(away) > time.Minute {
			f.Fatal(err)
		}
	}
	f.Logf("the next task %s after the primary's end", time.Since(away).Round(10*time.Millisecond))
	f.settled()
	g, err := f.db.Gauges(f.Context())
	f.must("gauges", err)
	f.must("close", f.db.Close())
	return g.Lost
}

// TestFailover: a node whose database is replaced by a standby that lacks acknowledged writes says which are lost.
func TestFailover(t *testing.T) {
	f := newFailover(t)
	kept := f.create("kept")
	f.must("catch up", f.primary.CaughtUp(t.Context(), f.standby))
	if found, err := pgstore.Check(t.Context(), pgstore.Config{URL: f.standby.URL()}); err == nil {
		t.Errorf("Check of a standby: %s", found)
	}
	f.must("cut the standby off", f.standby.Unfollow(t.Context()))
	lost := f.create("lost")
	_, err := f.db.RequestCancel(t.Context(), kept.Scope, kept.ID)
	f.must("cancel", err)
	f.must("account", f.db.PutAccount(t.Context(), account.Account{ID: "acc_lost", Name: "lost"}))
	if n := f.fail(); n != 3 {
		t.Errorf("%d lost writes, want 3: a creation, a cancellation and an account", n)
	}
	if said := f.log.String(); !strings.Contains(said, lost.ID) || !strings.Contains(said, kept.ID) {
		t.Errorf("the log names not both tasks: %s", said)
	}
}

// TestLateFailover: writes are found lost too if the database was away for longer than a node looks back, and after an
// interruption in which none was lost.
func TestLateFailover(t *testing.T) {
	f := newFailover(t)
	f.create("kept")
	f.must("catch up", f.primary.CaughtUp(t.Context(), f.standby))
	f.must("cut the standby off", f.standby.Unfollow(t.Context()))
	lost := f.create("lost")
	f.must("cut the connections", f.primary.KillBackends(t.Context()))
	f.settled()
	f.must("crash", f.primary.Crash())
	for !pgstore.Doubts(f.db) {
		time.Sleep(10 * time.Millisecond)
	}
	pgstore.Age(f.db, time.Hour)
	f.must("promote", f.standby.Promote(t.Context()))
	f.settled()
	g, err := f.db.Gauges(t.Context())
	f.must("gauges", err)
	f.must("close", f.db.Close())
	if said := f.log.String(); g.Lost != 1 || strings.Count(said, "has lost") != 1 || !strings.Contains(said, lost.ID) {
		t.Errorf("%d lost writes, want 1, said once: %s", g.Lost, said)
	}
}

// TestHangUps: readers that hang up are no sign that the database was away.
func TestHangUps(t *testing.T) {
	db := mustOpenNodes(t, 1)[0]
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(rand.N(2*time.Millisecond), cancel)
		_, _ = db.ListTasks(ctx, store.ListQuery{Scope: acme})
		cancel()
	}
	if pgstore.Doubts(db) {
		t.Error("the node looks for lost writes")
	}
}

// TestFailoverWithoutLoss: a standby that has everything takes over without a word.
func TestFailoverWithoutLoss(t *testing.T) {
	f := newFailover(t)
	made := f.create("kept")
	_, err := f.db.RequestCancel(t.Context(), made.Scope, made.ID)
	f.must("cancel", err)
	f.must("account", f.db.PutAccount(context.Background(), account.Account{ID: "acc_kept", Name: "kept"}))
	f.must("catch up", f.primary.CaughtUp(t.Context(), f.standby))
	if n := f.fail(); n != 0 {
		t.Errorf("%d lost writes, want none: %s", n, f.log.String())
	}
}
