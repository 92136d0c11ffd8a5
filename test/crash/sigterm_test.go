package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

const (
	shortStops = 15
	// arrivalTime is how long a request may take to reach its handler.
	arrivalTime = 250 * time.Millisecond
	// stopTime bounds an orderly end: the longest answer of the supplier, and much for a busy machine.
	stopTime = 15 * time.Second
)

// stopping is one end of the server: from its signal to the start after it.
type stopping struct {
	signaled, ended time.Time
	refusing        time.Time // when the first answer "not ready" was in
	ready, unready  int       // answers of /readyz from then on
}

// failed reports whether a request that reached the server had no answer, but for its caller's own haste.
func (c call) failed() bool {
	return c.err != nil && !errors.Is(c.err, syscall.ECONNREFUSED) &&
		!errors.Is(c.err, context.DeadlineExceeded) && !errors.Is(c.err, context.Canceled)
}

// stopped is a run in which the server was ended again and again.
type stopped struct {
	*observer
	stops       []stopping
	observation invariant.Observation
}

// TestSigterm ends the server UNITASK_SIGTERM_CYCLES times by SIGTERM under load. Every submission's outcome can be
// known, so that in the end no attempt may be unknown.
func TestSigterm(t *testing.T) {
	cycles := int(harness.Setting(t, "UNITASK_SIGTERM_CYCLES", shortStops))
	r := stopAgainAndAgain(t, cycles, (*harness.Server).Stop)
	for _, fault := range r.judge() {
		t.Error(fault)
	}
	refused, unready, resumed := 0, 0, 0
	for _, c := range r.calls {
		if c.status == http.StatusServiceUnavailable {
			refused++
		}
	}
	var longest time.Duration
	for _, s := range r.stops {
		unready += s.unready
		longest = max(longest, s.ended.Sub(s.signaled))
	}
	for _, seen := range r.observation.Tasks {
		if r.spansAStop(seen) {
			resumed++
		}
	}
	t.Logf("%d stops, the longest in %s: %d tasks, %d submissions, %d requests refused and %d answers \"not ready\" meanwhile, %d tasks went on after one",
		cycles, longest.Round(time.Millisecond), len(r.observation.Tasks), len(r.observation.Submissions), refused, unready, resumed)
	if len(r.observation.Tasks) < cycles || refused == 0 || unready == 0 || resumed == 0 {
		t.Error("the run put too little to the test")
	}
}

// TestSigtermControl is the control: the same with SIGKILL, which breaks all of this.
func TestSigtermControl(t *testing.T) {
	r := stopAgainAndAgain(t, 6, (*harness.Server).Kill)
	found := r.judge()
	if len(found) == 0 {
		t.Error("a server that is killed passes for one that stops in order")
	}
	t.Logf("%d faults, such as: %v", len(found), found[:min(2, len(found))])
}

