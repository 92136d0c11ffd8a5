package store

import (
	"fmt"
	"time"

	"unitask/internal/task"
)

// Begin returns the task with one more attempt in state intent; a queued task starts with it.
// ErrState while an attempt is open and for a terminal task.
func Begin(t task.Task, p task.Plan, now time.Time) (task.Task, error) {
	if t.OpenAttempt() != nil || t.State.Terminal() {
		return t, ErrState
	}
	if t.State == task.Queued {
		var err error
		if t, err = t.Apply(task.Start(), now); err != nil {
			return t, fmt.Errorf("%w: %w", ErrState, err)
		}
	}
	return stored(t.BeginAttempt(p, now), now), nil
}

// Apply returns the task after the step and whether its record changed; ErrState if a part doesn't fit. The lease
// isn't looked at here.
func (s Step) Apply(t task.Task, now time.Time) (task.Task, bool, error) {
	before := t
	t, err := s.attempt(t, now)
	if err != nil {
		return before, false, err
	}
	for _, move := range s.Moves {
		if move.Name() == task.Reopen().Name() {
			return before, false, ErrState
		}
		if t, err = t.Apply(move, now); err != nil {
			return before, false, fmt.Errorf("%w: %w", ErrState, err)
		}
	}
	if t.State.Terminal() && t.OpenAttempt() != nil {
		return before, false, fmt.Errorf("%w: an attempt is still open", ErrState)
	}
	if s.Progress != nil && !t.State.Terminal() {
		if !(*s.Progress >= 0 && *s.Progress <= 1) {
			return before, false, fmt.Errorf("%w: progress outside 0 to 1", ErrState)
		}
		t.Progress = new(*s.Progress)
	}
	if s.Takeovers != nil {
		t.Takeovers = *s.Takeovers
	}
	if !s.Readopt && s.Submitted == nil && s.Close == nil && len(s.Moves) == 0 && s.Progress == nil && s.Takeovers == nil {
		return t, false, nil
	}
	return stored(t, now), true, nil
}

// EndStep returns the step that fails a task of which nobody knows how its work went on elsewhere. An open attempt ends
// with an unknown outcome, for which it may have been paid; a job that is known stays known. The failure doesn't count
// as shown: work that the ledger lacks may have been paid for.
func EndStep(t task.Task, f task.Failure) Step {
	f.Unshown = true
	s := Step{Moves: []task.Transition{task.Fail(f)}}
	if a := t.OpenAttempt(); a != nil {
		s.Close = &task.Closing{State: task.UnknownOutcome, Code: f.Code, CostUnknown: true}
		if a.Moderation {
			s.Close.State = task.FailedAttempt
		}
	}
	return s
}

// attempt applies the step's parts about the last attempt.
func (s Step) attempt(t task.Task, now time.Time) (task.Task, error) {
	ok := true
	if s.Readopt {
		if t, ok = t.Readopt(); !ok {
			return t, fmt.Errorf("%w: no attempt of unknown outcome", ErrState)
		}
	}
	if s.Submitted != nil {
		job, err := compact(s.Submitted)
		if err != nil {
			return t, err
		}
		if t, ok = t.MarkSubmitted(job, now); !ok {
			return t, fmt.Errorf("%w: no open attempt", ErrState)
		}
	}
	if s.Close != nil {
		if t, ok = t.CloseAttempt(*s.Close, now); !ok {
			return t, fmt.Errorf("%w: no open attempt to close", ErrState)
		}
	}
	return t, nil
}

// Cancel returns the task canceled if it is at rest, without a lease and an open attempt, else marked for the worker;
// and whether its record changed.
func Cancel(t task.Task, leased bool, now time.Time) (task.Task, bool, error) {
	if t.State.Terminal() {
		return t, false, nil
	}
	if leased || t.OpenAttempt() != nil {
		if t.CancelRequested {
			return t, false, nil
		}
		t.CancelRequested = true
		return stored(t, now), true, nil
	}
	t.CancelRequested = true
	canceled, err := t.Apply(task.Cancel(nil), now)
	if err != nil {
		return t, false, fmt.Errorf("%w: %w", ErrState, err)
	}
	return stored(canceled, now), true, nil
}

// Show returns the task with its failure recorded as shown, and whether that is new. shown is the task as
// its caller was answered with it.
func Show(t, shown task.Task) (task.Task, bool) {
	if t.Scope != shown.Scope || t.Revision != shown.Revision || !t.Unshown() {
		return t, false
	}
	return t.Show(), true
}

// stored counts the change and drops the holds that the new state no longer needs.
func stored(t task.Task, now time.Time) task.Task {
	t.Revision++
	t.UpdatedAt = now
	var kept []task.Hold
	for i, h := range t.Holds {
		if t.State.Terminal() || (h.Kind == task.HoldQueue && t.State != task.Queued) {
			continue
		}
		if kept == nil {
			kept = make([]task.Hold, 0, len(t.Holds)-i)
		}
		kept = append(kept, h)
	}
	t.Holds = kept
	return t
}
