// Package store is the storage contract: tasks, their ledger, holds and leases, and beside it the
// small interfaces for keys, accounts, sessions, usage and secrets.
//
// Every method is one durable commit or one consistent read; no transaction, bucket or SQL leaks. When a writing
// method returns nil, its effect survives a crash of the process and of the machine. Durations cross the contract,
// timestamps don't: an engine uses its own clock. Implementations are safe for concurrent use. storetest holds them
// all to the same behaviour. Arguments and results may be shared with the engine: they must not be changed in place.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// The errors of the contract. Anything else is a fault of the engine.
var (
	ErrNotFound  = errors.New("store: not found")
	ErrConflict  = errors.New("store: the idempotency key belongs to another request")
	ErrFenced    = errors.New("store: the lease is no longer held") // drop everything, write no row
	ErrRouteFull = errors.New("store: the route has no free place")
	ErrState     = errors.New("store: the step doesn't fit the task's state")
	ErrFull      = errors.New("store: no room left on the disk or in the file") // reads still work
	ErrExists    = errors.New("store: exists already")
	ErrClosed    = errors.New("store: closed")
	ErrMost      = errors.New("store: there are as many as there may be")
	// ErrUnknown is a write whose answer was lost: it was made or it wasn't. The same call again finds out: an engine
	// knows its own write by NewTask.ID, LeaseRef.Write and ClaimRequest.Number, and answers as it would have at first.
	ErrUnknown = errors.New("store: the outcome of the write is unknown")
	// ErrUnavailable is an engine that can't be reached for the moment. No write was made.
	ErrUnavailable error = fault.New(fault.CapacityExhausted, "the service can't reach its database at the moment").
			WithRetryAfter(2 * time.Second)
)

// HoldError reports the hold that couldn't be taken; no row was written.
type HoldError struct {
	Hold task.Hold
	Held int64 // the counter's value
}

// Error names the counter and its limit.
func (e *HoldError) Error() string {
	return fmt.Sprintf("store: hold %s of %s: %d held, limit %d", e.Hold.Kind, e.Hold.Scope, e.Held, e.Hold.Limit)
}

// Store keeps tasks. See the package comment for the promises of every method.
type Store interface {
	// CreateTask records a task, or finds the one under the same scope and idempotency hash: the same fingerprint
	// gives Replayed, or Reopened if Task.Reopenable; another ErrConflict. Holds are taken in the same commit for
	// Created and Reopened, or a *HoldError is returned. ErrExists when the id isn't fresh: it is another task's.
	CreateTask(ctx context.Context, n NewTask) (Created, error)
	// FindTask returns the task under an idempotency hash, or ErrNotFound.
	FindTask(ctx context.Context, s task.Scope, idempotency task.Hash) (task.Task, error)
	// GetTask returns a task of the scope, or ErrNotFound.
	GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error)
	// ListTasks returns a page of tasks, usually a scope's newest first. It looks at a bounded number of tasks: a page may
	// be shorter than its limit, or empty, and Next still lead on.
	ListTasks(ctx context.Context, q ListQuery) (Page, error)
	// RequestCancel cancels a task at rest, and marks one that is leased or has an open attempt: a
	// worker ends that one. A terminal task is returned as it is. ErrNotFound for an unknown id.
	RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error)
	// MarkShown records that the failures of these tasks were shown to their caller, all in one commit. It
	// passes over a task that is gone or has another revision by now: another failure than the one shown.
	MarkShown(ctx context.Context, shown []task.Task) error

	// Renew begins the session of a node, or keeps it for another term, from now. Every lease belongs to a session and
	// ends with it. ErrFenced for one that has run out: it is over for good, and the node takes another name. A term of 0
	// ends it now.
	Renew(ctx context.Context, node string, term time.Duration) error
	// Claim leases up to Limit tasks without a lease. See ClaimRequest for which. ErrFenced if the node has no session.
	Claim(ctx context.Context, c ClaimRequest) ([]Lease, error)
	// BeginAttempt records the intent to submit and starts a queued task, counting the plan's caps
	// exactly: ErrRouteFull when one is reached. ErrState while an attempt is open.
	BeginAttempt(ctx context.Context, ref LeaseRef, p task.Plan) (task.Task, error)
	// Advance makes one step in one commit: attempt, moves, settlement of holds, release. A terminal move ends the
	// lease, gives the open and queue holds back and settles the budget to the cost and the spend to the suppliers'
	// charges. ErrState, without a change, if a part doesn't fit: a terminal move with an attempt still open, Reopen,
	// progress outside 0 to 1.
	Advance(ctx context.Context, ref LeaseRef, s Step) (task.Task, error)

	// Sweep does one small step of upkeep and reports its work; call it until Removed is 0.
	Sweep(ctx context.Context, r SweepRequest) (Swept, error)
	// Wake returns a channel that receives when the topic may have changed: a task's id, or
	// TopicQueue. Best effort: pair it with a timer. stop frees it.
	Wake(topic string) (ch <-chan struct{}, stop func())
	// Stats returns counts for readiness and metrics, cheap enough for every scrape.
	Stats(ctx context.Context) (Stats, error)
	// Close waits for commits under way and frees the engine.
	Close() error
}

// MaxNote bounds what a node says in an exchange, in bytes.
const MaxNote = 64 << 10

// Fleet is an optional interface of an engine for several nodes.
type Fleet interface {
	// Exchange keeps the note with the node's session, in place of the one before, and returns the last note of each other
	// node that has a session, by its name; empty of one that gave none. ErrFenced, and the note isn't kept, if the node has
	// no session. It isn't durable: a crash of the engine may forget all notes, and they leave with their sessions.
	Exchange(ctx context.Context, node string, note []byte) (others map[string][]byte, err error)
	// ListCanceled returns the ids of the tasks under the node's leases whose cancellation was requested: it may have
	// come through any node.
	ListCanceled(ctx context.Context, node string) ([]string, error)
	// Worker returns the node that has the lease of a task, "" if no node has it. Its session may have run out.
	Worker(ctx context.Context, id string) (node string, err error)
}

