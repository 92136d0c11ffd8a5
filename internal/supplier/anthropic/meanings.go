package anthropic

import (
	"net/http"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// meanings returns the error types of the format, for those that come without a status of their own: in
// the middle of a stream.
func meanings() upstream.Meanings {
	full := upstream.Meaning{Code: fault.CapacityExhausted}
	operator := upstream.Meaning{Code: fault.ProviderUnavailable, Operator: true}
	invalid := upstream.Meaning{Code: fault.InvalidRequest}
	return upstream.Meanings{
		"overloaded_error":      full,
		"rate_limit_error":      full,
		"api_error":             {Code: fault.ProviderUnavailable},
		"timeout_error":         {Code: fault.ProviderTimeout},
		"authentication_error":  operator,
		"permission_error":      operator,
		"billing_error":         operator,
		"not_found_error":       operator,
		"invalid_request_error": invalid,
		"request_too_large":     invalid,
	}
}

// unpaid are the words by which the server tells an empty balance or a spend limit, for which the format
// has no type: they come as an invalid request or as a rate limit.
var unpaid = []string{"credit balance is too low", "usage limits", "spend limit", "usage credits", "extra usage is required"}

// judge corrects the error of an answer whose type hides that the operator's money is at an end.
func judge(a upstream.Answer, e *supplier.Error) {
	if a.Status != http.StatusBadRequest && a.Status != http.StatusTooManyRequests {
		return
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if upstream.Decode(a.Body, &body) != nil {
		return
	}
	message := strings.ToLower(body.Error.Message)
	for _, words := range unpaid {
		if strings.Contains(message, words) {
			e.Fault = upstream.Failure(e.Sent, fault.ProviderUnavailable, nil).Fault
			e.Operator = true
		}
	}
}
