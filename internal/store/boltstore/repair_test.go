package boltstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// mustRepair repairs a store that a start refuses, after which it is sound, and returns the report.
func mustRepair(t *testing.T, path string) boltstore.Repaired {
	t.Helper()
	if _, err := boltstore.Open(boltstore.Config{Path: path}); err == nil {
		t.Fatal("the start wasn't refused: the test proves nothing")
	}
	done, err := boltstore.Repair(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) > 0 {
		t.Errorf("after the repair: %+v", report.Findings)
	}
	return done
}

// TestRepairOfTheLog: the rows of the other groups are there, and the log is put away.
func TestRepairOfTheLog(t *testing.T) {
	const created = 6
	path, tasks := crashImage(t, created)
	log := mustReadFile(t, path+".log0")
	at := groups(log)
	at = at[len(at)-created:]
	log[at[2]+50] ^= 1
	mustWriteFile(t, path+".log0", log)
	done := mustRepair(t, path)
	if len(done.Lost) != 1 || done.Lost[0].Subject != "log" || !strings.Contains(done.Lost[0].Problem, "damaged") {
		t.Errorf("said to be lost: %+v", done.Lost)
	}
	if diff := cmp.Diff([]string{"unitask.db", "unitask.db.log0.damaged", "unitask.db.log1.damaged"}, names(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if n := lost(t, mustOpen(t, boltstore.Config{Path: path}), tasks); n != 1 {
		t.Errorf("%d of %d are lost, want the one of the damaged group", n, created)
	}
}

func TestRepairWithoutALog(t *testing.T) {
	path, _ := crashImage(t, 3)
	for _, name := range []string{".log0", ".log1"} {
		if err := os.Remove(path + name); err != nil {
			t.Fatal(err)
		}
	}
	if done := mustRepair(t, path); len(done.Lost) != 1 || !strings.Contains(done.Lost[0].Problem, "isn't there") {
		t.Errorf("said to be lost: %+v", done.Lost)
	}
	mustCreate(t, mustOpen(t, boltstore.Config{Path: path}))
}

// TestRepairGivesUp: a record that was set aside is said to be lost, and its key is free again.
func TestRepairGivesUp(t *testing.T) {
	db, tasks, _, _ := damaged(t)
	if _, err := db.GetTask(t.Context(), tasks[0].Scope, tasks[0].ID); err == nil {
		t.Fatal("the record was read")
	}
	path := boltstore.Path(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) == 0 || !strings.Contains(report.Findings[0].Problem, "set aside") {
		t.Errorf("a check finds %+v, want what was set aside", report.Findings)
	}
	done, err := boltstore.Repair(t.Context(), path)
	if err != nil || len(done.Lost) != 1 || !strings.Contains(done.Lost[0].Subject, tasks[0].ID) {
		t.Errorf("said to be lost: %+v (%v)", done.Lost, err)
	}
	if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) > 0 {
		t.Errorf("after the repair: %+v", report.Findings)
	}
	again := tasks[0]
	again.ID = freshTask().ID
	if c, err := mustOpen(t, boltstore.Config{Path: path}).CreateTask(t.Context(), again); err != nil || c.Task.ID != again.ID {
		t.Errorf("under its key: %s, %v", c.Task.ID, err)
	}
}

// TestRepairRefusesDamagedPages without a change.
func TestRepairRefusesDamagedPages(t *testing.T) {
	path, _ := mustUpgrade(t)
	u, err := boltstore.UsedOf(path)
	if u.Page == 0 {
		t.Fatal(err)
	}
	raw := mustReadFile(t, path)
	mustWriteFile(t, path, raw[:u.Page*(u.Pages-1)])
	_, err = boltstore.Repair(t.Context(), path)
	if damage, ok := errors.AsType[*boltstore.DamagedError](err); !ok || !strings.Contains(damage.Error(), "cut short") {
		t.Errorf("got %v, want a *DamagedError", err)
	}
}

// TestRepairLosesAnAccountWhole: with an account that can't be read go its keys, links and sessions, and no others.
func TestRepairLosesAnAccountWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	var errs []error
	for i, name := range []string{"one", "two"} {
		id, n := "acct_"+name, byte(i)
		session := account.Session{Hash: task.Hash{3, n}, Account: id}
		errs = append(errs, db.PutAccount(t.Context(), account.Account{ID: id, Name: name}),
			db.PutKey(t.Context(), account.Key{ID: "key_" + name, Account: id, Hash: task.Hash{1, n}}),
			db.PutLink(t.Context(), account.Link{Hash: task.Hash{2, n}, Account: id, Member: "ann"}),
			db.PutLink(t.Context(), account.Link{Hash: task.Hash{4, n}, Account: id, Member: "ben"}),
			db.RedeemLink(t.Context(), task.Hash{4, n}, func(account.Link) (account.Session, error) { return session, nil }))
	}
	errs = append(errs, boltstore.Damage(db, "accounts", func(id []byte) bool { return string(id) == "acct_one" }, flip), db.Close())
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	done, err := boltstore.Repair(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var in []string
	for _, f := range done.Lost {
		in = append(in, f.Subject[strings.LastIndexByte(f.Subject, ' ')+1:])
	}
	if diff := cmp.Diff([]string{"accounts", "keys", "links", "sessions"}, in); diff != "" {
		t.Errorf("said to be lost: %+v\n%s", done.Lost, diff)
	}
	if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) > 0 {
		t.Errorf("after the repair: %+v", report.Findings)
	}
	off, err := boltstore.OpenOffline(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = off.Close() }() // only read
	c, err := off.Contents(t.Context())
	if err != nil || len(c.Keys) != 1 || len(c.Links) != 1 || len(c.Sessions) != 1 || c.Keys[0].Account != "acct_two" ||
		c.Links[0].Account != "acct_two" || c.Sessions[0].Account != "acct_two" {
		t.Errorf("the store has %+v (%v), want what belongs to acct_two", c, err)
	}
}
