package boltstore

import (
	"bytes"
	"slices"
	"time"
	"unique"

	"unitask/internal/task"
)

// tick is a moment on the engine's own axis: time since the start, by the monotonic clock if there is one, so that a
// step of the wall clock ends no lease and no deadline early.
type tick int64

const never = tick(1<<63 - 1)

// after returns the moment d after t, never if that is out of reach.
func (t tick) after(d time.Duration) tick {
	if d > 0 && t > never-tick(d) {
		return never
	}
	return t + tick(d)
}

// lease is a node's right to a task. A changed lease is a new value.
type lease struct {
	session  *session
	epoch    int64
	task     *task.Task // as stored, so that a worker's step needn't read it; never changed
	position []string   // the limits it counts against until it begins an attempt
}

// openTask is the index's data of a task that isn't terminal. It is immutable but for its places in the index's own
// heaps: a change replaces it. A long queue is held in memory, so it is kept small.
type openTask struct {
	row      rowID
	of       unique.Handle[owner]
	attempt  *openAttempt // nil: no open attempt
	deadline tick
	pause    tick // not claimable before
	lease    *lease

	tenant  *tenant // set while in the index
	queue   *queue  // the queue it waits in, if any
	due     tick    // when its class changes by time alone; never otherwise
	queueAt int32
	dueAt   int32
	state   stateIndex
	cancel  bool // requested
}

// owner is whose a task is, and the class it waits in.
type owner struct{ account, line string }

// openAttempt is the caps that an open attempt counts against.
type openAttempt struct {
	caps []string
	room [2]string // for those that most have
}

// stateIndex is a state's place among task.States.
type stateIndex int8

func indexOf(s task.State) stateIndex { return stateIndex(slices.Index(task.States(), s)) }

// lineOf names the class of a mode's capability.
func lineOf(mode task.Mode, capability string) string { return string(mode) + " " + capability }

// openTaskOf returns the index's data of a stored task; old is the one before, nil for a task that comes in.
func openTaskOf(row rowID, t *task.Task, old *openTask, now tick, wall time.Time) *openTask {
	e := &openTask{row: row, cancel: t.CancelRequested, state: indexOf(t.State)}
	if old != nil {
		e.of, e.deadline, e.pause, e.lease = old.of, old.deadline, old.pause, old.lease
	} else {
		e.of = unique.Make(owner{t.Scope.Account, lineOf(t.Scope.Mode, t.Capability)})
		e.deadline = now.after(t.DeadlineAt.Sub(wall))
	}
	if a := t.OpenAttempt(); a != nil {
		e.attempt = &openAttempt{}
		for _, c := range a.Caps {
			e.attempt.add(c.Key)
		}
	}
	return e
}

// openTaskOfRow returns the index's data of a row of `open`, as it stands at a start.
func openTaskOfRow(row rowID, o openRow, wall time.Time) *openTask {
	e := &openTask{
		row: row, of: unique.Make(owner{o.Account, lineOf(o.Mode, o.Capability)}), state: indexOf(o.State),
		cancel: o.Cancel, deadline: tick(0).after(min(o.Deadline.Sub(wall), o.Span)),
	}
	if o.Attempt {
		e.attempt = &openAttempt{}
		for _, key := range o.Caps {
			e.attempt.add(key)
		}
	}
	return e
}

func (a *openAttempt) add(key string) {
	if a.caps == nil {
		a.caps = a.room[:0]
	}
	a.caps = append(a.caps, unique.Make(key).Value()) // one copy for the many entries that share it
}

// caps returns the limits that the task counts against.
func (e *openTask) caps() []string {
	if e.attempt == nil {
		return nil
	}
	return e.attempt.caps
}

// leased returns a copy under the given lease, which may be nil.
func (e *openTask) leased(l *lease, pause tick) *openTask {
	return &openTask{
		row: e.row, of: e.of, state: e.state, attempt: e.attempt, cancel: e.cancel, deadline: e.deadline, pause: pause, lease: l,
	}
}

// urgent reports whether any worker may take it, whatever routes are free.
func (e *openTask) urgent(now tick) bool { return e.attempt != nil || e.cancel || e.deadline <= now }

func older(a, b *openTask) bool { return bytes.Compare(a.row[:], b.row[:]) < 0 }
