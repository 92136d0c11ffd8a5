package anthropic

import (
	"slices"

	"unitask/internal/door"
	"unitask/internal/fault"
)

// ErrorResponse is the body of an error.
type ErrorResponse struct {
	Type      string `json:"type"`
	Error     Error  `json:"error"`
	TaskID    string `json:"task_id,omitempty"`
	RequestID string `json:"request_id"`
}

// Error is the error object. ServiceCode is the service's own code, Param the member that is at fault.
type Error struct {
	Type        string     `json:"type"`
	Message     string     `json:"message"`
	ServiceCode fault.Code `json:"service_code"`
	Param       string     `json:"param,omitempty"`
	Details     *Details   `json:"details,omitempty"`
}

// Details say in words for programs why a request is refused.
type Details struct {
	Code        string   `json:"error_code"`
	Unsupported []string `json:"unsupported"`
}

// memberThread is the member that would have the conversation kept here. Anthropic's libraries send the whole conversation
// when they are told that it isn't.
const memberThread = "thread"

// ErrorOf returns an error in Anthropic's shape.
func ErrorOf(e *fault.Error, requestID string) ErrorResponse {
	out := Error{Type: kindOf(e), Message: door.Message(e), ServiceCode: e.Code}
	if e.Code == fault.Unauthenticated {
		out.Message = "a valid API key is required: x-api-key: <API_KEY>"
	}
	if len(e.Details) > 0 && e.Details[0].Field != "body" {
		out.Param = e.Details[0].Field
	}
	if slices.ContainsFunc(e.Details, func(d fault.Detail) bool { return d.Field == memberThread }) {
		out.Details = &Details{Code: "thread_unsupported_request", Unsupported: []string{memberThread}}
	}
	return ErrorResponse{Type: "error", Error: out, TaskID: e.TaskID, RequestID: requestID}
}

// kindOf returns Anthropic's type of an error.
func kindOf(e *fault.Error) string {
	switch e.Code {
	case fault.Unauthenticated:
		return "authentication_error"
	case fault.AuthorizationRequired:
		return "permission_error"
	case fault.NotFound:
		return "not_found_error"
	case fault.RateLimitExceeded:
		return "rate_limit_error"
	case fault.CapacityExhausted, fault.ProviderUnavailable:
		return "overloaded_error"
	case fault.ProviderTimeout:
		return "timeout_error"
	case fault.Internal:
		return "api_error"
	case fault.InvalidRequest:
		if e.Aspect == fault.AspectSize {
			return "request_too_large"
		}
	}
	return "invalid_request_error"
}
