// Package fault holds the service's error codes and the one error type that carries them.
//
// A code is attached once, at the place at which a foreign error becomes ours; whatever has no code is INTERNAL and
// its text never reaches a caller. Messages are for callers: they name no supplier, no key and no input.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Code is a stable error code of the API (docs/api.md, "Errors").
type Code string

// The codes, in the order of the table in docs/api.md.
const (
	InvalidRequest         Code = "INVALID_REQUEST"
	Unauthenticated        Code = "UNAUTHENTICATED"
	AuthorizationRequired  Code = "AUTHORIZATION_REQUIRED"
	NotFound               Code = "NOT_FOUND"
	IdempotencyConflict    Code = "IDEMPOTENCY_CONFLICT"
	ContentPolicyViolation Code = "CONTENT_POLICY_VIOLATION"
	RateLimitExceeded      Code = "RATE_LIMIT_EXCEEDED"
	Internal               Code = "INTERNAL"
	ProviderUnavailable    Code = "PROVIDER_UNAVAILABLE"
	CapacityExhausted      Code = "CAPACITY_EXHAUSTED"
	ProviderTimeout        Code = "PROVIDER_TIMEOUT"
)

// Codes returns every code, in the same order.
func Codes() []Code {
	return []Code{
		InvalidRequest, Unauthenticated, AuthorizationRequired, NotFound, IdempotencyConflict,
		ContentPolicyViolation, RateLimitExceeded, Internal, ProviderUnavailable,
		CapacityExhausted, ProviderTimeout,
	}
}

// Retryable reports whether the same request may be sent again under the same idempotency key.
func (c Code) Retryable() bool {
	switch c {
	case RateLimitExceeded, Internal, ProviderUnavailable, CapacityExhausted, ProviderTimeout:
		return true
	default:
		return false
	}
}

// Valid reports whether c is one of the codes above.
func (c Code) Valid() bool {
	return slices.Contains(Codes(), c)
}

// Aspect is the wrong part of an INVALID_REQUEST if the transport distinguishes them.
type Aspect string

// The aspects; the zero Aspect is the request's content.
const (
	AspectContent   Aspect = ""
	AspectMethod    Aspect = "method"
	AspectSize      Aspect = "size"
	AspectMediaType Aspect = "media_type"
	AspectConflict  Aspect = "conflict" // it doesn't go on where the resource is
)

// Detail names one wrong field, as a dotted path such as "input.prompt" or a header's name.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is an error with a code. It is immutable once built; the With methods return copies.
type Error struct {
	Code       Code
	Message    string
	Details    []Detail
	RetryAfter time.Duration // 0: no advice
	Aspect     Aspect        // only with InvalidRequest
	TaskID     string        // the task that failed, if there is one
	Final      bool          // no retry goes on, though the code would allow one
	cause      error
}

// New returns an error with a code and a message for the caller.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Newf is New with a format.
func Newf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap attaches a code and a caller's message to a foreign error, which stays out of the message.
func Wrap(code Code, cause error, message string) *Error {
	return &Error{Code: code, Message: message, cause: cause}
}

// Invalid returns an INVALID_REQUEST about one field; its message reads "<field> <problem>".
func Invalid(field, problem string) *Error {
	return &Error{
		Code: InvalidRequest, Message: field + " " + problem,
		Details: []Detail{{Field: field, Message: problem}},
	}
}

// Error returns the code and the message, and the cause for logs.
func (e *Error) Error() string {
	if e.cause != nil {
		return string(e.Code) + ": " + e.Message + ": " + e.cause.Error()
	}
	return string(e.Code) + ": " + e.Message
}

// Retryable reports whether the same request may be sent again under the same idempotency key.
func (e *Error) Retryable() bool { return e.Code.Retryable() && !e.Final }

// Unwrap returns the foreign error, or nil.
func (e *Error) Unwrap() error { return e.cause }

// WithDetails returns a copy with more rows.
func (e *Error) WithDetails(rows ...Detail) *Error {
	c := *e
	c.Details = slices.Concat(e.Details, rows)
	return &c
}

// WithRetryAfter returns a copy that advises a pause of d before the next try.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// WithAspect returns a copy with the given aspect.
func (e *Error) WithAspect(a Aspect) *Error {
	c := *e
	c.Aspect = a
	return &c
}

// WithTask returns a copy that names the task that failed.
func (e *Error) WithTask(id string) *Error {
	c := *e
	c.TaskID = id
	return &c
}

// WithFinal returns a copy after which no retry goes on.
func (e *Error) WithFinal() *Error {
	c := *e
	c.Final = true
	return &c
}

// From returns err as an *Error: itself if it carries a code, else INTERNAL with a message without the cause.
// From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Wrap(Internal, err, "the service met an unexpected fault; the same request may be sent again")
}

// CodeOf returns err's code; Internal if it has no code, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}
