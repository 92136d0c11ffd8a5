// Package invariant judges observations of a service under crashes: its callers' answers, its tasks and their ledgers
// in the end, and its suppliers' counts. It doesn't observe, so that real processes and a simulation are judged by
// the same rules.
package invariant

import (
	"fmt"

	"unitask/internal/api"
	"unitask/internal/task"
)

// Rule names a broken promise.
type Rule string

// The rules.
const (
	Lost        Rule = "lost"        // an acknowledged task isn't found under its id
	Identity    Rule = "identity"    // one key led to two ids, or two keys to one
	Stray       Rule = "stray"       // a task that no key led to
	Transition  Rule = "transition"  // the timeline holds a move that the table doesn't allow
	Forgotten   Rule = "forgotten"   // a state that a caller has read isn't in the timeline
	Attempts    Rule = "attempts"    // two open attempts, a gap in the numbers, or one left open at the end
	Resubmitted Rule = "resubmitted" // more submissions or charges than attempts or the failures shown to the caller allow
	Ledger      Rule = "ledger"      // the spend isn't the supplier's, unknown outcomes taken into account
	Bill        Rule = "bill"        // the caller pays a wrong charge, more than was reserved, or nothing for work it canceled
	Output      Rule = "output"      // a success without its output, or with other bytes than it says
	Unsettled   Rule = "unsettled"   // a task that isn't terminal in the end
)

// Violation is one broken rule.
type Violation struct {
	Rule   Rule
	Key    string // the idempotency key; the task's id for a stray
	Detail string
}

// String returns the violation on one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Rule, v.Key, v.Detail) }

// Observation is all that was seen. The service is at rest when its last parts are read.
type Observation struct {
	Tasks       []Task
	Listed      []string        // the ids of every task of the account; nil: not read
	Submissions []Submission    // the submissions to the suppliers named in Counted
	Counted     map[string]bool // suppliers whose submissions are all listed
}

// Task is the observation of the task under one idempotency key.
type Task struct {
	Key          string
	Posts        int             // requests sent under the key, answered or not
	Shown        int             // answers that arrived whole and carried a failure of the task
	Acknowledged []string        // the id in each answer that named one
	Seen         []task.State    // one caller's reads, in this order
	Found        bool            // whether it was found in the end, under its first id
	Final        api.Task        // as its caller reads it then
	Ledger       api.AdminTask   // as the operator reads it then
	Snapshots    []api.AdminTask // as the operator read it meanwhile
	Answer       *string         // the text that a success must hold; nil: any output
	Files        []File          // the bytes that its artifacts' addresses gave
}

// File is the bytes at an artifact's address.
type File struct {
	ID     string
	Bytes  int64
	SHA256 string // hex
}

// Submission is one request that arrived at a supplier.
type Submission struct {
	Key       string // of the task it was for
	SubmitKey string // of the attempt it was for; "": not known
	Supplier  string
	Charge    task.Money // 0: it was refused
}

// Check returns every violation, empty for a service that kept its promises.
func Check(o Observation) []Violation {
	sent := map[string][]Submission{}
	for _, s := range o.Submissions {
		sent[s.Key] = append(sent[s.Key], s)
	}
	owner := map[string]string{}
	c := &checker{}
	for _, t := range o.Tasks {
		c.key = t.Key
		c.identity(t, owner)
		if t.Found {
			c.timeline(t)
			c.attempts(t)
			c.submissions(t, sent[t.Key], o.Counted)
			c.bill(t)
			c.output(t)
		} else if len(t.Acknowledged) > 0 {
			c.add(Lost, "%s isn't found", t.Acknowledged[0])
		}
	}
	for _, id := range o.Listed {
		if owner[id] == "" {
			c.key = id
			c.add(Stray, "no key led to it")
		}
	}
	return c.found
}

type checker struct {
	key   string // of the task in hand
	found []Violation
}

func (c *checker) add(r Rule, format string, args ...any) {
	c.found = append(c.found, Violation{Rule: r, Key: c.key, Detail: fmt.Sprintf(format, args...)})
}

// identity checks that a key has one id, and an id one key.
func (c *checker) identity(t Task, owner map[string]string) {
	ids := t.Acknowledged
	if t.Found {
		ids = append(append([]string(nil), ids...), t.Final.ID, t.Ledger.ID)
	}
	for _, id := range ids {
		switch other, known := owner[id]; {
		case id != ids[0]:
			c.add(Identity, "the key led to %s and to %s", ids[0], id)
		case known && other != t.Key:
			c.add(Identity, "%s stands under %s too", id, other)
		}
		owner[id] = t.Key
	}
}

// output checks that a success has its promised bytes.
func (c *checker) output(t Task) {
	switch out := t.Final.Output; {
	case t.Final.State != task.Succeeded:
		if out != nil {
			c.add(Output, "a %s task has an output", t.Final.State)
		}
		return
	case out == nil:
		c.add(Output, "a success has none")
		return
	case t.Answer != nil:
		if out.Text == nil || *out.Text != *t.Answer {
			c.add(Output, "the text isn't the one that was answered")
		}
		return
	}
	files := map[string]File{}
	for _, f := range t.Files {
		files[f.ID] = f
	}
	artifacts := t.Final.Output.Artifacts()
	for _, a := range artifacts {
		if got, want := files[a.ID], (File{ID: a.ID, Bytes: a.Bytes, SHA256: a.SHA256}); got != want {
			c.add(Output, "%s gave %+v, want %+v", a.ID, got, want)
		}
	}
	if len(artifacts) == 0 && t.Final.Output.Text == nil && len(t.Final.Output.Embeddings) == 0 {
		c.add(Output, "a success is empty")
	}
}