// CheckNote returns an error for a note that is longer than MaxNote.
func CheckNote(note []byte) error {
	if len(note) > MaxNote {
		return fmt.Errorf("store: a note of %d bytes, %d are the most", len(note), MaxNote)
	}
	return nil
}

// TopicQueue is woken when a task may have become claimable.
const TopicQueue = "queue"

// Admit is the outcome of CreateTask.
type Admit string

// The admissions.
const (
	AdmitCreated  Admit = "created"
	AdmitReplayed Admit = "replayed"
	AdmitReopened Admit = "reopened"
)

// NewTask is a task to be recorded, validated by those above. ID must be fresh.
type NewTask struct {
	ID              string
	Scope           task.Scope
	KeyID           string
	Capability      string
	Sync            bool
	IdempotencyHash task.Hash
	Fingerprint     task.Hash
	Input           json.RawMessage // or InputRef, for one kept elsewhere
	InputRef        string
	Parameters      json.RawMessage
	Authorization   *task.Authorization
	Metadata        task.Metadata // of a new task: a reopened one keeps its own
	UsageBy         []string      // names in Metadata, as in task.Task
	RequestID       string
	Traceparent     string
	Deadline        time.Duration // from now
	KeepInput       time.Duration // from now, as in task.Task.InputUntil; 0: not at all
	Price           task.Price
	Reserved        task.Money
	Holds           []task.Hold
	First           *First // nil: the task waits in the queue
}

// First asks CreateTask to lease the new (or reopened) task to the node at once and, if one of the plans has room, to
// record its intent and start the task in the same commit. A reopened task whose last attempt is of unknown outcome
// is leased only: a worker readopts it or goes on without. If the node has no session, the task waits in the queue.
type First struct {
	Node  string
	Plans []task.Plan // tried in order; all full: leased, still queued
}

// Created is the result of CreateTask; Lease is set when First was asked for, the node has a session and the admission
// isn't Replayed.
type Created struct {
	Task  task.Task
	Admit Admit
	Lease *Lease
}

// LeaseRef names a lease, and a write under it. Each lease of a task has a higher epoch than the one before.
type LeaseRef struct {
	TaskID string
	Epoch  int64
	// Write is the number of the write under the lease, from 1: each new one has the next number, and a call that is
	// made again after ErrUnknown has the same. 0: it is never made again.
	Write int64
}

// Repeats reports whether the write was made already: the task's record says so.
func (r LeaseRef) Repeats(t *task.Task) bool {
	return r.Write > 0 && t.LastWrite == task.WriteMark{Epoch: r.Epoch, Number: r.Write}
}

// Sign notes the write in the task's record.
func (r LeaseRef) Sign(t *task.Task) {
	if r.Write > 0 {
		t.LastWrite = task.WriteMark{Epoch: r.Epoch, Number: r.Write}
	}
}

// Lease is a task together with the right to work on it.
type Lease struct {
	Ref  LeaseRef
	Task task.Task
	Left time.Duration // until the task's deadline, on the engine's clock: a step of the wall clock doesn't count
}

// ClaimRequest asks for work. A task qualifies when it isn't terminal and not leased, its pause is over and one of
// these holds: its line has a place; an attempt is open; its deadline is past; its cancellation was requested. Older
// tasks come first within an account, and accounts take turns.
type ClaimRequest struct {
	Node  string
	Lines []Line
	Limit int
	// Number is that of the claim in the session, from 1: each new one has the next, and a call that is made again
	// after ErrUnknown has the same and returns the leases of the first, if there are any. 0: it is never made again.
	Number int64
}

// Line is the queue of the tasks of one capability in one mode, and the places that are open to them. A task that is
// claimed from it takes up the first place with room until it begins an attempt or its lease ends, so that no more
// tasks leave the queue than can be started.
type Line struct {
	Mode       task.Mode
	Capability string
	Places     [][]task.Cap // of the routes that take work now, the likeliest first; nil: claimed without one
}

// Step is one commit of a worker. Its parts are applied in this order; zero parts are skipped.
type Step struct {
	Readopt   bool            // open the last attempt of unknown outcome again
	Submitted json.RawMessage // the open attempt's job, new or changed
	Close     *task.Closing   // ends the open attempt
	Moves     []task.Transition
	Progress  *float64
	Takeovers *int           // the task's count of takeovers from now on
	Release   *time.Duration // give the lease back; claimable after this pause
}

// SweepRequest bounds one step of upkeep.
type SweepRequest struct {
	// Retention is how long terminal tasks stay after their last change, with their idempotency record,
	// and hold counters after their time is over; 0: for ever.
	Retention time.Duration
	Usage     time.Duration // how long sums of usage stay; 0: for ever
	Limit     int
	// Waiting is how many deliveries may wait for an endpoint, usually MaxWaiting: one with more is disabled. 0: no endpoint
	// is looked at.
	Waiting int
}

// Swept is the work of a step.
type Swept struct {
	Removed int // tasks, counters, sums of usage, links and sessions that have expired
	// Longest is the longest time that one of its steps blocked all other operations, 0 if they don't block.
	Longest  time.Duration
	Disabled []string // endpoints for which more deliveries waited than may
}

// Stats are the counts that the engine has without a scan.
type Stats struct {
	ByState map[task.State]int64 // the states that aren't terminal
	Bytes   int64                // of the engine's files
	Full    bool                 // new tasks are refused for want of room
}
