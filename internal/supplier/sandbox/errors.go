package sandbox

import (
	"context"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// messages are for callers.
var messages = map[fault.Code]string{
	fault.ContentPolicyViolation: "the content was refused by a review",
	fault.CapacityExhausted:      "there is no room for this work at the moment",
	fault.ProviderTimeout:        "the work was not answered in time",
	fault.ProviderUnavailable:    "the work could not be done at the moment",
	fault.InvalidRequest:         "the request's content was refused",
	fault.Internal:               "the work failed on a fault of the service",
}

// failure returns an error with the code's own message.
func failure(sent supplier.Sent, code fault.Code) *supplier.Error {
	return supplier.NewError(sent, code, messages[code], nil)
}

// refusal returns the INVALID_REQUEST of a request that can't be served.
func refusal(message string) *supplier.Error {
	return supplier.NewError(supplier.Refused, fault.InvalidRequest, message, nil)
}

// interrupted returns the error of an exchange that its context ended; nil if it goes on.
func interrupted(ctx context.Context, sent supplier.Sent) error {
	if err := ctx.Err(); err != nil {
		return supplier.NewError(sent, fault.ProviderTimeout, messages[fault.ProviderTimeout], err)
	}
	return nil
}
