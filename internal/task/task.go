// Package task holds the one noun everything turns around: a task, its states and the transitions
// between them, its attempts at suppliers, its usage and its money.
//
// The package is pure: no clock, no I/O, no locks. Values are plain data; Apply is the only way a state changes, and
// the transition table in state.go is the only place that says which changes exist. Engines store a Task whole and
// hand out copies; its members must not be changed through a copy.
package task

import (
	"encoding/json"
	"slices"
	"time"

	"unitask/internal/fault"
)

// Mode separates real work from the sandbox; a key has one.
type Mode string

// The modes.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// MaxReopenings bounds how often a failed task may be reopened under its key.
const MaxReopenings = 5

// Scope is the tenant boundary of every read: an account in one mode.
type Scope struct {
	Account string `json:"account"`
	Mode    Mode   `json:"mode"`
}

// Owner returns the scope as one text: whose an object in the store of artifacts is.
func (s Scope) Owner() string { return s.Account + "/" + string(s.Mode) }

// OtherTexts follows a name of metadata in Task.UsageBy whose text is one of too many to be told apart: the two are the
// pair by which its usage is summed. No text of a caller has the character.
const OtherTexts = "=\x01"

// Task is the durable record of one piece of work. Times are UTC.
type Task struct {
	ID         string `json:"id"`
	Scope      Scope  `json:"scope"`
	KeyID      string `json:"key_id,omitempty"` // the API key that created it
	Capability string `json:"capability"`
	Sync       bool   `json:"sync,omitempty"` // its capability normally ends within the request

	Metadata    Metadata `json:"metadata,omitempty"`    // the first request's
	UsageBy     []string `json:"usage_by,omitempty"`    // names in Metadata: usage is summed by their pairs too; with OtherTexts, by that of many texts
	RequestID   string   `json:"request_id,omitempty"`  // of the request that was accepted last
	Traceparent string   `json:"traceparent,omitempty"` // of the request that was accepted last, as in W3C's Trace Context

	State    State    `json:"state"`
	Progress *float64 `json:"progress,omitempty"` // 0 to 1
	Revision int64    `json:"rev"`                // grows by one with each stored change but Show's
	Timeline []Move   `json:"timeline"`

	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	DeadlineAt time.Time  `json:"deadline_at"`

	IdempotencyHash Hash `json:"idem"` // SHA-256 of the Idempotency-Key
	Fingerprint     Hash `json:"fingerprint"`
	Reopenings      int  `json:"reopenings,omitempty"`

	Input         json.RawMessage `json:"input,omitempty"` // erased at the terminal state
	InputRef      string          `json:"input_ref,omitempty"`
	Parameters    json.RawMessage `json:"parameters,omitempty"`
	Authorization *Authorization  `json:"authorization,omitempty"`
	InputUntil    *time.Time      `json:"input_until,omitempty"` // its account has a copy of the request until then

	Price    Price  `json:"price"`    // the list price, frozen at acceptance
	Reserved Money  `json:"reserved"` // the most it may cost
	Holds    []Hold `json:"holds,omitempty"`

	Output  *Output  `json:"output,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Usage   *Usage   `json:"usage,omitempty"`
	Cost    Money    `json:"cost,omitempty"`

	Attempts        []Attempt `json:"attempts,omitempty"`
	Round           int       `json:"round,omitempty"` // how many attempts were made before the last reopening
	CancelRequested bool      `json:"cancel_requested,omitempty"`
	Takeovers       int       `json:"takeovers,omitempty"` // workers in a row that left it open in the middle of a step

	// How a write whose answer was lost is known again.
	LastWrite  WriteMark `json:"last_write,omitzero"`
	ReopenedBy string    `json:"reopened_by,omitempty"` // the id that the last reopening proposed
}

// WriteMark names one write of a worker: by its lease's epoch, and its number under that lease, from 1.
type WriteMark struct {
	Epoch  int64 `json:"epoch"`
	Number int64 `json:"number"`
}

// Move is one recorded change of the public state.
type Move struct {
	State State     `json:"state"`
	At    time.Time `json:"at"`
}

// Authorization is the stored part of a caller's declaration about a person shown in the input.
type Authorization struct {
	Person    string   `json:"person"` // "none" or "authorized"
	Statement string   `json:"statement,omitempty"`
	Evidence  []string `json:"evidence,omitempty"` // SHA-256, hex
}

// Artifact describes kept result bytes; its URL is made at each read and never stored.
type Artifact struct {
	ID          string    `json:"id"`
	ContentType string    `json:"content_type"`
	Bytes       int64     `json:"bytes"`
	SHA256      string    `json:"sha256"`
	Width       int       `json:"width,omitempty"`
	Height      int       `json:"height,omitempty"`
	Duration    float64   `json:"duration_seconds,omitempty"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Failure is why a task failed, as its caller may read it.
type Failure struct {
	Code       fault.Code     `json:"code"`
	Message    string         `json:"message"`
	Retryable  bool           `json:"retryable"`
	Details    []fault.Detail `json:"details,omitempty"`
	RetryAfter time.Duration  `json:"retry_after,omitempty"`
	// Unshown is set while a POST doesn't reopen the task because the failure is still to be shown to the
	// caller: its work may have been paid for, and a client that never got an answer asks for no second payment.
	Unshown bool `json:"unshown,omitempty"`
}

// FailureOf returns err as a Failure; an error without a code becomes INTERNAL.
func FailureOf(err error) Failure {
	e := fault.From(err)
	return Failure{
		Code: e.Code, Message: e.Message, Retryable: e.Retryable(),
		Details: e.Details, RetryAfter: e.RetryAfter,
	}
}

// Fault returns the failure as an error that names its task.
func (t Task) Fault() *fault.Error {
	if t.Failure == nil {
		return nil
	}
	return &fault.Error{
		Code: t.Failure.Code, Message: t.Failure.Message, Details: t.Failure.Details,
		RetryAfter: t.Failure.RetryAfter, TaskID: t.ID,
		Final: t.Failure.Code.Retryable() && !t.Failure.Retryable,
	}
}

// Reopenable reports whether a POST with the same key and request starts the task again.
func (t Task) Reopenable() bool { return t.retryable() && !t.Failure.Unshown }

// Unshown reports whether such a POST does so only once the failure was shown.
func (t Task) Unshown() bool { return t.retryable() && t.Failure.Unshown }

// Show returns the task with its failure recorded as shown. Its caller sees no difference, so the
// revision and the time of the last change stay.
func (t Task) Show() Task {
	f := *t.Failure
	f.Unshown = false
	t.Failure = &f
	return t
}

func (t Task) retryable() bool {
	return t.State == Failed && t.Failure != nil && t.Failure.Retryable && t.Reopenings < MaxReopenings
}

// mayBePaid reports whether a supplier charged, or may have, for the last attempt or for one since the task was last
// queued by its caller.
func (t Task) mayBePaid() bool {
	from := min(t.Round, max(len(t.Attempts)-1, 0)) // the last one may be from before: it is adopted
	return slices.ContainsFunc(t.Attempts[from:], func(a Attempt) bool {
		return !a.Moderation && (a.State == UnknownOutcome || a.Cost > 0)
	})
}

// AcceptedAt returns when the task was accepted: the last time, if it was reopened.
func (t *Task) AcceptedAt() time.Time {
	start := t.CreatedAt
	for _, m := range t.Timeline {
		if m.State == Queued {
			start = m.At
		}
	}
	return start
}

// Span returns how long the task was given from its acceptance, the last one, to its deadline.
func (t Task) Span() time.Duration { return t.DeadlineAt.Sub(t.AcceptedAt()) }

// OpenAttempt returns the attempt whose outcome isn't recorded yet; nil if there is none. At most one is open at a
// time, and it is the last.
func (t Task) OpenAttempt() *Attempt {
	if len(t.Attempts) == 0 {
		return nil
	}
	if a := t.Attempts[len(t.Attempts)-1]; a.State.Open() {
		return &a
	}
	return nil
}
