package task_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// snapshot is everything of a task as text, with the spare room of its slices: an append that
// writes into a shared array shows there.
func snapshot(t *rapid.T, in task.Task) string {
	in.Timeline = in.Timeline[:cap(in.Timeline)]
	in.Attempts = in.Attempts[:cap(in.Attempts)]
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func drawTransition(t *rapid.T) task.Transition {
	count := rapid.Int64Range(0, 1<<40)
	switch rapid.SampledFrom(task.Rules()).Draw(t, "rule").Name {
	case "start":
		return task.Start()
	case "transfer":
		return task.Transfer()
	case "succeed":
		return task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"out"}`)}, task.Usage{OutputTokens: count.Draw(t, "tokens")})
	case "fail":
		code := rapid.SampledFrom(fault.Codes()).Draw(t, "code")
		return task.Fail(task.FailureOf(fault.New(code, "m")))
	case "cancel":
		return task.Cancel(&task.Usage{OutputTokens: count.Draw(t, "tokens")})
	default:
		return task.Reopen()
	}
}

// drawStep returns a change of the task: a move of its state or a row of its ledger.
func drawStep(t *rapid.T) func(task.Task, time.Time) (task.Task, bool) {
	ends := []task.AttemptState{task.OK, task.FailedAttempt, task.Rejected, task.UnknownOutcome}
	switch rapid.IntRange(0, 5).Draw(t, "step") {
	case 0:
		return func(in task.Task, now time.Time) (task.Task, bool) {
			if in.OpenAttempt() != nil {
				return in, false
			}
			return in.BeginAttempt(task.Plan{Supplier: "s", Caps: []task.Cap{{Key: "k", Limit: 1}}}, now), true
		}
	case 1:
		job := json.RawMessage(rapid.SampledFrom([]string{`"a"`, `"b"`}).Draw(t, "job"))
		return func(in task.Task, now time.Time) (task.Task, bool) { return in.MarkSubmitted(job, now) }
	case 2:
		c := task.Closing{State: rapid.SampledFrom(ends).Draw(t, "end")}
		return func(in task.Task, now time.Time) (task.Task, bool) { return in.CloseAttempt(c, now) }
	case 3:
		return func(in task.Task, _ time.Time) (task.Task, bool) { return in.Readopt() }
	default:
		tr := drawTransition(t)
		return func(in task.Task, now time.Time) (task.Task, bool) {
			out, err := in.Apply(tr, now)
			return out, err == nil
		}
	}
}

// TestLivesOfATask walks random lives and checks the invariants at every step: no copy is changed through another, a
// refusal makes no change, and the record stays coherent.
func TestLivesOfATask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := inState(task.Queued)
		at := t0
		for range rapid.IntRange(1, 40).Draw(t, "length") {
			at = at.Add(time.Second)
			before := snapshot(t, now)
			next, ok := drawStep(t)(now, at)
			if got := snapshot(t, now); got != before {
				t.Fatalf("the receiver changed:\n%s\n%s", before, got)
			}
			if got := snapshot(t, next); !ok && got != before {
				t.Fatalf("a refused step changed the task:\n%s\n%s", before, got)
			}
			checkCoherent(t, next)
			now = next
		}
	})
}

func checkCoherent(t *rapid.T, in task.Task) {
	if last := in.Timeline[len(in.Timeline)-1]; last.State != in.State {
		t.Fatalf("state %q, the timeline ends with %q", in.State, last.State)
	}
	if in.State.Terminal() != (in.FinishedAt != nil) {
		t.Fatalf("state %q, finished at %v", in.State, in.FinishedAt)
	}
	if in.State.Terminal() && in.Input != nil || in.State != task.Failed && in.Failure != nil {
		t.Fatalf("state %q with input %s and failure %v", in.State, in.Input, in.Failure)
	}
	if (in.Output != nil) != (in.State == task.Succeeded) || in.Cost > in.Reserved || in.Cost < 0 {
		t.Fatalf("state %q with output %v and cost %s of %s", in.State, in.Output, in.Cost, in.Reserved)
	}
	if in.State == task.Failed && in.Cost != 0 || in.Reopenings > task.MaxReopenings {
		t.Fatalf("state %q, cost %s, %d reopenings", in.State, in.Cost, in.Reopenings)
	}
	for i, a := range in.Attempts {
		if a.N != i+1 || a.SubmitKey != task.SubmitKey(in.ID, i+1) {
			t.Fatalf("attempt %d is numbered %d, key %q", i+1, a.N, a.SubmitKey)
		}
		if a.State.Open() == a.State.Ended() || a.State.Ended() != (a.ClosedAt != nil) {
			t.Fatalf("attempt %d is %q, closed at %v", a.N, a.State, a.ClosedAt)
		}
		if a.State.Open() && i != len(in.Attempts)-1 {
			t.Fatalf("attempt %d of %d is open", a.N, len(in.Attempts))
		}
	}
}
