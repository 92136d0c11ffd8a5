package openai

import (
	"strings"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/door"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
)

// ErrorResponse is the body of an error.
type ErrorResponse struct {
	Error     Error  `json:"error"`
	TaskID    string `json:"task_id,omitempty"`
	RequestID string `json:"request_id"`
}

// Error is the error object. ServiceCode is the service's own code.
type Error struct {
	Message     string     `json:"message"`
	Type        string     `json:"type"`
	Param       *string    `json:"param"`
	Code        *string    `json:"code"`
	ServiceCode fault.Code `json:"service_code"`
}

const (
	fieldModel    = "model"
	fieldResponse = "response_id"
)

// UnknownModel refuses a model that isn't a capability of the kind that the path needs.
func UnknownModel(model string) *fault.Error {
	const most = 100 // bytes of a name that is said again
	if len(model) > most {
		model = strings.ToValidUTF8(model[:most], "") + "…"
	}
	e := fault.Newf(fault.NotFound, "the model %q doesn't exist, or isn't callable here with this key", model)
	return e.WithDetails(fault.Detail{Field: fieldModel, Message: "names no such model"})
}

// UnknownResponse refuses the id of a response that the key doesn't see.
func UnknownResponse() *fault.Error {
	return fault.New(fault.NotFound, "there is no such response").WithDetails(fault.Detail{Field: fieldResponse, Message: "names no response"})
}

// ErrorOf returns an error in OpenAI's shape.
func ErrorOf(e *fault.Error, requestID string) ErrorResponse {
	kind, code := kindOf(e)
	out := Error{Message: door.Message(e), Type: kind, ServiceCode: e.Code}
	if code != "" {
		out.Code = &code
	}
	if len(e.Details) > 0 && e.Details[0].Field != "body" {
		out.Param = &e.Details[0].Field
	}
	return ErrorResponse{Error: out, TaskID: e.TaskID, RequestID: requestID}
}

// kindOf returns OpenAI's type of an error, and its code where OpenAI has one.
func kindOf(e *fault.Error) (kind, code string) {
	const invalidRequest, server = "invalid_request_error", "server_error"
	switch e.Code {
	case fault.Unauthenticated:
		return invalidRequest, "invalid_api_key"
	case fault.NotFound:
		switch {
		case len(e.Details) == 0 && e.TaskID == "":
			return invalidRequest, "unknown_url"
		case len(e.Details) > 0 && e.Details[0].Field == fieldModel:
			return invalidRequest, "model_not_found"
		}
		return invalidRequest, ""
	case fault.ContentPolicyViolation:
		return invalidRequest, "content_policy_violation"
	case fault.RateLimitExceeded:
		return "rate_limit_error", "rate_limit_exceeded"
	case fault.Internal, fault.ProviderUnavailable, fault.CapacityExhausted, fault.ProviderTimeout:
		return server, ""
	default:
		return invalidRequest, ""
	}
}

// soon is the longest pause after which OpenAI's libraries retry as they are told: a longer one they replace by a pause
// of their own, and ask in vain.
const soon = time.Minute

// ShouldRetry reports whether OpenAI's libraries shall send a request again by themselves after an error.
func ShouldRetry(e *fault.Error) bool { return e.Retryable() && e.RetryAfter <= soon }

// Explain returns an error of the gateway's about the call in terms of the caller's request.
func (c *Call) Explain(err error) *fault.Error {
	e := fault.From(err)
	if len(e.Details) == 0 {
		return e
	}
	if e.Code == fault.InvalidRequest && e.Details[0].Field == memberCapability {
		return UnknownModel(c.Model)
	}
	return refusal(c, e)
}

// refusal returns an error whose fields are those of the caller's request; c may be nil for one whose fields are
// already.
func refusal(c *Call, e *fault.Error) *fault.Error {
	if len(e.Details) == 0 {
		return e
	}
	rows := make([]fault.Detail, len(e.Details))
	for i, d := range e.Details {
		rows[i] = fault.Detail{Field: c.param(d.Field), Message: d.Message}
	}
	translated := *e
	translated.Details = rows
	for i, d := range e.Details {
		if strings.Contains(d.Field, ".") { // one of a task's creation
			translated.Message = strings.ReplaceAll(translated.Message, d.Field, rows[i].Field)
		}
	}
	if e.Code == fault.AuthorizationRequired { // OpenAI's shape tells one row alone
		translated.Message = strings.ReplaceAll(translated.Message, catalog.GroupInput+".", "")
		for _, row := range rows {
			translated.Message += "; " + row.Message
		}
	}
	if e.Code == fault.InvalidRequest && e.Message == e.Details[0].Field+" "+e.Details[0].Message {
		translated.Message = inbound.Invalid(rows).Message
	}
	return &translated
}
