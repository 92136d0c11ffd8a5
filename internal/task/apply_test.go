package task_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// mustApply makes the moves one after the other.
func mustApply(t *testing.T, in task.Task, moves ...task.Transition) task.Task {
	t.Helper()
	for _, tr := range moves {
		next, err := in.Apply(tr, t1)
		if err != nil {
			t.Fatal(err)
		}
		in = next
	}
	return in
}

// TestApplyEffects states everything that a move changes; all else stays as it was.
func TestApplyEffects(t *testing.T) {
	half := inState(task.Running)
	half.Progress, half.CancelRequested = new(0.5), true
	transferring := inState(task.Transferring)
	transferring.Progress = new(0.9)
	usage := task.Usage{OutputTokens: 2}
	tests := []struct {
		name   string
		from   task.Task
		by     task.Transition
		change func(*task.Task)
	}{
		{"start", inState(task.Queued), task.Start(), func(t *task.Task) { t.State = task.Running }},
		{"transfer", half, task.Transfer(), func(t *task.Task) { t.State = task.Transferring }},
		{"succeed", transferring, task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"done"}`)}, usage), func(t *task.Task) {
			end(t, task.Succeeded)
			t.Output, t.Usage, t.Cost = &task.Output{JSON: json.RawMessage(`{"text":"done"}`)}, &usage, 2000
			t.Progress = new(1.0)
		}},
		{"fail", half, task.Fail(retryable), func(t *task.Task) {
			end(t, task.Failed)
			t.Failure, t.Progress = new(retryable), nil
		}},
		{"cancel before anything was delivered", half, task.Cancel(nil), func(t *task.Task) {
			end(t, task.Canceled)
		}},
		{"cancel of a stream", half, task.Cancel(&usage), func(t *task.Task) {
			end(t, task.Canceled)
			t.Usage, t.Cost = &usage, 2000
		}},
		{"reopen", inState(task.Failed), task.Reopen(), func(t *task.Task) {
			t.State, t.Reopenings = task.Queued, 1
			t.Failure, t.FinishedAt = nil, nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.from
			tt.change(&want)
			want.UpdatedAt = t1
			want.Timeline = []task.Move{{State: task.Queued, At: t0}, {State: want.State, At: t1}}
			if diff := cmp.Diff(want, mustApply(t, tt.from, tt.by)); diff != "" {
				t.Errorf("after %q (-want +got):\n%s", tt.by.Name(), diff)
			}
		})
	}
}

// end is the common part of all terminal moves: the time and the erasure of the input.
func end(t *task.Task, s task.State) {
	t.State, t.FinishedAt = s, new(t1)
	t.Input, t.InputRef, t.Parameters = nil, "", nil
}

// TestCostStaysWithinTheReservation: a supplier that reports more than was reserved doesn't make the
// caller pay more.
func TestCostStaysWithinTheReservation(t *testing.T) {
	tests := []struct {
		name  string
		usage task.Usage
		want  task.Money
	}{
		{"nothing used", task.Usage{}, 0},
		{"below", task.Usage{OutputTokens: 4}, 4000},
		{"at", task.Usage{OutputTokens: 5}, 5000},
		{"above", task.Usage{OutputTokens: 6}, 5000},
		{"absurd", task.Usage{OutputTokens: 1 << 62}, 5000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustApply(t, inState(task.Transferring), task.Succeed(task.Output{}, tt.usage))
			if got.Cost != tt.want {
				t.Errorf("cost %s, want %s", got.Cost, tt.want)
			}
		})
	}
}

// TestReopenBound: a task may be reopened five times; the failure after the last says that no retry
// goes on, in the record and in the error that a caller gets.
func TestReopenBound(t *testing.T) {
	now := inState(task.Queued)
	for n := range task.MaxReopenings {
		now = mustApply(t, now, task.Start(), task.Fail(retryable))
		if !now.Failure.Retryable || !now.Reopenable() || !now.Fault().Retryable() || now.Reopenings != n {
			t.Fatalf("after %d reopenings: %+v", n, now.Failure)
		}
		now = mustApply(t, now, task.Reopen())
	}
	now = mustApply(t, now, task.Fail(retryable))
	want := retryable
	want.Retryable = false
	if diff := cmp.Diff(&want, now.Failure); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
	if got := now.Fault(); now.Reopenable() || got.Retryable() || got.Code != fault.ProviderTimeout {
		t.Errorf("reopenable %v, error %+v", now.Reopenable(), got)
	}
	if _, err := now.Apply(task.Reopen(), t1); err == nil {
		t.Error("a sixth reopening is allowed")
	}
}

// TestReopenNeedsARetryableFailure goes through every code.
func TestReopenNeedsARetryableFailure(t *testing.T) {
	for _, code := range fault.Codes() {
		failed := mustApply(t, inState(task.Queued), task.Fail(task.FailureOf(fault.New(code, "m"))))
		if got, want := failed.Reopenable(), code.Retryable(); got != want {
			t.Errorf("%s: reopenable %v, want %v", code, got, want)
		}
		if _, err := failed.Apply(task.Reopen(), t1); (err == nil) != code.Retryable() {
			t.Errorf("%s: reopening gives %v", code, err)
		}
	}
	bare, spent := inState(task.Failed), inState(task.Failed)
	bare.Failure, spent.Reopenings = nil, task.MaxReopenings
	if bare.Reopenable() || spent.Reopenable() {
		t.Errorf("reopenable without a failure: %v, after the last reopening: %v", bare.Reopenable(), spent.Reopenable())
	}
}

// TestPaidFailureIsShownFirst: a failure after work that was or may have been paid for keeps its task closed
// until it was shown; the next failure is another one.
func TestPaidFailureIsShownFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		attempt    task.Closing
		moderation bool
		want       bool // Unshown
	}{
		"unknown":            {task.Closing{State: task.UnknownOutcome, CostUnknown: true}, false, true},
		"unknown and free":   {task.Closing{State: task.UnknownOutcome}, false, true},
		"paid and lost":      {task.Closing{State: task.FailedAttempt, Cost: 7}, false, true},
		"failed for nothing": {task.Closing{State: task.FailedAttempt}, false, false},
		"refused":            {task.Closing{State: task.Rejected}, false, false},
		"a question":         {task.Closing{State: task.FailedAttempt, Cost: 7, CostUnknown: true}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(from task.Task) task.Task {
				open := mustApply(t, from, task.Start()).BeginAttempt(task.Plan{Supplier: "s", Moderation: tt.moderation}, t0)
				closed, _ := open.CloseAttempt(tt.attempt, t0)
				return mustApply(t, closed, task.Fail(retryable))
			}
			failed := run(inState(task.Queued))
			if failed.Unshown() != tt.want || failed.Reopenable() == tt.want || !failed.Fault().Retryable() {
				t.Fatalf("unshown %v, reopenable %v, want unshown %v; error %+v", failed.Unshown(), failed.Reopenable(), tt.want, failed.Fault())
			}
			shown := failed.Show()
			if failed.Unshown() != tt.want || shown.Unshown() || !shown.Reopenable() || shown.Revision != failed.Revision {
				t.Errorf("once shown: unshown %v, reopenable %v", shown.Unshown(), shown.Reopenable())
			}
			if again := run(mustApply(t, shown, task.Reopen())); again.Unshown() != tt.want {
				t.Errorf("the failure after the reopening: unshown %v", again.Unshown())
			}
		})
	}
	last := inState(task.Queued)
	last.Reopenings = task.MaxReopenings
	last, _ = last.BeginAttempt(task.Plan{}, t0).CloseAttempt(task.Closing{State: task.UnknownOutcome}, t0)
	if last = mustApply(t, last, task.Fail(retryable)); last.Unshown() || last.Failure.Unshown {
		t.Error("a failure that no POST reopens waits to be shown")
	}
}

// TestFailureRoundTrip: an error becomes a failure and comes back as the same error, with its task.
func TestFailureRoundTrip(t *testing.T) {
	for _, e := range []*fault.Error{
		fault.New(fault.CapacityExhausted, "every route is full").WithRetryAfter(3e9),
		fault.Invalid("parameters.size", "is too large"),
		{Code: fault.ProviderTimeout, Message: "the last one", Final: true},
	} {
		failed := mustApply(t, inState(task.Running), task.Fail(task.FailureOf(e)))
		if diff := cmp.Diff(e.WithTask("task_1"), failed.Fault(), cmpopts.IgnoreUnexported(fault.Error{})); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	}
	if got := inState(task.Running).Fault(); got != nil {
		t.Errorf("a running task has the error %v", got)
	}
	if got := task.FailureOf(json.Unmarshal([]byte("{"), new(int))); got.Code != fault.Internal || !got.Retryable {
		t.Errorf("an error without a code becomes %+v", got)
	}
}
