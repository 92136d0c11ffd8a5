package boltstore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimVariable); path != "" {
		beVictim(path)
	}
	if dir := os.Getenv(readerVariable); dir != "" {
		beReader(dir)
	}
	beOneOf()
	goleak.VerifyTestMain(m)
}

var victimScope = task.Scope{Account: "acct_victim", Mode: task.Live}

// freshTask returns a request under a key of its own.
func freshTask() store.NewTask {
	id := freshID()
	var key task.Hash
	copy(key[:], id[10:])
	return store.NewTask{
		ID: id, Scope: victimScope, Capability: "text.chat", IdempotencyHash: key, Deadline: time.Hour,
		Input: []byte(`{"prompt":"hello"}`),
		Holds: []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1}},
	}
}

// freshID returns an id that is later than those before and of the same day as the tests' clocks. With an id of the real
// day, a task could be younger than the retention by that clock, and a sweep would pass it over.
func freshID() string {
	return task.NewID(task.PrefixTask, storetest.NewClock().Now().Add(time.Since(testsBegan)))
}

var testsBegan = time.Now()

// testNode has a session that outlasts its test.
const testNode = "node"

// mustRenew begins testNode's session.
func mustRenew(t testing.TB, db *boltstore.DB) {
	t.Helper()
	if err := db.Renew(context.Background(), testNode, 100*365*24*time.Hour); err != nil {
		t.Fatal(err)
	}
}

// mustOpen opens a store, with a session of testNode, that is closed when the test ends; a failed commit fails the test.
func mustOpen(t testing.TB, cfg boltstore.Config) *boltstore.DB {
	t.Helper()
	if cfg.Fatal == nil {
		cfg.Fatal = func(err error) { t.Errorf("fatal: %v", err) }
	}
	db, err := boltstore.Open(cfg)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	mustRenew(t, db)
	return db
}

// engineAt returns an engine for the suite. Its crash is the files as they lie there while the engine
// runs, and is checked page by page.
func engineAt(t *testing.T, path string, runLength int, now func() time.Time) storetest.Engine {
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true, Now: now})
	boltstore.SetRunLength(db, runLength)
	if runLength < 1000 {
		boltstore.SetFlushBytes(db, 1000) // the tree takes a few rows at a time, all the time
	}
	return storetest.Engine{Store: db, Registry: db, Secrets: db, Crash: func(t *testing.T) storetest.Engine {
		next := filepath.Join(t.TempDir(), "unitask.db")
		if err := boltstore.CopyStore(db, next); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		engine := engineAt(t, next, runLength, now)
		mustBeConsistent(t, engine.Store.(*boltstore.DB))
		return engine
	}}
}

func mustBeConsistent(t *testing.T, db *boltstore.DB) {
	t.Helper()
	if err := boltstore.Check(db); err != nil {
		t.Fatalf("the file is inconsistent: %v", err)
	}
}

func TestBoltstore(t *testing.T) {
	for name, runLength := range map[string]int{"long runs": 1 << 15, "short runs": 3} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, now func() time.Time) storetest.Engine {
				return engineAt(t, filepath.Join(t.TempDir(), "unitask.db"), runLength, now)
			})
		})
	}
}
