package client

import (
	"errors"
	"fmt"
	"net/http"

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

// RequestID returns the id of the request that err came from, "" without one.
func RequestID(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RequestID
	}
	return ""
}

// UnreachableError reports that no answer came: the connection was refused or lost.
type UnreachableError struct {
	Where string // base URL or socket
	cause error
}

// Error names the place and the network's error, never a key or a query.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.Where, e.cause)
}

// Unwrap returns the network's error.
func (e *UnreachableError) Unwrap() error { return e.cause }

// foreign is an answer without the service's body: a proxy's, or another server's.
func foreign(status int, requestID string) *Error {
	f := fault.Newf(codeOfStatus(status), "the answer (HTTP %d) doesn't come from this service; is the base URL right?", status)
	return &Error{Fault: f, Status: status, RequestID: requestID, Foreign: true}
}

// codeOfStatus is the best guess without a code: a proxy's errors for a restarting server may be retried, others not.
func codeOfStatus(status int) fault.Code {
	switch status {
	case http.StatusUnauthorized:
		return fault.Unauthenticated
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusTooManyRequests:
		return fault.RateLimitExceeded
	case http.StatusServiceUnavailable:
		return fault.CapacityExhausted
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return fault.ProviderUnavailable
	default:
		return fault.InvalidRequest
	}
}
