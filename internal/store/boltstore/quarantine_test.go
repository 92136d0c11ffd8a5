package boltstore_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// flip changes one bit of a row's last byte but one.
func flip(value []byte) []byte {
	value[len(value)-2] ^= 1
	return value
}

// of chooses the row of a task.
func of(id string) func([]byte) bool {
	row, _, _ := boltstore.RowID(id)
	return func(key []byte) bool { return bytes.Equal(key, row) }
}

// damaged returns an engine with two waiting tasks, of which the first can't be read, and its log.
func damaged(t *testing.T) (*boltstore.DB, []store.NewTask, *bytes.Buffer, *storetest.Clock) {
	t.Helper()
	log := &bytes.Buffer{}
	clock := storetest.NewClock()
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), Now: clock.Now, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	tasks := []store.NewTask{mustCreate(t, db), mustCreate(t, db)}
	if err := boltstore.Damage(db, "tasks", of(tasks[0].ID), flip); err != nil {
		t.Fatal(err)
	}
	return db, tasks, log, clock
}

// mustBeAside asserts that the task is refused, that no other takes its key, and that it was named.
func mustBeAside(t *testing.T, db *boltstore.DB, n store.NewTask, log *bytes.Buffer) {
	t.Helper()
	_, byID := db.GetTask(t.Context(), n.Scope, n.ID)
	_, byKey := db.FindTask(t.Context(), n.Scope, n.IdempotencyHash)
	again := freshTask()
	again.IdempotencyHash = n.IdempotencyHash
	_, anew := db.CreateTask(t.Context(), again)
	for name, err := range map[string]error{"GetTask": byID, "FindTask": byKey, "CreateTask": anew} {
		if err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "set aside") {
			t.Errorf("%s: got %v, want that it was set aside", name, err)
		}
	}
	g, err := db.Gauges(t.Context())
	if err != nil || g.Quarantined == 0 {
		t.Errorf("%d rows counted as set aside (%v)", g.Quarantined, err)
	}
	if !strings.Contains(log.String(), n.ID) {
		t.Errorf("the log doesn't name %s: %s", n.ID, log)
	}
}

var lineOfTests = []store.Line{{Mode: task.Live, Capability: "text.chat"}}

func TestClaimGoesOnBesideAnUnreadableRecord(t *testing.T) {
	db, tasks, log, _ := damaged(t)
	leases, err := db.Claim(t.Context(), store.ClaimRequest{Node: testNode, Limit: 10, Lines: lineOfTests})
	if err != nil || len(leases) != 1 || leases[0].Task.ID != tasks[1].ID {
		t.Fatalf("Claim: got %d leases (%v), want the one of the task that can be read", len(leases), err)
	}
	mustBeAside(t, db, tasks[0], log)
	mustBeConsistent(t, db)
}

func TestListGoesOnBesideAnUnreadableRecord(t *testing.T) {
	db, tasks, log, _ := damaged(t)
	page, err := db.ListTasks(t.Context(), store.ListQuery{Scope: victimScope})
	if err != nil || len(page.Tasks) != 1 || page.Tasks[0].ID != tasks[1].ID {
		t.Fatalf("ListTasks: got %d tasks (%v), want the one that can be read", len(page.Tasks), err)
	}
	mustBeAside(t, db, tasks[0], log)
}

func TestReadOfAnUnreadableRecord(t *testing.T) {
	db, tasks, log, _ := damaged(t)
	if _, err := db.GetTask(t.Context(), tasks[0].Scope, tasks[0].ID); !errors.Is(err, boltstore.ErrRecord) {
		t.Errorf("GetTask: got %v, want ErrRecord", err)
	}
	mustBeAside(t, db, tasks[0], log)
}

// TestSweepGoesOnBesideAnUnreadableRecord ends the readable task, and lets the retention pass.
func TestSweepGoesOnBesideAnUnreadableRecord(t *testing.T) {
	db, tasks, log, clock := damaged(t)
	if _, err := db.RequestCancel(t.Context(), tasks[1].Scope, tasks[1].ID); err != nil {
		t.Fatal(err)
	}
	clock.Advance(48 * time.Hour)
	if s, err := db.Sweep(t.Context(), store.SweepRequest{Retention: time.Hour, Limit: 100}); err != nil || s.Removed == 0 {
		t.Fatalf("Sweep: removed %d (%v), want the ended task", s.Removed, err)
	}
	if _, err := db.GetTask(t.Context(), tasks[1].Scope, tasks[1].ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the ended task: got %v, want ErrNotFound", err)
	}
	mustBeAside(t, db, tasks[0], log)
}

