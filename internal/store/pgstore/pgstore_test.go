package pgstore_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"unitask/internal/store/pgstore"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/store/storetest"
)

// server is the one that the tests share, with a schema for each; nil without PostgreSQL's programs.
var server *pgtest.Server

func TestMain(m *testing.M) {
	var err error
	if server, err = pgtest.New(pgtest.Config{}); err != nil && (server != nil || os.Getenv("CI") != "") {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		if err := server.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var schemas atomic.Int64

// mustServer returns the shared server's address.
func mustServer(t testing.TB) string {
	t.Helper()
	if server == nil {
		_, err := pgtest.Available()
		t.Skipf("not run: %v", err)
	}
	return server.URL()
}

// mustOpen opens an engine on tables of its own, which go with the test.
func mustOpen(t testing.TB, url string, now func() time.Time) (*pgstore.DB, pgstore.Config) {
	t.Helper()
	c := pgstore.Config{URL: url, Schema: fmt.Sprintf("test_%d", schemas.Add(1)), Now: now, Lanes: 1}
	db := mustAttach(t, c)
	t.Cleanup(func() {
		if err := server.Exec(context.Background(), "DROP SCHEMA "+c.Schema+" CASCADE"); err != nil {
			t.Errorf("drop the schema: %v", err)
		}
	})
	return db, c
}

func mustAttach(t testing.TB, c pgstore.Config) *pgstore.DB {
	t.Helper()
	db, err := pgstore.Open(context.Background(), c)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

// engine is a DB as storetest wants it. A crash is the end of the node's process: its connections are gone.
func engine(c pgstore.Config, db *pgstore.DB) storetest.Engine {
	attach := func(t *testing.T) storetest.Engine { return engine(c, mustAttach(t, c)) }
	return storetest.Engine{Store: db, Registry: db, Secrets: db, Crash: func(t *testing.T) storetest.Engine {
		_ = db.Close()
		return attach(t)
	}, Attach: attach, Lasting: true, SweepsLate: true}
}

func TestPgstore(t *testing.T) {
	url := mustServer(t)
	storetest.Run(t, func(t *testing.T, now func() time.Time) storetest.Engine {
		db, c := mustOpen(t, url, now)
		return engine(c, db)
	})
}

// shortOps is the short form's number of operations.
const shortOps = 5_000

// TestLinearizable has callers at a node whose connections are cut under them again and again.
func TestLinearizable(t *testing.T) {
	cutAgain(t, mustServer(t), shortOps)
}

func cutAgain(t *testing.T, url string, ops int) {
	t.Helper()
	var cut func(c pgstore.Config, db *pgstore.DB) storetest.Engine
	cut = func(c pgstore.Config, db *pgstore.DB) storetest.Engine {
		e := engine(c, db)
		e.Crash = func(t *testing.T) storetest.Engine {
			if err := server.KillBackends(t.Context()); err != nil {
				t.Errorf("KillBackends: %v", err)
			}
			return cut(c, mustAttach(t, c))
		}
		return e
	}
	storetest.Linearizable(t, ops, func(t *testing.T, now func() time.Time) storetest.Engine {
		db, c := mustOpen(t, url, now)
		return cut(c, db)
	})
}
