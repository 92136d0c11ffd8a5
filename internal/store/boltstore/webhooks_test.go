package boltstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// mustNotify makes an endpoint, and tasks of its account that end.
func mustNotify(t *testing.T, db *boltstore.DB, tasks int) webhook.Endpoint {
	t.Helper()
	scope := freshTask().Scope
	e := webhook.Endpoint{ID: "whe_1", Scope: scope, URL: "https://example.com/", Generation: 1}
	err := errors.Join(
		db.PutAccount(t.Context(), account.Account{ID: scope.Account, Name: scope.Account}), db.PutEndpoint(t.Context(), e))
	if err != nil {
		t.Fatal(err)
	}
	for range tasks {
		n := mustCreate(t, db)
		if _, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func mustClaimDeliveries(t *testing.T, db *boltstore.DB) []store.Claimed {
	t.Helper()
	claimed, err := db.ClaimDeliveries(t.Context(), store.DeliveryClaim{Lease: time.Minute, Limit: 100, Each: 100})
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

// TestMarksAreSound: a check finds no fault in the marks of what endpoints were told, nor in budgets and limits of spend
// that ended tasks have used, and a repair leaves them.
func TestMarksAreSound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	e := mustNotify(t, db, 1)
	n := store.Notice{Endpoint: e.ID, Mark: "a budget", Lasts: time.Hour, Event: webhook.Event{ID: "bud_1.0", Budget: &webhook.Budget{Percent: 80}}}
	if err := errors.Join(db.Tell(t.Context(), n), db.Close()); err != nil {
		t.Fatal(err)
	}
	counters := []store.Counter{n.Told(), {Scope: "a", Kind: task.HoldBudget}, {Scope: "a", Kind: task.HoldSpend}}
	b, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = b.Update(func(tx *bolt.Tx) (err error) { // the same of tasks that have ended
		holds, ends := tx.Bucket([]byte("holds")), tx.Bucket([]byte("hold_ends"))
		_, value := holds.Cursor().First()
		end, _ := ends.Cursor().First()
		value, end = slices.Clone(value), slices.Clone(end[:8])
		for _, c := range counters[1:] {
			name := []byte(string(c.Kind) + "\x00" + c.Scope)
			err = errors.Join(err, holds.Put(name, value), ends.Put(slices.Concat(end, name), nil))
		}
		return err
	})
	if err = errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	if got := mustCheck(t, path, boltstore.CheckConfig{}); len(got.Findings) != 0 {
		t.Errorf("found %v", got.Findings)
	}
	if _, err := boltstore.Repair(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, boltstore.Config{Path: path})
	held, err := db.Held(t.Context(), counters)
	if err = errors.Join(err, db.Close()); err != nil || !slices.Equal(held, []int64{1, 1, 1}) {
		t.Errorf("after a repair: %d, %v", held, err)
	}
}

// TestDamagedDeliveries: rows about deliveries that were lost or damaged are found, repaired, and do no harm to a server
// that meets them.
func TestDamagedDeliveries(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: sound})
	mustNotify(t, db, 3)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	image := mustReadFile(t, sound)
	change := func(in string, value []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(in))
			k, _ := b.Cursor().First()
			if value == nil {
				return b.Delete(slices.Clone(k))
			}
			return b.Put(slices.Clone(k), value)
		}
	}
	for _, tt := range []struct {
		name, want string
		damage     func(*bolt.Tx) error
		left       int // deliveries that a server still claims
		repaired   int // and after a repair
	}{
		{"none says that it waits", "when it is due isn't said", change("waiting", nil), 2, 3},
		{"another time", "when it is due isn't said", change("waiting", make([]byte, 9)), 3, 3},
		{"what can't be read says that it waits", "when it is due isn't said", change("waiting", []byte("x")), 3, 3},
		{"a delivery is gone", "a delivery is due that isn't there", change("deliveries", nil), 2, 2},
		{"a delivery can't be read", "the delivery can't be read", change("deliveries", []byte("x")), 2, 2},
		{"an endpoint can't be read", "the endpoint's record can't be read", change("endpoints", []byte("x")), 0, 0},
		{"its account is gone", "its account isn't there", change("accounts", nil), 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unitask.db")
			mustWriteFile(t, path, image)
			b, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Update(tt.damage), b.Close()); err != nil {
				t.Fatal(err)
			}
			report := mustCheck(t, path, boltstore.CheckConfig{})
			if !slices.ContainsFunc(report.Findings, func(f boltstore.Finding) bool { return strings.Contains(f.Problem, tt.want) }) {
				t.Errorf("got %+v, want %q among it", report.Findings, tt.want)
			}
			damaged := mustReadFile(t, path)
			if got := claimsOf(t, path); got != tt.left {
				t.Errorf("a server claims %d, want %d", got, tt.left)
			}
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if done, err := boltstore.Repair(t.Context(), path); err != nil || len(done.Lost)+len(done.Mended) == 0 {
				t.Errorf("Repair: %+v, %v", done, err)
			}
			if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) > 0 {
				t.Errorf("after the repair: %+v", report.Findings)
			}
			if got := claimsOf(t, path); got != tt.repaired {
				t.Errorf("after the repair a server claims %d, want %d", got, tt.repaired)
			}
		})
	}
}

// claimsOf returns how many deliveries a server of its own claims from a file.
func claimsOf(t *testing.T, path string) int {
	t.Helper()
	db := mustOpen(t, boltstore.Config{Path: path})
	n := len(mustClaimDeliveries(t, db))
	if again := mustClaimDeliveries(t, db); len(again) > 0 {
		t.Errorf("claimed twice: %d", len(again))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDeliveriesAreUndone: an operation of a group that fails leaves no endpoint and no delivery in memory.
func TestDeliveriesAreUndone(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 8 << 20})
	e := mustNotify(t, db, 1)
	var full error
	for i := 0; full == nil && i < 200_000; i++ {
		other := e
		other.ID = "whe_" + freshTask().ID
		other.Description = strings.Repeat("x", 1<<20)
		full = db.PutEndpoint(t.Context(), other)
		if full != nil {
			if _, err := db.UpdateEndpoint(t.Context(), other.ID, func(*webhook.Endpoint) error { return nil }); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("an endpoint that was refused: %v", err)
			}
		}
	}
	if !errors.Is(full, store.ErrFull) {
		t.Fatalf("the file wasn't full: %v", full)
	}
}