// TestStartGoesOnBesideUnreadableRows damages rows that a start reads: the queue's row of one task, the row that
// leads from the keys of all to them, and the record of another with its row in the queue.
func TestStartGoesOnBesideUnreadableRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	tasks := []store.NewTask{mustCreate(t, db), mustCreate(t, db), mustCreate(t, db)}
	err := errors.Join(
		boltstore.Damage(db, "open", of(tasks[0].ID), flip),
		boltstore.Damage(db, "open", of(tasks[1].ID), flip),
		boltstore.Damage(db, "tasks", of(tasks[1].ID), flip),
		boltstore.Damage(db, "idem_log", func([]byte) bool { return true }, flip),
		db.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	db = mustOpen(t, boltstore.Config{Path: path, Logger: slog.New(slog.NewTextHandler(log, nil))})
	for _, n := range []store.NewTask{tasks[0], tasks[2]} {
		if found, err := db.FindTask(t.Context(), n.Scope, n.IdempotencyHash); err != nil || found.ID != n.ID {
			t.Errorf("under the key of %s: %q, %v", n.ID, found.ID, err)
		}
	}
	leases, err := db.Claim(t.Context(), store.ClaimRequest{Node: testNode, Limit: 10, Lines: lineOfTests})
	if err != nil || len(leases) != 2 {
		t.Errorf("Claim: got %d leases (%v), want those of the two tasks that can be read", len(leases), err)
	}
	if _, err := db.GetTask(t.Context(), victimScope, tasks[1].ID); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("the damaged task: got %v, want that it was set aside", err)
	}
	for _, part := range []string{tasks[0].ID + " in open", tasks[1].ID, "idem_log"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log doesn't name %s: %s", part, log)
		}
	}
	mustBeConsistent(t, db)
}

// TestListOfAccountsGoesOn: an account with a wrong byte isn't taken for one with other limits.
func TestListOfAccountsGoesOn(t *testing.T) {
	log := &bytes.Buffer{}
	db := mustOpen(t, boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	for _, name := range []string{"one", "two"} {
		if err := db.PutAccount(t.Context(), account.Account{ID: "acct_" + name, Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	limit := func(value []byte) []byte { return bytes.Replace(value, []byte("one"), []byte("One"), 1) }
	err := boltstore.Damage(db, "accounts", func(key []byte) bool { return string(key) == "acct_one" }, limit)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.GetAccount(t.Context(), "acct_one"); !errors.Is(err, boltstore.ErrRecord) {
		t.Errorf("GetAccount: got %v, want ErrRecord", err)
	}
	all, err := db.ListAccounts(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "two" {
		t.Errorf("ListAccounts: got %+v (%v), want the other one", all, err)
	}
	if !strings.Contains(log.String(), "acct_one") {
		t.Errorf("the log doesn't name it: %s", log)
	}
}

// TestSweepGoesOnBesideAMalformedRun: a run of idempotency keys that can't be read is named once and keeps no other
// run from being dropped; no task is made again under one of its keys, and the next start finds them anew.
func TestSweepGoesOnBesideAMalformedRun(t *testing.T) {
	log := &bytes.Buffer{}
	clock := storetest.NewClock()
	cfg := boltstore.Config{
		Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true, Now: clock.Now, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	db := mustOpen(t, cfg)
	boltstore.SetRunLength(db, 4)
	var tasks []store.NewTask
	for i := range 8 {
		clock.Advance(time.Millisecond)
		tasks = append(tasks, mustCreateAt(t, db, clock))
		mustFlush(t, db)
		if i == 0 {
			continue // its run stays in use
		}
		if _, err := db.RequestCancel(t.Context(), tasks[i].Scope, tasks[i].ID); err != nil {
			t.Fatal(err)
		}
	}
	first := func([]byte) bool { return true }
	if err := boltstore.Damage(db, "idem_runs", first, func(value []byte) []byte { return value[:len(value)-1] }); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Hour)
	for range 3 {
		sweepAll(t, db)
	}
	if got := runs(t, db); got != 1 {
		t.Errorf("%d runs are left of two, want the malformed one", got)
	}
	if got := strings.Count(log.String(), "idem_runs"); got != 1 {
		t.Errorf("the log names it %d times, want once: %s", got, log)
	}
	again := freshTask()
	again.IdempotencyHash = tasks[0].IdempotencyHash
	_, created := db.CreateTask(t.Context(), again)
	_, found := db.FindTask(t.Context(), tasks[0].Scope, tasks[0].IdempotencyHash)
	for name, err := range map[string]error{"CreateTask": created, "FindTask": found} {
		if err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "set aside") {
			t.Errorf("%s: got %v, want that a row was set aside", name, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, cfg)
	mustReplay(t, db, tasks[0])
	if g, err := db.Gauges(t.Context()); err != nil || g.Quarantined != 1 {
		t.Errorf("%d rows counted as set aside (%v), want 1", g.Quarantined, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	repaired, err := boltstore.Repair(t.Context(), cfg.Path)
	if err != nil || len(repaired.Lost) > 0 || len(repaired.Mended) != 1 || !strings.Contains(repaired.Mended[0].Subject, "idem_runs") {
		t.Errorf("Repair: %+v, %v; want the run written anew and no more", repaired, err)
	}
	if report := mustCheck(t, cfg.Path, boltstore.CheckConfig{}); len(report.Findings) > 0 {
		t.Errorf("after the repair: %+v", report.Findings)
	}
}

// TestRowThatIsNotFound: an operation that reads a row which no search finds, as in a page whose keys are out of order,
// ends the second time. A list would go on for ever.
func TestRowThatIsNotFound(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	row, _, _ := boltstore.RowID(freshTask().ID)
	if err := boltstore.GoOnWithout(t.Context(), db, row, []byte("damaged"), 1); err != nil {
		t.Errorf("the first time: %v, want that it is read again", err)
	}
	if err := boltstore.GoOnWithout(t.Context(), db, row, []byte("damaged"), 2); err == nil || !strings.Contains(err.Error(), "can't be read") {
		t.Errorf("the second time: %v", err)
	}
}
