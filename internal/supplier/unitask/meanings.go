package unitask

import (
	"slices"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// meanings are the contract's codes, as they concern whoever sent the request on.
func meanings() upstream.Meanings {
	down := upstream.Meaning{Code: fault.ProviderUnavailable}
	ours := upstream.Meaning{Code: fault.ProviderUnavailable, Operator: true} // our key, our address
	return upstream.Meanings{
		"invalid_request":          {Code: fault.InvalidRequest},
		"unauthenticated":          ours,
		"authorization_required":   {Code: fault.InvalidRequest},
		"not_found":                ours,
		"idempotency_conflict":     down,
		"content_policy_violation": {Code: fault.ContentPolicyViolation},
		"rate_limit_exceeded":      {Code: fault.CapacityExhausted},
		"internal":                 down,
		"provider_unavailable":     down,
		"capacity_exhausted":       {Code: fault.CapacityExhausted},
		"provider_timeout":         {Code: fault.ProviderTimeout},
	}
}

// judge corrects statuses that mislead in this format: a conflict means that the key has been here with something
// else, so something was taken; a gateway that asks for an authorization that ours doesn't, or lacks the capability,
// can't serve the request.
func judge(a upstream.Answer, e *supplier.Error) {
	var body api.ErrorResponse
	if upstream.Decode(a.Body, &body) != nil {
		return
	}
	switch body.Error.Code {
	case fault.IdempotencyConflict:
		e.Sent = supplier.Unknown
	case fault.AuthorizationRequired:
		e.Fault, e.Operator = upstream.Failure(e.Sent, fault.InvalidRequest, nil).Fault, false
	case fault.InvalidRequest:
		if slices.ContainsFunc(body.Error.Details, func(d fault.Detail) bool { return d.Field == "capability" }) {
			e.Fault, e.Operator = upstream.Failure(e.Sent, fault.ProviderUnavailable, nil).Fault, true
		}
	}
}
