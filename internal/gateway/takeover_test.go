package gateway_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestPoisonIsGivenUp ends the node again and again a moment after it takes up its work, which one task
// is to blame for: its worker never comes to rest. It is given up, and a job beside it isn't.
func TestPoisonIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poison := keyed{jobs{&script{takes: time.Hour, submitFn: answer("never")}}}
		innocent := jobs{&script{submitFn: job("j"), pollFn: goesOn}}
		w := newWorld(t, []routing.Route{route("text.chat", "p", 1, poison), route("image.generate", "a", 1, innocent)})
		bad := w.leave("text.chat", `{"prompt":"hello"}`).Task.ID
		w.store.Restart()
		var nodes []*gateway.Gateway
		starts := 0
		for ; !w.get(bad).State.Terminal() && starts < 20; starts++ {
			var dead atomic.Bool
			w.engine = &tampered{Store: w.store, claimFunc: func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
				if dead.Load() {
					return nil, store.ErrClosed
				}
				return claim()
			}}
			w.start()
			nodes = append(nodes, w.g)
			if starts == 0 {
				w.create("innocent-1", paint, 0)
			}
			time.Sleep(4300 * time.Millisecond) // between two looks at the queue
			dead.Store(true)                    // it claims no more, and its late writes are fenced off
			w.store.Restart()
		}
		defer func() {
			for _, g := range nodes {
				mustStop(t, g)
			}
		}()
		got := w.get(bad)
		w.expect(got, outcome{task.Failed, fault.Internal, 0, []attemptOutcome{{"p", task.UnknownOutcome, fault.Internal, 0, true}}})
		if note := got.Attempts[0].Reason; starts != 6 || !strings.HasSuffix(note, "; given up after 5 takeovers in a row") {
			t.Errorf("given up at start %d with %q, want 6", starts, note)
		}
		if !got.Failure.Retryable {
			t.Error("its caller can't ask for it again")
		}
		page, err := w.g.List(t.Context(), w.caller, gateway.ListQuery{Capability: "image.generate"})
		if err != nil || len(page.Tasks) != 1 {
			t.Fatalf("%+v %v", page, err)
		}
		beside := page.Tasks[0]
		w.expect(beside, outcome{task.Running, "", 0, []attemptOutcome{{"a", task.Submitted, "", 0, false}}})
		if beside.Takeovers >= 5 {
			t.Errorf("the job beside it was counted %d times", beside.Takeovers)
		}
		w.expectSent(innocent.script, beside.ID+"/1")
	})
}

// TestJobsHoldNoWorker has many more jobs than workers at a supplier for ten minutes: all of them run, and polling
// them writes no row.
func TestJobsHoldNoWorker(t *testing.T) {
	const jobCount = 60
	s := jobs{&script{submitFn: job("j")}}
	var start time.Time
	s.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
		if time.Since(start) < 10*time.Minute {
			return running(j.ID), nil
		}
		return picture(t), nil
	}
	synctest.Test(t, func(t *testing.T) {
		start = time.Now()
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.limits.Workers = 2
		w.start()
		defer w.stop()
		var ids []string
		for i := range jobCount {
			ids = append(ids, w.create("no-worker-"+string(rune('a'+i/26))+string(rune('a'+i%26)), paint, 0).Task.ID)
		}
		time.Sleep(time.Minute)
		before := map[string]int64{}
		for _, id := range ids {
			got := w.get(id)
			before[id] = got.Revision
			w.expect(got, outcome{task.Running, "", 0, []attemptOutcome{{"a", task.Submitted, "", 0, false}}})
		}
		polls := s.polled()
		time.Sleep(time.Minute)
		for _, id := range ids {
			if got := w.get(id); got.Revision != before[id] {
				t.Errorf("%s was written %d times by polls", id, got.Revision-before[id])
			}
		}
		if n := s.polled() - polls; n < 10*jobCount { // at the longest pause, and a wait for one of the two slots
			t.Errorf("%d polls in a minute", n)
		}
		for _, id := range ids {
			w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		}
	})
}

// TestSuspectsGiveTheirTurnBack has two synchronous tasks that were taken over again and again, each with a job that
// goes on at its supplier: the one that waits for its job keeps the other from nothing.
func TestSuspectsGiveTheirTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := keyed{jobs{&script{submitFn: job("j"), pollFn: goesOn}}}
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		if err := w.store.Renew(t.Context(), "dead", time.Minute); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for i := range 2 {
			made, err := w.store.CreateTask(t.Context(), store.NewTask{
				ID: task.NewID(task.PrefixTask, time.Now()), Scope: w.caller.Scope(), IdempotencyHash: task.Hash{byte(i)},
				Capability: "text.chat", Sync: true, Input: []byte(`{"prompt":"hello"}`), Parameters: []byte(`{}`), Deadline: time.Hour,
				First: &store.First{Node: "dead", Plans: []task.Plan{routing.Choice{Route: &w.routes[0]}.Plan(nil)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.store.Advance(t.Context(), made.Lease.Ref, store.Step{Takeovers: new(2)}); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, made.Task.ID)
		}
		w.store.Restart()
		w.start()
		defer w.stop()
		time.Sleep(10 * time.Second)
		for _, id := range ids {
			w.expect(w.get(id), outcome{task.Running, "", 0, []attemptOutcome{{"a", task.Submitted, "", 0, false}}})
		}
	})
}
