package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"

	"unitask/internal/account"
	"unitask/internal/backup"
	"unitask/internal/node"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// dataFolder DIR makes a data folder with one key, on which no server runs.
func dataFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: datafolder DIR")
	}
	db, _, err := node.OpenData(ts.MkAbs(args[0]), boltstore.Config{})
	ts.Check(err)
	ctx, now := context.Background(), time.Now()
	owner := account.Account{ID: task.NewID(task.PrefixAccount, now), Name: "default", CreatedAt: now}
	ts.Check(db.PutAccount(ctx, owner))
	ts.Check(db.PutKey(ctx, account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: "shop", Mode: task.Live, CreatedAt: now,
	}))
	ts.Check(db.Close())
}

// lostLog DIR leaves a data folder as after a crash whose log was lost.
func lostLog(ts *testscript.TestScript, _ bool, args []string) {
	dataFolder(ts, false, args)
	db, abs, err := node.OpenData(ts.MkAbs(args[0]), boltstore.Config{})
	ts.Check(err)
	path := filepath.Join(abs, backup.DatabaseName)
	killed, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(db.Close())
	ts.Check(os.WriteFile(path, killed, 0o600))
}

// plantFault DIR takes the accounts out of a data folder's database.
func plantFault(ts *testscript.TestScript, _ bool, args []string) {
	db, err := bolt.Open(filepath.Join(ts.MkAbs(args[0]), backup.DatabaseName), 0o600, nil)
	ts.Check(err)
	ts.Check(db.Update(func(tx *bolt.Tx) error {
		name := []byte("accounts")
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
		_, err := tx.CreateBucket(name)
		return err
	}))
	ts.Check(db.Close())
}

// cut FILE [BYTES] cuts a file off, without a number after two thirds.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	most := info.Size() * 2 / 3
	if len(args) > 1 {
		most, err = strconv.ParseInt(args[1], 10, 64)
		ts.Check(err)
	}
	ts.Check(os.Truncate(path, most))
}

// TestStoreOfARunningServer: a command that needs the folder for itself names its holder and the next step.
func TestStoreOfARunningServer(t *testing.T) {
	dir := t.TempDir()
	db, _, err := node.OpenData(dir, boltstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	var out, notes strings.Builder
	term := &terminal{in: strings.NewReader(""), out: &out, err: &notes}
	flags := operatorFlags{dataDir: dir}
	archive := filepath.Join(t.TempDir(), "b.tar")
	for name, err := range map[string]error{
		"check":   storeCheckRun(t.Context(), term, &storeCheckOptions{operatorFlags: flags}),
		"compact": storeCompactRun(term, &storeCompactOptions{operatorFlags: flags}),
		"backup":  storeBackupRun(t.Context(), term, &storeBackupOptions{operatorFlags: flags, file: archive}),
		"restore": storeRestoreRun(t.Context(), term, &storeRestoreOptions{operatorFlags: flags, file: archive, force: true}),
	} {
		if code := exitCode(err); code != exitError || !strings.Contains(describe(err), "is in use by process") {
			t.Errorf("%s: code %d, %v", name, code, err)
		}
		if hint := hintOf("unitask store "+name, err); !strings.Contains(hint, "stop") {
			t.Errorf("%s: hint %q", name, hint)
		}
	}
	if _, err := os.Stat(archive); err == nil {
		t.Error("a backup that failed left a file")
	}
}
