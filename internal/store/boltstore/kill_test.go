package boltstore_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"unitask/internal/store/boltstore"
	"unitask/internal/store/losstest"
)

// A test binary that is started anew with the first of these writes to the named file until it is
// killed; the second plants the fault in it.
const (
	victimVariable = "BOLTSTORE_TEST_VICTIM"
	earlyVariable  = "BOLTSTORE_TEST_EARLY"
)

const (
	shortKills    = 50
	killsPerStore = 25 // then a new file: its first pages meet kills too, and the checks stay short
	victimWriters = 8
	longestLife   = 120 * time.Millisecond // after the first write; of every fourth: after its start
)

// beVictim acknowledges writes on stdout until the process is killed.
func beVictim(path string) {
	db, err := boltstore.Open(boltstore.Config{Path: path})
	if err == nil {
		if os.Getpid()%2 == 0 {
			boltstore.SetFlushBytes(db, 20_000) // kills meet the tree at work
		}
		err = losstest.Writers{
			Store: db, Out: os.Stdout, Count: victimWriters, Early: os.Getenv(earlyVariable) != "",
		}.Run(context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKill kills a process UNITASK_KILL_CYCLES times while it writes; acknowledged writes are there afterwards, as
// acknowledged.
func TestKill(t *testing.T) {
	cycles, err := strconv.Atoi(cmp.Or(os.Getenv("UNITASK_KILL_CYCLES"), strconv.Itoa(shortKills)))
	if err != nil {
		t.Fatalf("UNITASK_KILL_CYCLES: %v", err)
	}
	var tasks, writes int
	for done := 0; done < cycles; done += killsPerStore {
		record, err := killAgainAndAgain(t, min(killsPerStore, cycles-done), "")
		if err != nil {
			t.Errorf("store %d: %v", done/killsPerStore, err)
		}
		tasks += record.Tasks()
		writes += record.Noted()
	}
	t.Logf("%d kills: %d writes of %d tasks acknowledged", cycles, writes, tasks)
	if writes < 10*cycles {
		t.Error("the run put too little to the test")
	}
}

// TestKillFindsEarlyAcknowledgement is the control: a store whose callers are told too early loses.
func TestKillFindsEarlyAcknowledgement(t *testing.T) {
	_, err := killAgainAndAgain(t, killsPerStore, earlyVariable+"=1")
	if err == nil {
		t.Fatal("acknowledging before the commit lost nothing: the test proves nothing")
	}
	t.Logf("found, as it should be: %.300s", err)
}

// killAgainAndAgain kills victims on one file and returns the acknowledged writes and the broken ones.
func killAgainAndAgain(t *testing.T, times int, env ...string) (losstest.Record, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "unitask.db")
	var record losstest.Record
	for range times {
		killOnce(t, &record, path, env)
		if _, err := os.Stat(path); err == nil { // else the victim died before it made the file
			if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) > 0 {
				t.Fatalf("the file after the kill: %v", report.Findings)
			}
		}
		db, err := boltstore.Open(boltstore.Config{Path: path})
		if err != nil {
			t.Fatalf("Open after the kill: %v", err)
		}
		err = record.Check(t.Context(), db)
		if err := db.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if err != nil {
			return record, err
		}
	}
	return record, nil
}

// killOnce notes everything that a victim acknowledges in its short life.
func killOnce(t *testing.T, record *losstest.Record, path string, env []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), victimVariable+"="+path), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	die := sync.OnceFunc(func() { time.AfterFunc(rand.N(longestLife), func() { _ = cmd.Process.Kill() }) })
	if rand.IntN(4) == 0 {
		die()
	}
	for lines := bufio.NewScanner(out); lines.Scan(); die() {
		if !record.Note(lines.Text()) {
			t.Errorf("not an acknowledgement: %q", lines.Text())
		}
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || exit.Exited() {
		t.Fatal("the victim ended by itself")
	}
}
