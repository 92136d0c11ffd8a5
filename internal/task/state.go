package task

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// State is a task's public state.
type State string

// The states. The rules table says who moves a task in and out, and the state after a crash.
const (
	Queued       State = "queued"
	Running      State = "running"
	Transferring State = "transferring"
	Succeeded    State = "succeeded"
	Failed       State = "failed"
	Canceled     State = "canceled"
)

// States returns every state in the order a task may pass through them.
func States() []State {
	return []State{Queued, Running, Transferring, Succeeded, Failed, Canceled}
}

// Valid reports whether s is one of the states.
func (s State) Valid() bool {
	return slices.Contains(States(), s)
}

// Terminal reports whether a caller stops polling at s.
func (s State) Terminal() bool { return s == Succeeded || s == Failed || s == Canceled }

// Transition is one move of the public state with its data. Make one with the constructors below, one for each row of
// Rules.
type Transition struct {
	rule      string
	output    *Output
	failure   *Failure
	usage     *Usage
	unmetered bool // the reservation is charged: the extent of the work is unknown
}

// Start moves queued → running: a worker holds the lease.
func Start() Transition { return Transition{rule: "start"} }

// Transfer moves running → transferring: the supplier is done, its result is being kept.
func Transfer() Transition { return Transition{rule: "transfer"} }

// Succeed moves transferring → succeeded with the kept output and the measured usage.
func Succeed(out Output, u Usage) Transition {
	return Transition{rule: "succeed", output: &out, usage: &u}
}

// Fail moves any state that isn't terminal → failed.
func Fail(f Failure) Transition { return Transition{rule: "fail", failure: &f} }

// Cancel moves any state that isn't terminal → canceled. The caller pays for u, the measured work;
// nil is free: no work was submitted.
func Cancel(u *Usage) Transition { return Transition{rule: "cancel", usage: u} }

// CancelUnmetered is Cancel for work that was or may have been submitted and wasn't measured: the caller pays the
// reservation.
func CancelUnmetered() Transition { return Transition{rule: "cancel", unmetered: true} }

// Reopen moves failed → queued: the same key and request came again after a retryable failure.
func Reopen() Transition { return Transition{rule: "reopen"} }

// Name returns the transition's name in the rules table.
func (tr Transition) Name() string { return tr.rule }

// Output returns the result that the transition stores; nil without one.
func (tr Transition) Output() *Output { return tr.output }

// Rule is one row of the transition table.
type Rule struct {
	Name  string
	From  []State
	To    State
	Who   string // who makes the move, and when
	Crash string // the state after a crash right before or after it
}

// Rules returns the transition table; docs/state_machine.md is generated from it.
func Rules() []Rule { return slices.Clone(rules) }

var (
	open  = []State{Queued, Running, Transferring}
	rules = []Rule{
		{
			Name: "start", From: []State{Queued}, To: Running,
			Who:   "the worker that holds the lease, in the commit that records the first attempt's intent",
			Crash: "before: the task is claimed anew; after: the open attempt is reconciled by its supplier's class",
		},
		{
			Name: "transfer", From: []State{Running}, To: Transferring,
			Who:   "the worker, when the supplier reports a result",
			Crash: "before: the job is polled again; after: the result is fetched again from the known job",
		},
		{
			Name: "succeed", From: []State{Transferring}, To: Succeeded,
			Who:   "the worker, once every result file is kept and hashed; closes the attempt and settles in the same commit",
			Crash: "before: the transfer is done again under the same artifact ids; after: nothing is left to do",
		},
		{
			Name: "fail", From: open, To: Failed,
			Who:   "the worker, at a definite failure, an unknown outcome or the deadline; nothing is charged",
			Crash: "before: the worker that takes over reaches the same verdict; after: nothing is left to do",
		},
		{
			Name: "cancel", From: open, To: Canceled,
			Who: "the store for a task nobody works on, else the worker at the caller's request; work that was submitted is charged, " +
				"as measured or delivered, else as reserved",
			Crash: "before: the request is recorded and honoured by the next worker; after: nothing is left to do",
		},
		{
			Name: "reopen", From: []State{Failed}, To: Queued,
			Who: fmt.Sprintf("a POST with the same key and request after a retryable failure, at most %d times; "+
				"where the work may have been paid for, only once the failure was shown to the caller", MaxReopenings),
			Crash: "before: the task stays failed and the caller may ask again; after: the task is queued",
		},
	}
)

// RuleError reports a transition that the table doesn't allow.
type RuleError struct {
	Rule string
	From State
}

// Error names the transition and the state it was tried from.
func (e *RuleError) Error() string {
	return fmt.Sprintf("task: no transition %q from state %q", e.Rule, e.From)
}

// Apply makes the move at the given time and returns the changed copy, or a *RuleError. It doesn't
// touch Revision: one commit may hold several moves.
func (t Task) Apply(tr Transition, now time.Time) (Task, error) {
	rule, ok := ruleFor(tr.rule, t.State)
	if !ok || (tr.rule == "reopen" && !t.Reopenable()) {
		return t, &RuleError{Rule: tr.rule, From: t.State}
	}
	t.State = rule.To
	t.Timeline = append(append(make([]Move, 0, len(t.Timeline)+1), t.Timeline...), Move{State: rule.To, At: now})
	t.UpdatedAt = now
	switch {
	case rule.To.Terminal():
		t = t.finish(tr, now)
	case tr.rule == "reopen":
		t.Reopenings++
		t.Round = len(t.Attempts)
		t.Failure, t.FinishedAt, t.Progress, t.CancelRequested = nil, nil, nil, false
	}
	return t, nil
}

// finish records the end: the result, the money, and the erasure of the input.
func (t Task) finish(tr Transition, now time.Time) Task {
	t.FinishedAt = &now
	t.Output, t.Usage = tr.output, tr.usage
	if tr.failure != nil {
		f := *tr.failure
		f.Retryable = f.Retryable && t.Reopenings < MaxReopenings
		f.Unshown = f.Retryable && (f.Unshown || t.mayBePaid())
		t.Failure = &f
		t.Progress = nil
	}
	if t.State == Succeeded {
		t.Progress = new(1.0)
	}
	switch {
	case tr.unmetered:
		t.Cost = t.Reserved
	case t.Usage != nil:
		t.Cost = min(t.Price.Cost(*t.Usage), t.Reserved)
	}
	t.Input, t.InputRef, t.Parameters = nil, "", nil
	return t.eraseJobs()
}

// eraseJobs keeps of each attempt's job only the id that the supplier knows it by: its state may
// hold parts of the input. An attempt that a retry may adopt keeps it whole.
func (t Task) eraseJobs() Task {
	if !slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Job != nil }) {
		return t
	}
	t.Attempts = slices.Clone(t.Attempts)
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.Job == nil || (i == len(t.Attempts)-1 && t.retryable() && t.LastUnknown()) {
			continue
		}
		var job struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(a.Job, &job) // one that can't be read leaves no task
		a.Job, _ = json.Marshal(job)
	}
	return t
}

func ruleFor(name string, from State) (Rule, bool) {
	for _, r := range rules {
		if r.Name == name && slices.Contains(r.From, from) {
			return r, true
		}
	}
	return Rule{}, false
}
