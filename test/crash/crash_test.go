// Package crash kills the real server again and again while callers create, poll and retry against suppliers that
// count their paid work, and then checks the observation by the invariants.
package crash_test

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

const (
	shortCycles = 50
	callers     = 8
	settleTime  = time.Second // a cycle, for the tasks that their callers left
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// TestKilled ends the server UNITASK_CRASH_CYCLES times by SIGKILL. The seed, which UNITASK_CRASH_SEED sets, decides
// the actions of callers and suppliers and their times; the machine has its say too.
func TestKilled(t *testing.T) {
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	cycles := int(harness.Setting(t, "UNITASK_CRASH_CYCLES", shortCycles))
	t.Logf("UNITASK_CRASH_SEED=%d UNITASK_CRASH_CYCLES=%d", seed, cycles)
	b, paid := newObserver(t, seed)
	s := b.server
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { b.call(ctx, rand.New(rand.NewPCG(seed, uint64(i)+2))) })
	}
	start := time.Now()
	killAgainAndAgain(s, rand.New(rand.NewPCG(seed, 1)), cycles)
	killing := time.Since(start)
	stop()
	all.Wait()
	b.settle(time.Minute + time.Duration(cycles)*settleTime)

	o := b.observe()
	o.Submissions, o.Counted = paid.Sent(), map[string]bool{cheap: true, dear: true}
	for _, v := range invariant.Check(o) {
		t.Error(v)
	}
	for _, surprise := range b.surprises {
		t.Error(surprise)
	}
	report(t, o, cycles, killing)
	if t.Failed() {
		t.Logf("the last server's output:\n%s", s.Warnings())
	}
}

// newObserver starts a server with keys of both modes, and suppliers that count.
func newObserver(t *testing.T, seed uint64) (*observer, *harness.Chats) {
	t.Helper()
	paid := newSupplier(t, rand.New(rand.NewPCG(seed, 0)))
	s := harness.NewServer(t)
	s.Config = config(paid.Base)
	s.Start()
	return &observer{t: t, server: s, seed: seed, doubtful: map[string]bool{}, keys: map[task.Mode]string{
		task.Live: s.MustNewKey(task.Live), task.Test: s.MustNewKey(task.Test),
	}}, paid
}

// report prints the figures, and fails the test if they show that it tested too little.
func report(t *testing.T, o invariant.Observation, cycles int, killing time.Duration) {
	t.Helper()
	var acknowledged, posts, reopened, unknown, failed, files, charges int
	for _, seen := range o.Tasks {
		acknowledged += len(seen.Acknowledged)
		posts += seen.Posts
		reopened += seen.Ledger.Reopenings
		files += len(seen.Files)
		if seen.Final.State == task.Failed {
			failed++
		}
		for _, a := range seen.Ledger.Attempts {
			if a.State == task.UnknownOutcome {
				unknown++
			}
		}
	}
	for _, s := range o.Submissions {
		if s.Charge > 0 {
			charges++
		}
	}
	t.Logf("%d kills in %s: %d tasks, %d requests to create, %d acknowledged, %d reopenings; %d submissions, %d charged, "+
		"%d attempts of unknown outcome; %d files; %d tasks failed for good",
		cycles, killing.Round(time.Second), len(o.Tasks), posts, acknowledged, reopened, len(o.Submissions), charges, unknown, files, failed)
	if len(o.Tasks) < cycles || unknown == 0 || reopened == 0 || files == 0 || failed > len(o.Tasks)/2 {
		t.Error("the run put too little to the test")
	}
}
