package submit

import (
	"errors"
	"fmt"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// ErrTimeout is the cause with which a person's own limit ends a wait.
var ErrTimeout = errors.New("the wait timed out")

// EndedError is a task that ended without a result. It unwraps to its *fault.Error, if it failed.
type EndedError struct{ Task api.Task }

// Error names the task, and its failure.
func (e *EndedError) Error() string {
	if f := e.Task.Fault(); f != nil {
		return fmt.Sprintf("%s failed: %s (%s)", e.Task.ID, f.Message, f.Code)
	}
	return fmt.Sprintf("%s was canceled", e.Task.ID)
}

// Unwrap returns the task's failure, or nil.
func (e *EndedError) Unwrap() error {
	if f := e.Task.Fault(); f != nil {
		return f
	}
	return nil
}

// Ended returns an *EndedError for a task that didn't succeed, nil for one that did or goes on.
func Ended(t api.Task) error {
	if t.State == task.Failed || t.State == task.Canceled {
		return &EndedError{Task: t}
	}
	return nil
}

// LeftRunningError is a wait that ended before its task did.
type LeftRunningError struct {
	TaskID string // "" if it isn't known yet
	Cause  error  // ErrTimeout or context.Canceled
	Last   error  // the answer before the end, nil without one
}

// Error says why the wait ended and how the task stands.
func (e *LeftRunningError) Error() string {
	why := "interrupted"
	if errors.Is(e.Cause, ErrTimeout) {
		why = "the wait timed out"
	}
	f, _ := errors.AsType[*fault.Error](e.Last)
	switch {
	case f != nil && f.TaskID != "":
		return fmt.Sprintf("%s before the next try; %s failed: %s (%s)", why, f.TaskID, f.Message, f.Code)
	case f != nil && client.RequestID(e.Last) != "" && (f.Code == fault.RateLimitExceeded || f.Code == fault.CapacityExhausted):
		return fmt.Sprintf("%s before the next try; the last one was refused and made no task: %s (%s)", why, f.Message, f.Code)
	case e.TaskID == "":
		return why + " before the task's id was known; it may have been accepted"
	}
	return why + "; " + e.TaskID + " goes on"
}

// Unwrap returns Cause.
func (e *LeftRunningError) Unwrap() error { return e.Cause }
