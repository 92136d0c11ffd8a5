package anthropic_test

import (
	"fmt"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// faults returns the rows of the error table for this format.
func faults() []suppliertest.Fault {
	const (
		refused = supplier.Refused
		unknown = supplier.Unknown
	)
	row := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: suppliertest.JSON(status, body, headers...), Want: want}
	}
	failure := func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
	}
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: refused}
	invalid := suppliertest.Verdict{Code: fault.InvalidRequest, Sent: refused}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused}
	down := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused}
	operator := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true}
	late := suppliertest.Verdict{Code: fault.ProviderTimeout, Sent: unknown}
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: unknown}
	stream := func(name string, want suppliertest.Verdict, data ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: "stream " + name, Stream: true, Answer: suppliertest.Events(data...), Want: want}
	}
	const (
		piece  = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"par"}}`
		refuse = `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`
	)
	busy, slow := failure("overloaded_error", "Overloaded"), failure("timeout_error", "late")
	return []suppliertest.Fault{
		stream("of nothing", lost),
		stream("of its end alone", lost, `{"type":"message_stop"}`),
		stream("cut", lost, piece),
		stream("malformed", lost, piece, `{`),
		stream("full at once", full, busy),
		stream("full later", suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: unknown}, piece, busy),
		stream("late at once", late, slow),
		stream("refused at once", review, refuse),
		stream("refused later", review, piece, refuse),
		row("refusal", 200, `{"type":"message","content":[{"type":"text","text":"par"}],"stop_reason":"refusal"}`, review),
		row("refusal without text", 200, `{"type":"message","content":[],"stop_reason":"refusal"}`, review),
		row("overloaded", 529, failure("overloaded_error", "Overloaded"), full),
		row("overloaded without a body", 529, ``, full),
		row("rate limit", 429, failure("rate_limit_error", "slower"),
			suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused, RetryAfter: 12 * time.Second}, "Retry-After", "12"),
		row("rate limit without advice", 429, failure("rate_limit_error", "slower"), full),
		row("spend limit", 429, failure("rate_limit_error", "You have reached your specified API usage limits."),
			suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true, RetryAfter: time.Hour}, "Retry-After", "86400"),
		row("usage credits", 429, failure("rate_limit_error", "Usage credits are required for long context requests."), operator),
		row("timeout", 504, failure("timeout_error", "late"), late),
		row("500", 500, failure("api_error", "sorry"), down),
		row("502", 502, `<html>`, down),
		row("balance", 402, failure("billing_error", "pay"), operator),
		row("balance as an invalid request", 400, failure("invalid_request_error", "Your credit balance is too low to go on."), operator),
		row("key", 401, failure("authentication_error", "invalid x-api-key"), operator),
		row("permission", 403, failure("permission_error", "no"), operator),
		row("model gone", 404, failure("not_found_error", "model: x"), operator),
		row("400", 400, failure("invalid_request_error", "max_tokens: too many"), invalid),
		row("400 without a body", 400, ``, invalid),
		row("400 with a message of another form", 400, `{"error":{"message":{"a":1}}}`, invalid),
		row("413", 413, failure("request_too_large", "too large"), invalid),
		row("200 with an error", 200, failure("overloaded_error", "Overloaded"), full),
		row("200 with a timeout inside", 200, failure("timeout_error", "late"), late),
		row("200 with an unknown error", 200, failure("new_error", "?"), lost),
		row("200 without content", 200, `{"type":"message","stop_reason":"end_turn"}`, lost),
		row("200 with null content", 200, `{"type":"message","content":null,"stop_reason":"end_turn"}`, lost),
		row("200 that ends nowhere", 200, `{"type":"message","content":[],"stop_reason":null}`, lost),
	}
}
