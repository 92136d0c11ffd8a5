package task_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/task"
)

var plan = task.Plan{
	Supplier: "cheap", Model: "m1", Caps: []task.Cap{{Key: "supplier:cheap", Limit: 2}},
	Reason: "lowest price", Passed: []task.Passed{{Supplier: "dear", Model: "m2", Reason: "tripped"}},
}

// TestLedger walks through the life of a ledger: a submission of unknown outcome, its reconciliation
// under the same row, and a second attempt.
func TestLedger(t *testing.T) {
	at := func(n int) (now task.Task) { return ledgerSteps(t)[n] }
	intent := task.Attempt{
		N: 1, Supplier: "cheap", Model: "m1", SubmitKey: "task_1/1", State: task.Intent, Caps: plan.Caps,
		Reason: "lowest price", Passed: plan.Passed, StartedAt: t0,
	}
	unknown := intent
	unknown.State, unknown.Code, unknown.CostUnknown, unknown.ClosedAt = task.UnknownOutcome, fault.ProviderTimeout, true, &t1
	submitted := intent
	submitted.State, submitted.Job, submitted.SubmittedAt = task.Submitted, json.RawMessage(`"job"`), &t1
	moved := submitted
	moved.Job = json.RawMessage(`"job, moved"`)
	failed := moved
	failed.State, failed.Code, failed.Cost, failed.ClosedAt = task.FailedAttempt, fault.ProviderUnavailable, 7, &t1
	second := intent
	second.N, second.SubmitKey, second.StartedAt = 2, "task_1/2", t1
	ok := second
	ok.State, ok.Usage, ok.Cost, ok.ClosedAt = task.OK, &task.Usage{Images: 1}, 9, &t1

	want := [][]task.Attempt{{intent}, {unknown}, {intent}, {submitted}, {moved}, {failed}, {failed, second}, {failed, ok}}
	for i, rows := range want {
		if diff := cmp.Diff(rows, at(i).Attempts); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
}

// ledgerSteps returns the task after each step of TestLedger.
func ledgerSteps(t *testing.T) []task.Task {
	t.Helper()
	now := inState(task.Running)
	var steps []task.Task
	keep := func(next task.Task, ok bool) {
		t.Helper()
		if !ok {
			t.Fatalf("step %d was refused", len(steps))
		}
		now = next
		steps = append(steps, now)
	}
	keep(now.BeginAttempt(plan, t0), true)
	keep(now.CloseAttempt(task.Closing{State: task.UnknownOutcome, Code: fault.ProviderTimeout, CostUnknown: true}, t1))
	keep(now.Readopt())
	keep(now.MarkSubmitted(json.RawMessage(`"job"`), t1))
	keep(now.MarkSubmitted(json.RawMessage(`"job, moved"`), t1.Add(1)))
	keep(now.CloseAttempt(task.Closing{State: task.FailedAttempt, Code: fault.ProviderUnavailable, Cost: 7}, t1))
	keep(now.BeginAttempt(plan, t1), true)
	keep(now.CloseAttempt(task.Closing{State: task.OK, Usage: &task.Usage{Images: 1}, Cost: 9}, t1))
	return steps
}

// TestSecondOpenAttemptPanics: no caller can go on from a second paid submission.
func TestSecondOpenAttemptPanics(t *testing.T) {
	started := inState(task.Running).BeginAttempt(plan, t0)
	submitted, _ := started.MarkSubmitted(json.RawMessage(`1`), t0)
	for _, open := range []task.Task{started, submitted} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a second attempt beside one in state %q", open.OpenAttempt().State)
				}
			}()
			open.BeginAttempt(plan, t1)
		}()
	}
}

// TestLedgerRefusals: a step that doesn't fit is refused without a change.
func TestLedgerRefusals(t *testing.T) {
	empty := inState(task.Running)
	started := empty.BeginAttempt(plan, t0)
	closed := map[task.AttemptState]task.Task{}
	for _, end := range []task.AttemptState{task.OK, task.FailedAttempt, task.Rejected, task.UnknownOutcome} {
		next, ok := started.CloseAttempt(task.Closing{State: end}, t1)
		if !ok || next.OpenAttempt() != nil {
			t.Fatalf("closing as %q: %v", end, ok)
		}
		closed[end] = next
	}
	check := func(what string, in, out task.Task, ok, want bool) {
		t.Helper()
		if ok != want {
			t.Errorf("%s: %v, want %v", what, ok, want)
		}
		if diff := cmp.Diff(in, out); !ok && diff != "" {
			t.Errorf("%s changed the task:\n%s", what, diff)
		}
	}
	for _, end := range []task.AttemptState{"", "done", task.Intent, task.Submitted} {
		out, ok := started.CloseAttempt(task.Closing{State: end}, t1)
		check("closing as "+string(end), started, out, ok, false)
	}
	for _, in := range []task.Task{empty, closed[task.OK], closed[task.UnknownOutcome]} {
		out, ok := in.MarkSubmitted(json.RawMessage(`1`), t1)
		check("a job without an open attempt", in, out, ok, false)
		out, ok = in.CloseAttempt(task.Closing{State: task.OK}, t1)
		check("closing without an open attempt", in, out, ok, false)
	}
	for _, in := range []task.Task{empty, started} {
		if in.LastUnknown() {
			t.Error("an outcome is unknown where nothing ended")
		}
		out, ok := in.Readopt()
		check("readopting what isn't of unknown outcome", in, out, ok, false)
	}
	for end, in := range closed {
		out, ok := in.Readopt()
		check("readopting "+string(end), in, out, ok, end == task.UnknownOutcome)
		if got, want := in.LastUnknown(), end == task.UnknownOutcome; got != want {
			t.Errorf("last unknown after %q: %v, want %v", end, got, want)
		}
	}
}

// TestReadoptKeepsTheJob: an attempt with a known job is polled on, never submitted anew.
func TestReadoptKeepsTheJob(t *testing.T) {
	submitted, _ := inState(task.Running).BeginAttempt(plan, t0).MarkSubmitted(json.RawMessage(`"job"`), t0)
	lost, _ := submitted.CloseAttempt(task.Closing{State: task.UnknownOutcome, Code: fault.ProviderTimeout, Cost: 3}, t1)
	again, ok := lost.Readopt()
	if diff := cmp.Diff(submitted, again); !ok || diff != "" {
		t.Errorf("readopted %v (-want +got):\n%s", ok, diff)
	}
}

// TestOpenAttemptIsACopy: the ledger can't be changed through its results.
func TestOpenAttemptIsACopy(t *testing.T) {
	started := inState(task.Running).BeginAttempt(plan, t0)
	started.OpenAttempt().State = task.OK
	if got := started.OpenAttempt(); got == nil || got.State != task.Intent {
		t.Errorf("the open attempt became %+v", got)
	}
}
