package gateway_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestRetryAfterUnknown repeats a POST whose submission's outcome is unknown, by the supplier's class. A caller
// that got no answer is told of the failure first, whatever the class.
func TestRetryAfterUnknown(t *testing.T) {
	lost := func(n int, _ supplier.Request) (supplier.Outcome, error) {
		if n == 1 {
			return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "reset", nil)
		}
		return text("here"), nil
	}
	done := func(int, supplier.Job) (supplier.Outcome, error) { return text("here"), nil }
	neither := &script{submitFn: lost}
	honours := keyed{jobs{&script{submitFn: lost, pollFn: done}}}
	finds := findable{jobs{&script{submitFn: lost, pollFn: done}}, true}
	lacks := findable{jobs{&script{submitFn: lost, pollFn: done}}, false}
	for name, tt := range map[string]struct {
		adapter supplier.Adapter
		script  *script
		submits []string
		ledger  []task.AttemptState
	}{
		"neither":       {neither, neither, []string{"/1", "/2"}, []task.AttemptState{task.UnknownOutcome, task.OK}},
		"honours a key": {honours, honours.script, []string{"/1", "/1"}, []task.AttemptState{task.OK}},
		"finds":         {finds, finds.script, []string{"/1"}, []task.AttemptState{task.OK}},
		"finds nothing": {lacks, lacks.script, []string{"/1", "/2"}, []task.AttemptState{task.Rejected, task.OK}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, []routing.Route{route("text.chat", "a", 1, tt.adapter)}, func(w *world) {
				first := w.submit("unknown-01", chat, time.Minute).Task
				if codeOf(first) != fault.ProviderTimeout || !first.Failure.Retryable {
					t.Fatalf("the lost submission ended %s %+v", first.State, first.Failure)
				}
				told := w.create("unknown-01", chat, time.Minute)
				if diff := cmp.Diff(first, told.Task); diff != "" || !told.Replayed || len(tt.script.keys()) != 1 {
					t.Fatalf("a retry by who wasn't told: replayed %v, %d submissions (-want +got):\n%s", told.Replayed, len(tt.script.keys()), diff)
				}
				again := w.create("unknown-01", chat, time.Minute)
				if again.Task.ID != first.ID || again.Task.State != task.Succeeded || again.Replayed {
					t.Fatalf("the retry: %s %s %+v", again.Task.ID, again.Task.State, again.Task.Failure)
				}
				var want []string
				for _, s := range tt.submits {
					want = append(want, first.ID+s)
				}
				if diff := cmp.Diff(want, tt.script.keys()); diff != "" {
					t.Errorf("submissions (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.ledger, attemptStates(again.Task)); diff != "" {
					t.Errorf("ledger (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestRefusedAgain refuses a submission that is repeated under a key its supplier honours. The first one may have
// been taken: no other route gets the work, and the ledger has the unknown outcome.
func TestRefusedAgain(t *testing.T) {
	unknown := func(code fault.Code) []attemptOutcome {
		return []attemptOutcome{{"a", task.UnknownOutcome, code, 0, true}}
	}
	paid := outcome{State: task.Succeeded, Ledger: []attemptOutcome{{"a", task.OK, "", 30_000, false}}}
	for name, tt := range map[string]struct {
		sent     supplier.Sent
		code     fault.Code
		refusals int
		want     outcome
	}{
		"no connection for a while":     {supplier.NotSent, fault.ProviderUnavailable, 3, paid},
		"too many requests for a while": {supplier.Refused, fault.CapacityExhausted, 1, paid},
		"the parameters": {supplier.Refused, fault.InvalidRequest, 1, outcome{
			task.Failed, fault.ProviderUnavailable, 0, unknown(fault.InvalidRequest),
		}},
		"the content": {supplier.Refused, fault.ContentPolicyViolation, 1, outcome{
			task.Failed, fault.ContentPolicyViolation, 0, unknown(fault.ContentPolicyViolation),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: func(n int, _ supplier.Request) (supplier.Outcome, error) {
				if n <= tt.refusals {
					return supplier.Outcome{}, supplier.NewError(tt.sent, tt.code, "as the test says", nil)
				}
				return text("here"), nil
			}}
			other := &script{submitFn: answer("paid for twice")}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, keyed{jobs{s}}), route("text.chat", "b", 2*task.USD, other)})
				id := w.leave("text.chat", `{"prompt":"hello"}`).Task.ID
				w.start()
				defer w.stop()
				w.expect(w.end(id), tt.want)
				keys := slices.Repeat([]string{id + "/1"}, tt.refusals)
				if tt.want.Code == "" {
					keys = append(keys, id+"/1")
				}
				w.expectSent(s, keys...)
				w.expectSent(other)
			})
		})
	}
}

