package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Code is a stable error code of the service. A newer service may have more.
type Code string

// The codes. The service's documentation has a table of when each comes.
const (
	CodeInvalidRequest         Code = "INVALID_REQUEST"
	CodeUnauthenticated        Code = "UNAUTHENTICATED"
	CodeAuthorizationRequired  Code = "AUTHORIZATION_REQUIRED"
	CodeNotFound               Code = "NOT_FOUND"
	CodeIdempotencyConflict    Code = "IDEMPOTENCY_CONFLICT"
	CodeContentPolicyViolation Code = "CONTENT_POLICY_VIOLATION"
	CodeRateLimitExceeded      Code = "RATE_LIMIT_EXCEEDED"
	CodeInternal               Code = "INTERNAL"
	CodeProviderUnavailable    Code = "PROVIDER_UNAVAILABLE"
	CodeCapacityExhausted      Code = "CAPACITY_EXHAUSTED"
	CodeProviderTimeout        Code = "PROVIDER_TIMEOUT"
)

// ErrCanceled is the error of Run, Stream and Wait for a task that was canceled.
var ErrCanceled = errors.New("unitask: the task was canceled")

// Error is an answer of the service that isn't the asked-for one, or the failure of a task.
type Error struct {
	Code       Code
	Message    string
	Retryable  bool          // the same request may be sent again under the same idempotency key
	Details    []Detail      // one row a wrong field
	RetryAfter time.Duration // the advised pause; 0: no advice
	TaskID     string        // the task that failed, if there is one
	RequestID  string        // for support; "" if the answer had none
	Status     int           // of the HTTP answer; 0 for a failed task and for errors found on this side
	Foreign    bool          // another server answered, or another path of this one: the base URL may be wrong
	cause      error
}

// Detail names one wrong field, as a dotted path such as "input.prompt" or a header's name.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.cause != nil {
		return string(e.Code) + ": " + e.Message + ": " + e.cause.Error()
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the error beneath one that was found on this side, or nil.
func (e *Error) Unwrap() error { return e.cause }

// wireError is the error object, in an answer and in a failed task alike.
type wireError struct {
	Code              Code     `json:"code"`
	Message           string   `json:"message"`
	Retryable         bool     `json:"retryable"`
	Details           []Detail `json:"details"`
	RetryAfterSeconds int      `json:"retry_after_seconds"`
}

// UnmarshalJSON reads the error object of the API.
func (e *Error) UnmarshalJSON(b []byte) error {
	var w wireError
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	e.Code, e.Message, e.Retryable, e.Details = w.Code, w.Message, w.Retryable, w.Details
	e.RetryAfter = time.Duration(w.RetryAfterSeconds) * time.Second
	return nil
}

// MarshalJSON writes the error object of the API.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireError{e.Code, e.Message, e.Retryable, e.Details, int(e.RetryAfter / time.Second)})
}

func invalid(field, problem string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: field + " " + problem, Details: []Detail{{field, problem}}}
}

// UnreachableError reports that no answer came: the connection was refused or lost.
type UnreachableError struct {
	Where string // base URL
	Err   error  // the network's; it may be nil
}

// Error names the place and the network's error, never a key or a query.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.Where, e.Err)
}

// Unwrap returns the network's error.
func (e *UnreachableError) Unwrap() error { return e.Err }

// unreachable keeps the network's error without the URL, whose query may hold a signature.
func unreachable(where string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return &UnreachableError{Where: where, Err: err}
}

// refusal returns the error of an answer: the service's own if the body is one.
func refusal(resp *http.Response, raw []byte) *Error {
	var body struct {
		Error     *Error `json:"error"`
		TaskID    string `json:"task_id"`
		RequestID string `json:"request_id"`
	}
	requestID, advised := resp.Header.Get(headerRequestID), parseRetryAfter(resp.Header.Get("Retry-After"), time.Now())
	if json.Unmarshal(raw, &body) != nil || body.Error == nil || !known(body.Error.Code, resp) {
		e := foreign(resp.StatusCode, requestID)
		e.RetryAfter = advised
		return e
	}
	e := body.Error
	e.RetryAfter, e.TaskID, e.RequestID, e.Status = max(e.RetryAfter, advised), body.TaskID, body.RequestID, resp.StatusCode
	if e.RequestID == "" {
		e.RequestID = requestID
	}
	return e
}

// known reports whether a code is one of the service's: those above, and a newer service's others.
func known(c Code, resp *http.Response) bool {
	all := []Code{
		CodeInvalidRequest, CodeUnauthenticated, CodeAuthorizationRequired, CodeNotFound, CodeIdempotencyConflict,
		CodeContentPolicyViolation, CodeRateLimitExceeded, CodeInternal, CodeProviderUnavailable, CodeCapacityExhausted,
		CodeProviderTimeout,
	}
	return slices.Contains(all, c) || c != "" && resp.Header.Get(headerRequestID) != ""
}

// foreign is an answer without the service's body: a proxy's, or another server's.
func foreign(status int, requestID string) *Error {
	e := &Error{Status: status, RequestID: requestID, Foreign: true}
	e.Message = fmt.Sprintf("the answer (HTTP %d) doesn't come from this service; is the base URL right?", status)
	e.Code, e.Retryable = codeOfStatus(status)
	return e
}

// codeOfStatus is the best guess without a code: a proxy's errors for a restarting server may be retried, others not.
func codeOfStatus(status int) (c Code, retryable bool) {
	switch status {
	case http.StatusUnauthorized:
		return CodeUnauthenticated, false
	case http.StatusNotFound:
		return CodeNotFound, false
	case http.StatusTooManyRequests:
		return CodeRateLimitExceeded, true
	case http.StatusServiceUnavailable:
		return CodeCapacityExhausted, true
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return CodeProviderUnavailable, true
	default:
		return CodeInvalidRequest, false
	}
}

// parseRetryAfter reads a Retry-After of whole seconds or an HTTP date; 0 if it is missing, malformed or past. It never
// exceeds a year.
func parseRetryAfter(text string, now time.Time) time.Duration {
	const year = 365 * 24 * time.Hour
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(s)*time.Second, year)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), year)
}