// TestSecondSignal stops a server that works on something long, and then again.
func TestSecondSignal(t *testing.T) {
	s := harness.NewServer(t)
	s.Start()
	id := mustCreate(t, s, s.MustNewKey(task.Test), "second-01", `{"capability":"text.chat","input":{"prompt":"@slow:1h"}}`)
	signal := func() {
		process, err := os.FindProcess(s.PID())
		if err == nil {
			err = process.Signal(syscall.SIGTERM)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	signal()
	s.Until(time.Minute, "it isn't ready", func() bool {
		got, err := s.Send(t.Context(), harness.Request{Method: http.MethodGet, Path: api.PathReady})
		return err == nil && got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != ""
	})
	got, err := s.Send(t.Context(), harness.Request{Method: http.MethodGet, Path: api.PathHealth})
	if err != nil || got.Status != http.StatusOK {
		t.Errorf("while %s is at work: %d %v, want it alive", id, got.Status, err)
	}
	signal()
	select {
	case <-s.Exited():
	case <-time.After(10 * time.Second): // half of the time that its work would have without the second one
		t.Error("the second signal didn't end it at once")
	}
}

// patient is the configuration with a timeout that no answer takes, so that no outcome is unknown.
func patient(base string) string {
	return strings.ReplaceAll(config(base), "timeout: 1s", "timeout: 10s")
}

// stopAgainAndAgain ends the server in the given way while callers create and poll.
func stopAgainAndAgain(t *testing.T, cycles int, end func(*harness.Server)) *stopped {
	t.Helper()
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	t.Logf("UNITASK_CRASH_SEED=%d", seed)
	paid := newSupplier(t, rand.New(rand.NewPCG(seed, 0)))
	paid.Draw = harness.Steady
	s := harness.NewServer(t)
	s.Config = patient(paid.Base)
	s.Start()
	r := &stopped{observer: &observer{t: t, server: s, seed: seed, keys: map[task.Mode]string{
		task.Live: s.MustNewKey(task.Live), task.Test: s.MustNewKey(task.Test),
	}}}
	ctx, halt := context.WithCancel(t.Context())
	defer halt()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { r.call(ctx, rand.New(rand.NewPCG(seed, uint64(i)+2))) })
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range cycles {
		rest(ctx, 2*arrivalTime+time.Duration(rng.IntN(500))*time.Millisecond)
		r.stops = append(r.stops, stopOnce(s, end))
		s.Start()
	}
	halt()
	all.Wait()
	r.settle(time.Minute + time.Duration(cycles)*settleTime)
	r.observation = r.observe()
	r.observation.Submissions, r.observation.Counted = paid.Sent(), map[string]bool{cheap: true, dear: true}
	return r
}

// stopOnce ends the server and asks it meanwhile whether it is ready.
func stopOnce(s *harness.Server, end func(*harness.Server)) stopping {
	stop := stopping{signaled: time.Now()}
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			got, err := s.Send(s.T.Context(), harness.Request{Method: http.MethodGet, Path: api.PathReady})
			switch {
			case errors.Is(err, syscall.ECONNREFUSED):
				return
			case err != nil:
			case got.Status == http.StatusServiceUnavailable:
				if stop.unready++; stop.unready == 1 {
					stop.refusing = time.Now()
				}
			case stop.unready > 0:
				stop.ready++
			}
			rest(s.T.Context(), 10*time.Millisecond)
		}
	})
	end(s)
	stop.ended = time.Now()
	asking.Wait()
	return stop
}

// judge returns the broken rules: the invariants of every crash, and those of an orderly end.
func (r *stopped) judge() []string {
	found := append([]string(nil), r.surprises...)
	for _, v := range invariant.Check(r.observation) {
		found = append(found, v.String())
	}
	for i, s := range r.stops {
		if took := s.ended.Sub(s.signaled); took > stopTime {
			found = append(found, fmt.Sprintf("stop %d took %s", i, took))
		}
		if s.ready > 0 {
			found = append(found, fmt.Sprintf("stop %d: the server called itself ready again", i))
		}
		for _, c := range r.calls {
			if c.failed() && c.sent.Before(s.signaled.Add(-arrivalTime)) && (i == 0 || c.sent.After(r.stops[i-1].ended)) {
				found = append(found, fmt.Sprintf("stop %d cut off a request that was %s old: %v", i, s.signaled.Sub(c.sent), c.err))
			}
			if s.unready > 0 && c.sent.After(s.refusing) && c.sent.Before(s.ended) && c.status > 0 && c.status < 300 && !c.replayed {
				found = append(found, fmt.Sprintf("stop %d: a task was admitted %s after the signal", i, c.sent.Sub(s.signaled)))
			}
		}
	}
	for _, seen := range r.observation.Tasks {
		found = append(found, r.judgeTask(seen)...)
	}
	return found
}

// judgeTask looks for a ledger's rows that only a disorderly end leaves.
func (r *stopped) judgeTask(seen invariant.Task) (found []string) {
	taken := 0
	for _, a := range seen.Ledger.Attempts {
		if a.State == task.UnknownOutcome {
			found = append(found, fmt.Sprintf("%s: attempt %d is of unknown outcome", seen.Key, a.N))
		}
		if a.State != task.Rejected {
			taken++
		}
	}
	if taken > 1 {
		found = append(found, fmt.Sprintf("%s: %d submissions were taken", seen.Key, taken))
	}
	return found
}

// spansAStop reports whether the task was started before a stop and ended after it.
func (r *stopped) spansAStop(seen invariant.Task) bool {
	l := seen.Ledger
	for _, s := range r.stops {
		if l.FinishedAt != nil && l.CreatedAt.Before(s.signaled) && l.FinishedAt.After(s.ended) {
			return true
		}
	}
	return false
}