func TestReopeningIsBounded(t *testing.T) {
	s := &script{submitFn: refuse(supplier.Refused, fault.Internal)}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s)}, func(w *world) {
		for i := range task.MaxReopenings + 1 {
			got := w.create("reopen-0001", chat, time.Minute).Task
			if want := i < task.MaxReopenings; got.Failure.Retryable != want || got.Reopenings != i {
				t.Errorf("try %d: %+v after %d reopenings", i, got.Failure, got.Reopenings)
			}
		}
		if got := w.create("reopen-0001", chat, time.Minute); !got.Replayed || len(s.keys()) != task.MaxReopenings+1 {
			t.Errorf("replayed %v after %d submissions", got.Replayed, len(s.keys()))
		}
	})
}

// TestTakeover leaves an open intent behind, as a crash between the commit and the answer does.
func TestTakeover(t *testing.T) {
	neither := jobs{&script{submitFn: job("j"), pollFn: done(t)}}
	honours := keyed{jobs{&script{submitFn: job("j"), pollFn: done(t)}}}
	finds := findable{jobs{&script{submitFn: job("j"), pollFn: done(t)}}, true}
	lacks := findable{jobs{&script{submitFn: job("j"), pollFn: done(t)}}, false}
	for name, tt := range map[string]struct {
		adapter supplier.Adapter
		script  *script
		submits []string
		code    fault.Code
		ledger  []task.AttemptState
	}{
		"neither":       {neither, neither.script, []string{}, fault.ProviderTimeout, []task.AttemptState{task.UnknownOutcome}},
		"honours a key": {honours, honours.script, []string{"/1"}, "", []task.AttemptState{task.OK}},
		"finds":         {finds, finds.script, []string{}, "", []task.AttemptState{task.OK}},
		"finds nothing": {lacks, lacks.script, []string{"/2"}, "", []task.AttemptState{task.Rejected, task.OK}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("image.generate", "a", 1, tt.adapter)})
				id := w.leave("image.generate", `{"prompt":"a fox"}`).Task.ID
				w.start()
				defer w.stop()
				end := w.end(id)
				if codeOf(end) != tt.code {
					t.Errorf("ended %s %+v", end.State, end.Failure)
				}
				want := []string{}
				for _, s := range tt.submits {
					want = append(want, id+s)
				}
				if diff := cmp.Diff(want, tt.script.keys()); diff != "" {
					t.Errorf("submissions (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.ledger, attemptStates(end)); diff != "" {
					t.Errorf("ledger (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRestartPollsOn(t *testing.T) {
	finished := false
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(int, supplier.Job) (supplier.Outcome, error) {
		if finished {
			return picture(t), nil
		}
		return running("j"), nil
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.start()
		id := w.create("restart-01", paint, 0).Task.ID
		time.Sleep(5 * time.Second)
		w.stop()
		finished = true
		w.start()
		defer w.stop()
		if end := w.end(id); end.State != task.Succeeded || len(s.keys()) != 1 {
			t.Errorf("%s after %d submissions", end.State, len(s.keys()))
		}
	})
}
