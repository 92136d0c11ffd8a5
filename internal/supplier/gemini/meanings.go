package gemini

import (
	"strings"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// meanings returns the statuses and reasons that say more than the HTTP status beside them.
func meanings() upstream.Meanings {
	operator := upstream.Meaning{Code: fault.ProviderUnavailable, Operator: true}
	return upstream.Meanings{
		"failed_precondition": operator, // no billing, or a country that isn't served
		"api_key_invalid":     operator, // comes as an invalid argument
		"permission_denied":   operator,
		"not_found":           operator, // the model
	}
}

// judge reads the pause that the server advises in the body if the header has no advice.
func judge(a upstream.Answer, e *supplier.Error) {
	if e.RetryAfter > 0 {
		return
	}
	var body struct {
		Error struct {
			Details []struct {
				Type       string `json:"@type"`
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if upstream.Decode(a.Body, &body) != nil {
		return
	}
	for _, d := range body.Error.Details {
		if !strings.HasSuffix(d.Type, "google.rpc.RetryInfo") {
			continue
		}
		if pause, err := time.ParseDuration(d.RetryDelay); err == nil {
			e.RetryAfter = min(max(pause, 0), upstream.MaxRetryAfter)
		}
	}
}
