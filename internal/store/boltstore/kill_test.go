package boltstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// victimVariable names the file on which a test binary, started anew, creates tasks until it is
// killed.
const victimVariable = "BOLTSTORE_TEST_VICTIM"

const victimWriters = 8

var victimScope = task.Scope{Account: "acct_victim", Mode: task.Live}

// beVictim acknowledges created tasks on stdout until the process is killed.
func beVictim(path string) {
	db, err := boltstore.Open(boltstore.Config{Path: path})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := make(chan string)
	for range victimWriters {
		go func() {
			for {
				c, err := db.CreateTask(context.Background(), freshTask())
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				lines <- c.Task.ID
			}
		}()
	}
	for line := range lines {
		_, _ = os.Stdout.WriteString(line + "\n") // the reader may be gone; then so are we
	}
}

// freshTask returns a request under a key of its own.
func freshTask() store.NewTask {
	id := task.NewID(task.PrefixTask, time.Now())
	var key task.Hash
	copy(key[:], id[10:])
	return store.NewTask{
		ID: id, Scope: victimScope, Capability: "text.chat", IdempotencyHash: key, Deadline: time.Hour,
		Input: []byte(`{"prompt":"hello"}`),
		Holds: []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1}},
	}
}

// TestKill kills a process while it acknowledges creations; what it acknowledged is there afterwards.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	var acknowledged []string
	for range 5 {
		acknowledged = append(acknowledged, killAfter(t, path, 200)...)
		db, err := boltstore.Open(boltstore.Config{Path: path})
		if err != nil {
			t.Fatalf("Open after the kill: %v", err)
		}
		mustBeConsistent(t, db)
		for _, id := range acknowledged {
			if _, err := db.GetTask(t.Context(), victimScope, id); err != nil {
				t.Fatalf("acknowledged task %s: %v", id, err)
			}
		}
		stats, err := db.Stats(t.Context())
		if err != nil || stats.ByState[task.Queued] < int64(len(acknowledged)) {
			t.Errorf("Stats: %d queued (%v), want at least the %d acknowledged", stats.ByState[task.Queued], err, len(acknowledged))
		}
		if err := db.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	t.Logf("%d creations acknowledged, none lost", len(acknowledged))
}

// killAfter runs a victim until it has acknowledged enough and returns everything it did.
func killAfter(t *testing.T, path string, enough int) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victimVariable+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !task.ValidID(task.PrefixTask, lines.Text()) {
			continue // cut off by the kill
		}
		if ids = append(ids, lines.Text()); len(ids) == enough {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || exit.Exited() {
		t.Fatal("the victim ended by itself")
	}
	return ids
}
