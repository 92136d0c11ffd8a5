package task_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/task"
)

var update = flag.Bool("update", false, "write docs/state_machine.md")

// TestStateMachinePage holds docs/state_machine.md to the code: the states come from task.Rules, the
// attempts' moves from trying every operation on every attempt state.
func TestStateMachinePage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "state_machine.md")
	got := stateMachinePage(t)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/state_machine.md is out of date; run go test ./internal/task -run TestStateMachinePage -update\n%s", diff)
	}
}

func stateMachinePage(t *testing.T) string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> queued: create\n")
	for _, r := range task.Rules() {
		for _, from := range r.From {
			fmt.Fprintf(&b, "    %s --> %s: %s\n", from, r.To, r.Name)
		}
	}
	for _, s := range task.States() {
		if s.Terminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n\n## Moves\n\n| move | from | to | who makes it | what a crash leaves |\n|---|---|---|---|---|\n")
	for _, r := range task.Rules() {
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s |\n", r.Name, codes(r.From), r.To, r.Who, r.Crash)
	}
	fmt.Fprintf(&b, movesFoot, task.MaxReopenings)
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> intent: begin\n")
	for _, move := range attemptMoves(t) {
		fmt.Fprintf(&b, "    %s\n", move)
	}
	for _, s := range attemptStates {
		if s.state.Ended() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s.state)
		}
	}
	b.WriteString("```\n\n| state | open | meaning |\n|---|---|---|\n")
	for _, s := range attemptStates {
		open := map[bool]string{true: "yes", false: "no"}[s.state.Open()]
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.state, open, s.meaning)
	}
	b.WriteString(pageFoot)
	return b.String()
}

func codes(states []task.State) string {
	quoted := make([]string, 0, len(states))
	for _, s := range states {
		quoted = append(quoted, "`"+string(s)+"`")
	}
	return strings.Join(quoted, ", ")
}

// attemptStates are the states of a ledger's row in the order of a life.
var attemptStates = []struct {
	state   task.AttemptState
	meaning string
}{
	{task.Intent, "recorded before the first byte of the submission leaves; after a crash nobody knows yet whether it left"},
	{task.Submitted, "the supplier named a job, which is polled on and never submitted anew"},
	{task.OK, "ended with a result that is kept"},
	{task.FailedAttempt, "ended with the definite failure of work that the supplier had accepted"},
	{task.Rejected, "ended before any work: nothing was sent, or the supplier refused it"},
	{task.UnknownOutcome, "ended without anyone knowing whether the supplier did the work; it may be taken up again, never repeated blindly"},
}

// attemptMoves tries every operation on an attempt in every state and returns the diagram's lines.
func attemptMoves(t *testing.T) []string {
	var lines []string
	for _, from := range attemptStates {
		in := inState(task.Running)
		in.Attempts = []task.Attempt{{N: 1, SubmitKey: task.SubmitKey(in.ID, 1), State: from.state, StartedAt: t0}}
		withJob := in
		withJob.Attempts = slices.Clone(in.Attempts)
		withJob.Attempts[0].Job = json.RawMessage(`1`)
		add := func(label string, out task.Task, ok bool) {
			if ok {
				lines = append(lines, fmt.Sprintf("%s --> %s: %s", from.state, out.Attempts[0].State, label))
			}
		}
		out, ok := in.MarkSubmitted(json.RawMessage(`2`), t1)
		add("job", out, ok)
		for _, end := range attemptStates {
			out, ok := in.CloseAttempt(task.Closing{State: end.state}, t1)
			add("close", out, ok)
		}
		out, ok = in.Readopt()
		add("readopt without a job", out, ok)
		out, ok = withJob.Readopt()
		add("readopt with a job", out, ok)
	}
	if len(lines) == 0 {
		t.Fatal("no operation moves an attempt")
	}
	return lines
}

const pageHead = `<!-- Generated from internal/task by: go test ./internal/task -run TestStateMachinePage -update -->

# The states of a task

This page is generated from the transition table in ` + "`internal/task`" + `, and a test fails when the two differ.
To write it anew: ` + "`go test ./internal/task -run TestStateMachinePage -update`" + `.

A caller sees one of six states and stops polling at ` + "`succeeded`, `failed` or `canceled`" + `. The state only moves
forward, with one exception: a retryable failure is reopened by a POST with the same key and the same request, after
work that may have been paid for only once the caller was shown the failure.
Several moves may happen in one commit, so a task that ends within its request shows only its last state, but its
timeline holds them all.

`

const movesFoot = `
A move that isn't in this table is refused and changes nothing. A task is reopened at most %d times; the failure after
that says ` + "`retryable: false`" + `. At every terminal move the input and the parameters are erased from the record.

# The states of an attempt

Each try at a supplier is one row of the task's ledger. At most one row is open at a time, and it is the last; opening
a second one is a fault of the program and stops it. Operators see the ledger, callers don't.

`

const pageFoot = `
The row is written before the submission and closed in the same commit as the move that follows from it. A failover to
another route closes the row and begins the next one; the task's public state stays as it is.
`
