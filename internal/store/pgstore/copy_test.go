package pgstore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/storetest"
)

// kept is a store at rest that a copied engine stands on.
type kept interface {
	engine() (storetest.Engine, error)
	source() (store.Source, error)
	target(of store.CopyOf) (store.Target, error)
}

// keptFile is a file of boltstore.
type keptFile struct {
	path string
	now  func() time.Time
}

func (k keptFile) engine() (storetest.Engine, error) {
	db, err := boltstore.Open(boltstore.Config{Path: k.path, NoSync: true, Now: k.now})
	return storetest.Engine{Store: db, Registry: db, Secrets: db, SweepsLate: true}, err // as the engine before may have
}

func (k keptFile) source() (store.Source, error) { return boltstore.OpenOffline(k.path) }

func (k keptFile) target(of store.CopyOf) (store.Target, error) {
	return boltstore.OpenTarget(k.path, of)
}

// keptSchema is a schema of PostgreSQL.
type keptSchema pgstore.Config

func (k keptSchema) engine() (storetest.Engine, error) {
	db, err := pgstore.Open(context.Background(), pgstore.Config(k))
	return storetest.Engine{Store: db, Registry: db, Secrets: db, SweepsLate: true}, err
}

// source ends all sessions, as nodes that stop in order do.
func (k keptSchema) source() (store.Source, error) {
	if err := server.Exec(context.Background(), "UPDATE "+k.Schema+".nodes SET until = '-infinity'"); err != nil {
		return nil, err
	}
	return k.offline()
}

func (k keptSchema) offline() (*pgstore.Offline, error) {
	return pgstore.OpenOffline(context.Background(), pgstore.Config(k))
}

func (k keptSchema) target(of store.CopyOf) (store.Target, error) {
	return pgstore.OpenTarget(context.Background(), pgstore.Config(k), of)
}

// newKept returns an unused place, of one kind or the other.
func newKept(t *testing.T, url string, postgres bool, now func() time.Time) kept {
	t.Helper()
	if !postgres {
		return keptFile{filepath.Join(t.TempDir(), "unitask.db"), now}
	}
	c := pgstore.Config{URL: url, Schema: fmt.Sprintf("test_%d", schemas.Add(1)), Now: now, Lanes: 1}
	t.Cleanup(func() {
		if err := server.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+c.Schema+" CASCADE"); err != nil {
			t.Errorf("drop the schema: %v", err)
		}
	})
	return keptSchema(c)
}

// mustEngine opens the engine of a place until the test ends.
func mustEngine(t *testing.T, at kept) storetest.Engine {
	t.Helper()
	e, err := at.engine()
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = e.Store.Close() }) // it may be closed already
	return e
}

// copied is an engine whose crash is a copy into another place, and the engine there.
func copied(t *testing.T, at kept, next func() kept) storetest.Engine {
	e := mustEngine(t, at)
	e.Crash = func(t *testing.T) storetest.Engine {
		if err := e.Store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		to := next()
		mustCopy(t, at, to)
		return copied(t, to, next)
	}
	return e
}

// mustCopy copies one into the other, and holds the copy to the engine's own check.
func mustCopy(t *testing.T, at, to kept) store.Tally {
	t.Helper()
	from, err := at.source()
	if err != nil {
		t.Fatalf("open the source: %v", err)
	}
	defer mustClose(t, from)
	into := mustTarget(t, from, to)
	tally, err := store.Copy(t.Context(), from, into, func(store.Phase, int64) {})
	mustClose(t, into)
	if err != nil {
		t.Fatalf("Copy: %v", err)
	}
	if file, ok := to.(keptFile); ok {
		mustBeSound(t, file)
	}
	return tally
}

// mustBeSound compares all rows of a file with those that lead to them.
func mustBeSound(t *testing.T, k keptFile) {
	t.Helper()
	db, err := boltstore.OpenOffline(k.path)
	if err != nil {
		t.Fatalf("OpenOffline: %v", err)
	}
	defer mustClose(t, db)
	report, err := db.Check(t.Context(), boltstore.CheckConfig{Now: k.now})
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("the copy: %v, %+v", err, report.Findings)
	}
}

func mustTarget(t *testing.T, from store.Source, to kept) store.Target {
	t.Helper()
	id, err := from.Identity(t.Context())
	if err != nil {
		t.Fatalf("Identity: %v", err)
	}
	into, err := to.target(store.CopyOf{From: "test", Identity: id})
	if err != nil {
		t.Fatalf("open the target: %v", err)
	}
	return into
}

func mustClose(t *testing.T, s store.Source) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// mustDo fails the test at an error.
func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eachWay runs a test on a copy from each kind of place to each.
func eachWay(t *testing.T, test func(t *testing.T, clock *storetest.Clock, from, to kept)) {
	url := mustServer(t)
	for _, postgres := range []bool{true, false} {
		t.Run(fmt.Sprintf("to postgres %t", postgres), func(t *testing.T) {
			clock := storetest.NewClock()
			test(t, clock, newKept(t, url, !postgres, clock.Now), newKept(t, url, postgres, clock.Now))
		})
	}
}

// TestCopy holds engines to the suite whose state goes from place to place: a restart in its tests is a copy into an
// empty place, of each kind from each kind. Sessions of nodes, leases, pauses and turns alone may be lost on the way.
func TestCopy(t *testing.T) {
	url := mustServer(t)
	kinds := []bool{false, true, true, false} // in PostgreSQL, and from the last one to the first
	storetest.RunRestarts(t, copyChecks, func(t *testing.T, now func() time.Time) storetest.Engine {
		turn := 0
		next := func() kept {
			turn++
			return newKept(t, url, kinds[turn%len(kinds)], now)
		}
		return copied(t, newKept(t, url, kinds[0], now), next)
	})
}

// copyChecks is the number of random lives.
const copyChecks = 25
