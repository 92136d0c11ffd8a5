package task

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"unitask/internal/fault"
)

// AttemptState is the state of one attempt at a supplier.
type AttemptState string

// The attempt states: intent → submitted → ok | failed | rejected, or unknown.
const (
	// Intent is recorded before the first byte of a submission; a crash leaves the outcome open.
	Intent AttemptState = "intent"
	// Submitted means that the supplier named a job: it is polled on, never submitted anew.
	Submitted AttemptState = "submitted"
	// OK ended with the supplier's result.
	OK AttemptState = "ok"
	// FailedAttempt ended with a supplier's definite failure of accepted work.
	FailedAttempt AttemptState = "failed"
	// Rejected ended before any work: no request was sent, or the supplier refused it.
	Rejected AttemptState = "rejected"
	// UnknownOutcome ended without anyone knowing whether the supplier did the work, or with a known
	// job whose result could not be had: a retry settles it before anything is submitted anew.
	UnknownOutcome AttemptState = "unknown"
)

// Open reports whether the attempt's outcome is still to come.
func (s AttemptState) Open() bool { return s == Intent || s == Submitted }

// Ended reports whether the attempt's outcome is recorded, also as unknown.
func (s AttemptState) Ended() bool {
	return s == OK || s == FailedAttempt || s == Rejected || s == UnknownOutcome
}

// Attempt is one row of a task's ledger, for operators only.
type Attempt struct {
	N           int             `json:"n"`                    // from 1, over all reopenings
	Moderation  bool            `json:"moderation,omitempty"` // a question about the content before its work: safe to repeat
	Supplier    string          `json:"supplier"`
	Model       string          `json:"model"`
	SubmitKey   string          `json:"submit_key"` // "<task id>/<n>"
	State       AttemptState    `json:"state"`
	Caps        []Cap           `json:"caps,omitempty"` // the in-flight caps it counts against while open
	Job         json.RawMessage `json:"job,omitempty"`  // the supplier's job, opaque here
	Reason      string          `json:"reason,omitempty"`
	Passed      []Passed        `json:"passed,omitempty"`   // routes not taken, and why
	Estimate    Money           `json:"estimate,omitempty"` // the most that the supplier may charge, by the request's size
	Code        fault.Code      `json:"code,omitempty"`
	Usage       *Usage          `json:"usage,omitempty"`
	Cost        Money           `json:"cost,omitempty"`         // the supplier's charge for it
	CostUnknown bool            `json:"cost_unknown,omitempty"` // it may have charged; unknown
	StartedAt   time.Time       `json:"started_at"`
	SubmittedAt *time.Time      `json:"submitted_at,omitempty"`
	ClosedAt    *time.Time      `json:"closed_at,omitempty"`
}

// Cap is an in-flight limit that an attempt counts against for its whole life.
type Cap struct {
	Key   string `json:"key"`   // "supplier:groq" or "route:groq/llama"
	Limit int    `json:"limit"` // 0: no limit
}

// Passed is a route that was not taken, with the reason.
type Passed struct {
	Supplier string     `json:"supplier"`
	Model    string     `json:"model"`
	Reason   string     `json:"reason"`
	Code     fault.Code `json:"code,omitempty"` // the caller's error when every route is passed over so
}

// Plan is an attempt about to begin: which route, why, and the caps it counts against.
type Plan struct {
	Supplier string
	Model    string
	Caps     []Cap
	Reason   string
	Passed   []Passed
	Estimate Money // see Attempt
	// Moderation: the attempt asks about the content, see Attempt.
	Moderation bool
}

// Closing says how an open attempt ended.
type Closing struct {
	State       AttemptState // OK, FailedAttempt, Rejected or UnknownOutcome
	Code        fault.Code   // "" with OK
	Usage       *Usage
	Cost        Money
	CostUnknown bool
	Note        string // added to the attempt's reason
}

// SubmitKey returns the deterministic key of the n-th attempt of a task.
func SubmitKey(id string, n int) string { return id + "/" + strconv.Itoa(n) }

// BeginAttempt appends an attempt in state Intent. It panics if one is still open: that would be a
// second paid submission, and no caller can go on from there.
func (t Task) BeginAttempt(p Plan, now time.Time) Task {
	if t.OpenAttempt() != nil {
		panic("task: a second open attempt")
	}
	n := len(t.Attempts) + 1
	t.Attempts = append(slices.Clip(t.Attempts), Attempt{
		N: n, Moderation: p.Moderation, Supplier: p.Supplier, Model: p.Model, SubmitKey: SubmitKey(t.ID, n), State: Intent,
		Caps: p.Caps, Reason: p.Reason, Passed: p.Passed, Estimate: p.Estimate, StartedAt: now,
	})
	return t
}

// MarkSubmitted records the job of the open attempt; called again, it records the job's new state.
// It reports false when no attempt is open.
func (t Task) MarkSubmitted(job json.RawMessage, now time.Time) (Task, bool) {
	if t.OpenAttempt() == nil {
		return t, false
	}
	t.Attempts = slices.Clone(t.Attempts)
	a := &t.Attempts[len(t.Attempts)-1]
	a.State, a.Job = Submitted, job
	if a.SubmittedAt == nil {
		a.SubmittedAt = &now
	}
	return t, true
}

// CloseAttempt ends the open attempt. It reports false when no attempt is open or c.State is no end.
func (t Task) CloseAttempt(c Closing, now time.Time) (Task, bool) {
	if t.OpenAttempt() == nil || !c.State.Ended() {
		return t, false
	}
	t.Attempts = slices.Clone(t.Attempts)
	a := &t.Attempts[len(t.Attempts)-1]
	a.State, a.Code, a.Usage, a.Cost, a.CostUnknown = c.State, c.Code, c.Usage, c.Cost, c.CostUnknown
	a.ClosedAt = &now
	if c.Note != "" {
		a.Reason += "; " + c.Note
	}
	return t, true
}

// Spent returns the suppliers' charges for the attempts since the task was last queued by its caller, failed ones
// included; an attempt whose cost is unknown counts with its estimate.
func (t Task) Spent() Money {
	var sum Money
	for _, a := range t.Attempts[min(t.Round, len(t.Attempts)):] {
		if a.CostUnknown {
			a.Cost = max(a.Cost, a.Estimate)
		}
		sum = sum.Add(a.Cost)
	}
	return sum
}

// LastUnknown reports whether the last attempt ended without anyone knowing its outcome.
func (t Task) LastUnknown() bool {
	n := len(t.Attempts)
	return n > 0 && t.Attempts[n-1].State == UnknownOutcome
}

// FailedUnknown reports whether the task failed without anyone knowing whether a supplier did its work, which may be paid
// for. Questions of a moderation are passed over.
func (t Task) FailedUnknown() bool {
	for _, a := range slices.Backward(t.Attempts) {
		if !a.Moderation {
			return t.State == Failed && a.State == UnknownOutcome
		}
	}
	return false
}

// Readopt opens the last attempt again if its outcome stayed unknown, so that a known job is polled on and a lost
// submission is looked up rather than paid for twice. It reports false if the last attempt isn't of unknown outcome.
func (t Task) Readopt() (Task, bool) {
	if !t.LastUnknown() {
		return t, false
	}
	t.Attempts = slices.Clone(t.Attempts)
	a := &t.Attempts[len(t.Attempts)-1]
	a.State, a.Code, a.Usage, a.Cost, a.CostUnknown, a.ClosedAt = Intent, "", nil, 0, false, nil
	if a.Job != nil {
		a.State = Submitted
	}
	return t, true
}
