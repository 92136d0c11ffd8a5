package crash_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

// clockSteps are the clock's settings, one after the other, away from the true time.
var clockSteps = []time.Duration{time.Hour, 0, -time.Hour, 0, 365 * 24 * time.Hour, 0, -365 * 24 * time.Hour, 0}

// stepTime is how long each of them holds at least: longer than most tasks take.
const stepTime = 1500 * time.Millisecond

// tasksOfAStep is how many tasks must have begun in each of them.
const tasksOfAStep = 10

// TestClock sets the clock of the real server by an hour and a year, forwards and backwards, under load: no task ends
// early, no work is submitted twice, and every file can be had.
func TestClock(t *testing.T) {
	o, found := stepServer(t, false)
	for _, fault := range found {
		t.Error(fault)
	}
	t.Logf("%d steps of the clock: %d tasks, %d submissions", len(clockSteps), len(o.Tasks), len(o.Submissions))
}

// TestClockControl is the control: a server that goes by the wall clock alone ends work early. Its callers ask for
// pictures alone, for it is the files of some steps that it always loses.
func TestClockControl(t *testing.T) {
	harness.NeedsBolt(t) // with tasks in PostgreSQL the database's clock counts, whatever a node believes
	_, found := stepServer(t, true, "UNITASK_TEST_CLOCK_NAIVE=1")
	if len(found) == 0 {
		t.Error("a server that believes the wall clock passes for a sound one")
	}
	t.Logf("%d faults, such as: %v", len(found), found[:min(2, len(found))])
}

// stepServer runs a server whose clock is set again and again, and returns the observation and its violations.
func stepServer(t *testing.T, pictures bool, env ...string) (invariant.Observation, []string) {
	t.Helper()
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	t.Logf("UNITASK_CRASH_SEED=%d", seed)
	paid := newSupplier(t, rand.New(rand.NewPCG(seed, 0)))
	paid.Draw = harness.Steady
	s := harness.NewServer(t)
	s.Config, s.Program = patient(paid.Base), filepath.Join(t.TempDir(), "unitask")
	if err := harness.Build(s.Program, "clocktest"); err != nil {
		t.Fatal(err)
	}
	offset := filepath.Join(s.Dir, "clock")
	s.Env = append(env, "UNITASK_TEST_CLOCK="+offset)
	set := func(by time.Duration) {
		next := offset + ".next"
		if err := os.WriteFile(next, fmt.Appendln(nil, int64(by/time.Second)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, offset); err != nil {
			t.Fatal(err)
		}
	}
	set(0)
	s.Start()
	b := &observer{t: t, server: s, seed: seed, pictures: pictures, keys: map[task.Mode]string{
		task.Live: s.MustNewKey(task.Live), task.Test: s.MustNewKey(task.Test),
	}}
	ctx, halt := context.WithCancel(t.Context())
	defer halt()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { b.call(ctx, rand.New(rand.NewPCG(seed, uint64(i)+2))) })
	}
	for i, by := range clockSteps {
		set(by)
		rest(ctx, stepTime)
		s.Until(time.Minute, "a step of the clock has met enough tasks", func() bool { return b.begun() >= tasksOfAStep*(i+1) })
	}
	halt()
	all.Wait()
	b.settle(time.Minute)
	o := b.observe()
	o.Submissions, o.Counted = paid.Sent(), map[string]bool{cheap: true, dear: true}
	return o, judgeClock(b, o)
}

// judgeClock returns the violations. The times in a timeline are those of the wall clock and go back with it.
func judgeClock(b *observer, o invariant.Observation) []string {
	found := append([]string(nil), b.surprises...)
	for i := range o.Tasks {
		l := &o.Tasks[i].Ledger
		for k := range l.Timeline {
			l.Timeline[k].At.Time = time.Time{}
		}
		for _, a := range l.Attempts {
			if a.State == task.UnknownOutcome {
				found = append(found, fmt.Sprintf("%s: attempt %d is of unknown outcome: %s", o.Tasks[i].Key, a.N, a.Code))
			}
		}
		if l.Code == fault.ProviderTimeout {
			found = append(found, o.Tasks[i].Key+" ended before its time")
		}
	}
	for _, v := range invariant.Check(o) {
		found = append(found, v.String())
	}
	return found
}
