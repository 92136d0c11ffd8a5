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
	w := startClocked(t)
	ctx, halt := context.WithCancel(t.Context())
	defer halt()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { w.call(ctx, rand.New(rand.NewPCG(w.seed, uint64(i)+2))) })
	}
	for i, by := range clockSteps {
		w.set(by)
		rest(ctx, stepTime)
		w.server.Until(time.Minute, "a step of the clock has met enough tasks", func() bool { return w.begun() >= tasksOfAStep*(i+1) })
	}
	halt()
	all.Wait()
	o, found := w.judge()
	for _, fault := range found {
		t.Error(fault)
	}
	t.Logf("%d steps of the clock: %d tasks, %d submissions", len(clockSteps), len(o.Tasks), len(o.Submissions))
}

// TestClockControl is the control: a server that goes by the wall clock alone loses the file that it made while its
// clock was a year late.
func TestClockControl(t *testing.T) {
	harness.NeedsBolt(t) // with tasks in PostgreSQL the database's clock counts, whatever a node believes
	w := startClocked(t, "UNITASK_TEST_CLOCK_NAIVE=1")
	rng := rand.New(rand.NewPCG(w.seed, 2))
	ends := func(by time.Duration) {
		w.set(by)
		w.server.Until(time.Minute, "a picture is made by that clock", func() bool {
			r := w.addPicture(rng)
			w.pursue(t.Context(), rng, r)
			got := w.get(t.Context(), r, r.Seen.Acknowledged[0])
			return got.State == task.Succeeded && time.Since(got.CreatedAt.Add(-by)).Abs() < time.Hour
		})
	}
	ends(-365 * 24 * time.Hour)
	ends(0)
	_, found := w.judge()
	if len(found) == 0 {
		t.Error("a server that believes the wall clock passes for a sound one")
	}
	t.Logf("%d faults, such as: %v", len(found), found[:min(2, len(found))])
}

// clocked is a server whose clock can be set, with the observer of its callers.
type clocked struct {
	*observer
	paid   *harness.Chats
	offset string // the file that says how far the clock is off
}

// startClocked starts the server with more of an environment; its clock is right.
func startClocked(t *testing.T, env ...string) *clocked {
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
	w := &clocked{&observer{t: t, server: s, seed: seed}, paid, filepath.Join(s.Dir, "clock")}
	s.Env = append(env, "UNITASK_TEST_CLOCK="+w.offset)
	w.set(0)
	s.Start()
	w.keys = map[task.Mode]string{task.Live: s.MustNewKey(task.Live), task.Test: s.MustNewKey(task.Test)}
	return w
}

// set sets the server's clock, away from the true time; the server looks every 10 ms.
func (w *clocked) set(by time.Duration) {
	w.t.Helper()
	next := w.offset + ".next"
	if err := os.WriteFile(next, fmt.Appendln(nil, int64(by/time.Second)), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(next, w.offset); err != nil {
		w.t.Fatal(err)
	}
}

// judge waits until all tasks have ended, and returns the observation and its violations.
func (w *clocked) judge() (invariant.Observation, []string) {
	w.t.Helper()
	w.settle(time.Minute)
	o := w.observe()
	o.Submissions, o.Counted = w.paid.Sent(), map[string]bool{cheap: true, dear: true}
	return o, judgeClock(w.observer, o)
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
