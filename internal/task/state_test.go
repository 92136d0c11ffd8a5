package task_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/task"
)

var (
	t0 = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	t1 = t0.Add(time.Second)
)

var retryable = task.Failure{Code: fault.ProviderTimeout, Message: "no answer in time", Retryable: true}

// transitions holds one transition of each row of task.Rules.
func transitions() map[string]task.Transition {
	return map[string]task.Transition{
		"start":    task.Start(),
		"transfer": task.Transfer(),
		"succeed":  task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"done"}`)}, task.Usage{OutputTokens: 2}),
		"fail":     task.Fail(retryable),
		"cancel":   task.Cancel(nil),
		"reopen":   task.Reopen(),
	}
}

// inState returns a task as the transitions leave it in the state.
func inState(s task.State) task.Task {
	t := task.Task{
		ID: "task_1", State: s, CreatedAt: t0, UpdatedAt: t0,
		Input: json.RawMessage(`{"prompt":"x"}`), InputRef: "in_1", Parameters: json.RawMessage(`{}`),
		Price: task.Price{Unit: task.PerMillionTokens, Output: task.USD}, Reserved: 5000,
		Timeline: append(make([]task.Move, 0, 8), task.Move{State: task.Queued, At: t0}),
	}
	if s.Terminal() {
		t.Input, t.InputRef, t.Parameters, t.FinishedAt = nil, "", nil, &t0
	}
	if s == task.Failed {
		t.Failure = new(retryable)
	}
	return t
}

// legal is the contract's machine, written down a second time: the pairs of states that a single
// transition may join.
var legal = map[[2]task.State]string{
	{task.Queued, task.Running}:         "start",
	{task.Running, task.Transferring}:   "transfer",
	{task.Transferring, task.Succeeded}: "succeed",
	{task.Queued, task.Failed}:          "fail",
	{task.Running, task.Failed}:         "fail",
	{task.Transferring, task.Failed}:    "fail",
	{task.Queued, task.Canceled}:        "cancel",
	{task.Running, task.Canceled}:       "cancel",
	{task.Transferring, task.Canceled}:  "cancel",
	{task.Failed, task.Queued}:          "reopen",
}

// TestEveryPair tries every transition from every state: a pair of states is joined exactly as the state machine
// says, by exactly the transition that Rules names.
func TestEveryPair(t *testing.T) {
	tries := transitions()
	if len(tries) != len(task.Rules()) {
		t.Fatalf("%d transitions for %d rules", len(tries), len(task.Rules()))
	}
	for _, from := range task.States() {
		for _, to := range task.States() {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				var joined []string
				for name, tr := range tries {
					before := inState(from)
					if got, err := before.Apply(tr, t1); err == nil && got.State == to {
						joined = append(joined, name)
					}
				}
				var want []string
				if name, ok := legal[[2]task.State{from, to}]; ok {
					want = []string{name}
				}
				if diff := cmp.Diff(want, joined); diff != "" {
					t.Errorf("joined by (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestRulesAreTheMachine compares the published table with the state machine's pairs, and makes sure that a refused
// transition returns an error and makes no change.
func TestRulesAreTheMachine(t *testing.T) {
	table := map[[2]task.State]string{}
	for _, r := range task.Rules() {
		for _, from := range r.From {
			table[[2]task.State{from, r.To}] = r.Name
		}
		if r.Who == "" || r.Crash == "" {
			t.Errorf("rule %q doesn't say who moves or what a crash leaves", r.Name)
		}
	}
	if diff := cmp.Diff(legal, table); diff != "" {
		t.Errorf("rules (-contract +table):\n%s", diff)
	}
	for _, from := range task.States() {
		for name, tr := range transitions() {
			before := inState(from)
			got, err := before.Apply(tr, t1)
			if tr.Name() != name {
				t.Errorf("%q calls itself %q", name, tr.Name())
			}
			allowed := slices.ContainsFunc(task.Rules(), func(r task.Rule) bool {
				return r.Name == name && slices.Contains(r.From, from)
			})
			if allowed == (err != nil) {
				t.Errorf("%q from %q: error %v, the table allows it: %v", name, from, err, allowed)
			}
			if err == nil {
				continue
			}
			if diff := cmp.Diff(&task.RuleError{Rule: name, From: from}, err); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(inState(from), got); diff != "" {
				t.Errorf("a refused %q changed the task:\n%s", name, diff)
			}
		}
	}
}

func TestZeroTransitionIsRefused(t *testing.T) {
	for _, from := range task.States() {
		_, err := inState(from).Apply(task.Transition{}, t1)
		if _, ok := errors.AsType[*task.RuleError](err); !ok {
			t.Errorf("from %q: error %v, want a RuleError", from, err)
		}
	}
}

func TestStates(t *testing.T) {
	type row struct {
		State    task.State
		Terminal bool
	}
	want := []row{
		{"queued", false},
		{"running", false},
		{"transferring", false},
		{"succeeded", true},
		{"failed", true},
		{"canceled", true},
	}
	var got []row
	for _, s := range task.States() {
		got = append(got, row{s, s.Terminal()})
		if !s.Valid() {
			t.Errorf("%q is not valid", s)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	for _, s := range []task.State{"", "Queued", "cancelled", "done"} {
		if s.Valid() || s.Terminal() {
			t.Errorf("%q: valid %v, terminal %v, want neither", s, s.Valid(), s.Terminal())
		}
	}
}
