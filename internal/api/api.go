// Package api is the wire: routes, headers, JSON types and the table of codes and statuses.
//
// Server and client share it, so that they can't drift. It knows no engine and no supplier, and its types have no
// member in which a supplier's name, model, job id, host or text could travel.
package api

import (
	"encoding/json"
	"net/http"
	"time"

	"unitask/internal/fault"
)

// The routes, relative to the base URL.
const (
	Root             = "/api/ai/v1"
	PathCapabilities = Root + "/capabilities"
	PathTasks        = Root + "/tasks"
	PathEstimates    = Root + "/estimates"
	PathUploads      = Root + "/uploads"
	PathArtifacts    = "/artifacts/"
	PathUploadBytes  = "/uploads/"
	PathHealth       = "/healthz"
	PathReady        = "/readyz"
	PathMCP          = "/mcp"
	PathOpenAPIYAML  = "/openapi.yaml"
	PathOpenAPIJSON  = "/openapi.json"
)

// The headers beside HTTP's own.
const (
	HeaderRequestID         = "X-Request-Id"
	HeaderIdempotencyKey    = "Idempotency-Key"
	HeaderIdempotentReplay  = "Idempotent-Replayed"
	HeaderPrefer            = "Prefer"
	HeaderPreferenceApplied = "Preference-Applied"
	HeaderRateLimit         = "RateLimit"
	HeaderRateLimitPolicy   = "RateLimit-Policy"
)

// The limits that both halves know (docs/api.md).
const (
	MinIdempotencyKey = 8   // Unicode code points
	MaxIdempotencyKey = 128 // Unicode code points
	MaxWait           = 60 * time.Second
	MinPoll           = 2 * time.Second
	MaxPoll           = 5 * time.Second
	MaxListLimit      = 200
)

// Status returns the HTTP status of an error.
func Status(e *fault.Error) int {
	switch e.Code {
	case fault.InvalidRequest:
		switch e.Aspect {
		case fault.AspectMethod:
			return http.StatusMethodNotAllowed
		case fault.AspectSize:
			return http.StatusRequestEntityTooLarge
		case fault.AspectMediaType:
			return http.StatusUnsupportedMediaType
		case fault.AspectConflict:
			return http.StatusConflict
		default:
			return http.StatusBadRequest
		}
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.AuthorizationRequired:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.IdempotencyConflict:
		return http.StatusConflict
	case fault.ContentPolicyViolation:
		return http.StatusUnprocessableEntity
	case fault.RateLimitExceeded:
		return http.StatusTooManyRequests
	case fault.ProviderUnavailable:
		return http.StatusBadGateway
	case fault.CapacityExhausted:
		return http.StatusServiceUnavailable
	case fault.ProviderTimeout:
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}

// Timestamp is a time in RFC 3339, UTC, with milliseconds.
type Timestamp struct{ time.Time }

const timestampLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalJSON writes the timestamp in UTC.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format(timestampLayout))
}

// UnmarshalJSON reads any RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return err
	}
	t.Time = at.UTC()
	return nil
}

// Error is the error object, in a response and in a failed Task alike.
type Error struct {
	Code              fault.Code     `json:"code"`
	Message           string         `json:"message"`
	Retryable         bool           `json:"retryable"`
	Details           []fault.Detail `json:"details,omitempty"`
	RetryAfterSeconds int            `json:"retry_after_seconds,omitempty"`
}

// ErrorResponse is the body of every error.
type ErrorResponse struct {
	Error     Error  `json:"error"`
	TaskID    string `json:"task_id,omitempty"`
	RequestID string `json:"request_id"`
}

// ErrorOf returns e as the wire shows it. An error that may be retried advises a pause if it has one or its code
// always does; any other doesn't, even if it has one.
func ErrorOf(e *fault.Error) Error {
	out := Error{Code: e.Code, Message: e.Message, Retryable: e.Retryable(), Details: e.Details}
	if !out.Retryable {
		return out
	}
	out.RetryAfterSeconds = Seconds(e.RetryAfter)
	if out.RetryAfterSeconds == 0 && e.Code != fault.Internal { // all other retryable codes advise a time
		out.RetryAfterSeconds = Seconds(MinPoll)
	}
	return out
}

// Seconds rounds a duration up to whole seconds, as Retry-After wants it.
func Seconds(d time.Duration) int {
	return int((max(d, 0) + time.Second - 1) / time.Second)
}

// Fault returns the wire's error as an error of ours, with the task it names.
func (r ErrorResponse) Fault() *fault.Error {
	return &fault.Error{
		Code: r.Error.Code, Message: r.Error.Message, Details: r.Error.Details,
		RetryAfter: time.Duration(r.Error.RetryAfterSeconds) * time.Second, TaskID: r.TaskID,
		Final: r.Error.Code.Retryable() && !r.Error.Retryable,
	}
}
