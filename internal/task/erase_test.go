package task_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestJobsAreErased ends a task with two attempts whose jobs hold parts of the input.
func TestJobsAreErased(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	whole := json.RawMessage(`{"id":"j","state":{"prompt":"private"}}`)
	const bare = `{"id":"j"}`
	for name, tt := range map[string]struct {
		second task.AttemptState
		end    task.Transition
		want   []string
	}{
		"succeeded":             {task.OK, task.Succeed(task.Output{}, task.Usage{}), []string{bare, bare}},
		"canceled":              {task.UnknownOutcome, task.Cancel(nil), []string{bare, bare}},
		"failed for good":       {task.FailedAttempt, task.Fail(task.Failure{Code: fault.ContentPolicyViolation}), []string{bare, bare}},
		"a retry may adopt it":  {task.UnknownOutcome, task.Fail(task.Failure{Code: fault.ProviderTimeout, Retryable: true}), []string{bare, string(whole)}},
		"nothing to be adopted": {task.FailedAttempt, task.Fail(task.Failure{Code: fault.ProviderTimeout, Retryable: true}), []string{bare, bare}},
	} {
		one := task.Task{ID: "task_1", State: task.Transferring}
		for _, state := range []task.AttemptState{task.UnknownOutcome, tt.second} {
			one = one.BeginAttempt(task.Plan{}, now)
			one, _ = one.MarkSubmitted(whole, now)
			one, _ = one.CloseAttempt(task.Closing{State: state}, now)
		}
		ended, err := one.Apply(tt.end, now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range ended.Attempts {
			got = append(got, string(a.Job))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if string(one.Attempts[0].Job) != string(whole) {
			t.Errorf("%s: the erasure reached the receiver", name)
		}
	}
}
