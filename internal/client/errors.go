package client

import (
	"errors"

	library "unitask/client"
	"unitask/internal/fault"
)

// Error is an answer of the service that isn't the asked-for one. It unwraps to its *fault.Error.
type Error struct {
	Fault     *fault.Error
	Status    int    // HTTP status
	RequestID string // the request's id for support; "" if the answer had none
	Foreign   bool   // another server answered, or another path of this one: the base URL may be wrong
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Fault.Error() }

// Unwrap returns the error with its code.
func (e *Error) Unwrap() error { return e.Fault }

// UnreachableError reports that no answer came: the connection was refused or lost.
type UnreachableError = library.UnreachableError

// RequestID returns the id of the request that err came from, "" without one.
func RequestID(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RequestID
	}
	return ""
}

// translated returns an error of the library with a code of package fault, and any other as it is.
func translated(err error) error {
	e, coded := errors.AsType[*library.Error](err)
	if !coded {
		return err
	}
	f := fault.Wrap(fault.Code(e.Code), e.Unwrap(), e.Message)
	f.RetryAfter, f.TaskID, f.Final = e.RetryAfter, e.TaskID, f.Code.Retryable() && !e.Retryable
	for _, d := range e.Details {
		f.Details = append(f.Details, fault.Detail(d))
	}
	if e.Status == 0 { // it is no answer
		return f
	}
	return &Error{Fault: f, Status: e.Status, RequestID: e.RequestID, Foreign: e.Foreign}
}
