package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"unitask/internal/task"
)

// The functions of this file and of step.go are the contract's arithmetic on one task. Engines share them, and differ
// only in the storage of tasks, counters and leases.

// Repeats reports whether the task found under n's idempotency hash was accepted by this very call, and how.
func (n NewTask) Repeats(found *task.Task) (Admit, bool) {
	switch n.ID {
	case found.ReopenedBy:
		return AdmitReopened, true
	case found.ID:
		return AdmitCreated, found.ReopenedBy == ""
	default:
		return "", false
	}
}

// Admit returns the effect of n on the task found under its idempotency hash: AdmitReplayed, AdmitReopened or
// ErrConflict.
func (n NewTask) Admit(found task.Task) (Admit, error) {
	switch {
	case found.Fingerprint != n.Fingerprint:
		return "", ErrConflict
	case found.Reopenable():
		return AdmitReopened, nil
	default:
		return AdmitReplayed, nil
	}
}

// Record returns the task that n asks for, queued at the given time with its holds held.
func (n NewTask) Record(now time.Time) (task.Task, error) {
	return n.fill(task.Task{
		ID: n.ID, Scope: n.Scope, Capability: n.Capability,
		State: task.Queued, Revision: 1, Timeline: []task.Move{{State: task.Queued, At: now}},
		CreatedAt: now, UpdatedAt: now,
		IdempotencyHash: n.IdempotencyHash, Fingerprint: n.Fingerprint, Metadata: n.Metadata, UsageBy: n.UsageBy,
	}, now)
}

// Reopen returns the failed task back in the queue with n's input, deadline, price and holds.
func (n NewTask) Reopen(found task.Task, now time.Time) (task.Task, error) {
	t, err := found.Apply(task.Reopen(), now)
	if err != nil {
		return found, fmt.Errorf("%w: %w", ErrState, err)
	}
	t.Revision++
	t.LastWrite, t.ReopenedBy = task.WriteMark{}, n.ID // no worker's write counts any more
	return n.fill(t, now)
}

// fill sets the members of each acceptance, the first and later ones.
func (n NewTask) fill(t task.Task, now time.Time) (task.Task, error) {
	var err error
	if t.Input, err = compact(n.Input); err != nil {
		return t, err
	}
	if t.Parameters, err = compact(n.Parameters); err != nil {
		return t, err
	}
	t.KeyID, t.Sync, t.InputRef, t.Authorization = n.KeyID, n.Sync, n.InputRef, n.Authorization
	t.RequestID, t.Traceparent = n.RequestID, n.Traceparent
	t.DeadlineAt, t.Takeovers, t.InputUntil = now.Add(n.Deadline), 0, nil
	if n.KeepInput > 0 {
		t.InputUntil = new(now.Add(n.KeepInput))
	}
	t.Price, t.Reserved = n.Price, n.Reserved
	t.Holds = slices.Grow([]task.Hold(nil), len(n.Holds)) // nil for none
	for _, h := range n.Holds {
		if h.Amount < 0 {
			return t, fmt.Errorf("store: hold %s of %s: negative amount", h.Kind, h.Scope)
		}
		h.Limit, h.Lasts = 0, 0
		t.Holds = append(t.Holds, h)
	}
	return t, nil
}

// Pick returns the first plan that has room, and false if no plan has or if the task's last attempt ended with an
// unknown outcome: only a worker may continue after that one.
func (f First) Pick(t task.Task, inFlight func(key string) int) (task.Plan, bool) {
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].State == task.UnknownOutcome {
		return task.Plan{}, false
	}
	for _, p := range f.Plans {
		if Room(p.Caps, inFlight) {
			return p, true
		}
	}
	return task.Plan{}, false
}

// Place returns the first place of the line that has room, as the keys of its limits, and false if all are full.
// inUse counts open attempts and places taken up by claims.
func (l Line) Place(inUse func(key string) int) (keys []string, ok bool) {
	for _, caps := range l.Places {
		if !Room(caps, inUse) {
			continue
		}
		for _, c := range caps {
			if c.Limit > 0 {
				keys = append(keys, c.Key)
			}
		}
		return keys, true
	}
	return nil, l.Places == nil
}

// Room reports whether all caps have room.
func Room(caps []task.Cap, inFlight func(key string) int) bool {
	for _, c := range caps {
		if c.Limit > 0 && inFlight(c.Key) >= c.Limit {
			return false
		}
	}
	return true
}

// compact returns the JSON text as it will be read back from any engine, in memory of its own.
func compact(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	out.Grow(len(raw))
	if err := json.Compact(&out, raw); err != nil {
		return nil, fmt.Errorf("store: a member isn't JSON: %w", err)
	}
	return out.Bytes(), nil
}
