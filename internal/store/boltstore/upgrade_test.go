package boltstore_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// oldStore is testdata/schema1: a store that the code of schema 1 wrote, and its content.
type oldStore struct {
	Key      string           `json:"key"`
	Tasks    []task.Task      `json:"tasks"`
	Counters map[string]int64 `json:"counters"` // of budgets, by scope
}

// afterOldStore is a time at which all that the old store holds is still of interest.
var afterOldStore = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// mustReadOldStore puts the old file at path and returns its content.
func mustReadOldStore(t *testing.T, path string) oldStore {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "schema1", "unitask.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unpack)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var old oldStore
	raw, err = os.ReadFile(filepath.Join("testdata", "schema1", "content.json"))
	if err == nil {
		err = json.Unmarshal(raw, &old)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(old.Tasks) < 50 || len(old.Counters) < 30 {
		t.Fatalf("the old store holds only %d tasks and %d counters", len(old.Tasks), len(old.Counters))
	}
	return old
}

// compare opens the file and returns the differences from the old store.
func (old oldStore) compare(path string) (err error) {
	db, err := boltstore.Open(boltstore.Config{Path: path, Now: func() time.Time { return afterOldStore }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := boltstore.Check(db); err != nil {
		return err
	}
	for _, want := range old.Tasks {
		got, err := db.FindTask(context.Background(), want.Scope, want.IdempotencyHash)
		if err != nil {
			return fmt.Errorf("%s: %w", want.ID, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("a task (-want +got):\n%s", diff)
		}
	}
	got, err := boltstore.Budgets(db)
	if diff := cmp.Diff(old.budgets(), got); diff != "" {
		err = errors.Join(err, fmt.Errorf("budgets (-want +got):\n%s", diff))
	}
	return err
}

// budgets returns the counters as they are to be today.
func (old oldStore) budgets() map[string]boltstore.Budget {
	all := map[string]boltstore.Budget{}
	for scope, amount := range old.Counters {
		stamp := scope[strings.LastIndex(scope, ":")+1:]
		end, err := time.Parse(time.DateOnly, stamp)
		if end = end.AddDate(0, 0, 1); err != nil {
			end, _ = time.Parse("2006-01", stamp)
			end = end.AddDate(0, 1, 0)
		}
		all[scope] = boltstore.Budget{Amount: amount, End: end}
	}
	return all
}

func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	old := mustReadOldStore(t, path)
	for range 2 { // the second time there is no work
		if err := old.compare(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Each of these names the file on which a test binary, started anew, does one thing and ends.
const (
	upgraderVariable  = "BOLTSTORE_TEST_UPGRADER"
	carelessVariable  = "BOLTSTORE_TEST_CARELESS"
	compactorVariable = "BOLTSTORE_TEST_COMPACTOR"
)

// beOneOf plays the part that the environment names, if any.
func beOneOf() {
	runtime.LockOSThread() // strace counts the calls of each thread by itself
	for name, do := range map[string]func(path string) error{
		upgraderVariable: boltstore.UpgradeRowByRow,
		carelessVariable: boltstore.UpgradeCarelessly,
		circleVariable:   goInCircles,
		compactorVariable: func(path string) error {
			_, _, err := boltstore.Compact(path)
			return err
		},
	} {
		path := os.Getenv(name)
		if path == "" {
			continue
		}
		if err := do(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	runtime.UnlockOSThread()
}

// killedAt runs this test binary, with the given setting, until it enters its n-th call of the given kind, kills it
// there, and reports whether it came that far.
func killedAt(t *testing.T, setting, call string, n int) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace="+call,
		"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), os.Args[0])
	cmd.Env = append(os.Environ(), setting)
	out, err := cmd.CombinedOutput()
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return false
	case ended && exit.Sys().(syscall.WaitStatus).Signaled(), ended && exit.ExitCode() == 128+int(syscall.SIGKILL):
		return true
	default:
		t.Fatalf("%s: %v\n%s", setting, err, out)
		return false
	}
}

// upgradePoints returns at how many calls upgrades are killed.
func upgradePoints() (int, error) {
	const short = 24
	if text := os.Getenv("UNITASK_UPGRADE_POINTS"); text != "" {
		return strconv.Atoi(text)
	}
	return short, nil
}

func mustHaveStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("not run: ", err)
	}
}

// calls are those by which a commit reaches the disk.
var calls = []string{"pwrite64", "fdatasync"}

// TestUpgradeKilled kills an upgrade at UNITASK_UPGRADE_POINTS of its writes and syncs, or all of them if there are
// fewer, then again while it resumes, and compares the store that the third one leaves.
func TestUpgradeKilled(t *testing.T) {
	mustHaveStrace(t)
	points, err := upgradePoints()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "unitask.db")
	kills, again, all := 0, 0, 0
	for _, call := range calls {
		last := lastCall(t, path, call)
		all += last
		step := max(1, last*len(calls)/points)
		for n := 1 + rand.IntN(step); n <= last; n += step {
			old := mustReadOldStore(t, path)
			if !killedAt(t, upgraderVariable+"="+path, call, n) {
				t.Fatalf("the upgrade ended before its %s number %d of %d", call, n, last)
			}
			kills++
			if killedAt(t, upgraderVariable+"="+path, calls[rand.IntN(len(calls))], 1+rand.IntN(last)) {
				again++
			}
			if err := old.compare(path); err != nil {
				t.Fatalf("killed at %s number %d of %d: %v", call, n, last, err)
			}
		}
	}
	t.Logf("%d upgrades killed, of %d writes and syncs, %d of them a second time; all whole in the end", kills, all, again)
	if kills < min(points, all)/2 {
		t.Errorf("only %d upgrades were killed", kills)
	}
}

// lastCall returns how often a whole upgrade makes the call.
func lastCall(t *testing.T, path, call string) int {
	t.Helper()
	low, high := 1, 2 // killed at low, not at high
	killed := func(n int) bool {
		mustReadOldStore(t, path)
		return killedAt(t, upgraderVariable+"="+path, call, n)
	}
	for ; killed(high); high *= 2 {
		low = high
	}
	for high-low > 1 {
		if mid := (low + high) / 2; killed(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// TestUpgradeKilledCarelessly is the control: a migration that notes its end first is found out.
func TestUpgradeKilledCarelessly(t *testing.T) {
	mustHaveStrace(t)
	path := filepath.Join(t.TempDir(), "unitask.db")
	old := mustReadOldStore(t, path)
	if !killedAt(t, carelessVariable+"="+path, "fdatasync", 21) {
		t.Fatal("the upgrade ended before it was killed")
	}
	if err := old.compare(path); err == nil {
		t.Error("a store that was half upgraded passes for a whole one")
	}
}
