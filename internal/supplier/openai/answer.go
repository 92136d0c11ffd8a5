package openai

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var (
	errNoJSON = errors.New("the answer is no JSON of the expected form")
	errNoText = errors.New("the answer holds no text")
	errCut    = errors.New("the supplier broke its work off")
	errReview = errors.New("the supplier's review refused the content")
)

// decodeChat turns an answer of success into a result. asked is how much text the request carried.
func (a *adapter) decodeChat(answer upstream.Answer, asked int) (supplier.Outcome, error) {
	body, err := decodeAnswer(answer.Body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if len(body.Choices) == 0 {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoText)
	}
	c := body.Choices[0]
	if e := c.failure(answer.Status, c.Message); e != nil {
		return supplier.Outcome{}, e
	}
	reason := c.reason(c.Message.calls())
	if !c.Message.Content.Present && reason == "stop" { // all of a short budget may go into thinking
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoText)
	}
	result := supplier.Result{
		Text: &c.Message.Content.Value, FinishReason: reason, Reasoning: c.Message.thoughts(), Citations: citations(c.Message.Annotations),
	}
	for _, call := range c.Message.callsOf() {
		result.ToolCalls = append(result.ToolCalls, supplier.ToolCall{Name: call.Function.Name, Arguments: call.Function.text()})
	}
	if len(result.ToolCalls) > 0 {
		result.State = keep(kept{Thoughts: c.Message.Thoughts.Value, Details: c.Message.Details})
	}
	return a.measured(result, body.Usage, asked), nil
}

// failure returns the error that a choice reports, with its message or delta p; nil without one. A review's refusal
// is a definite answer; work that broke off may have been paid.
func (c choice) failure(status int, p piece) *supplier.Error {
	sent, code, cause := supplier.Unknown, fault.ProviderUnavailable, errCut
	switch reason := c.finish(); {
	case reason == "content_filter", p.Refusal != "":
		sent, code, cause = supplier.Refused, fault.ContentPolicyViolation, errReview
	case reason == "insufficient_system_resource":
		code = fault.CapacityExhausted
	case reason == "error", len(c.Error) > 0 && string(c.Error) != "null":
	default:
		return nil
	}
	e := upstream.Failure(sent, code, cause)
	e.Status = status
	return e
}

func (c choice) finish() string { return strings.ToLower(c.FinishReason) }

// reason returns the neutral finish reason of a text beside which tools were called or not; whatever ends a text
// without cutting it is "stop".
func (c choice) reason(calls bool) string {
	switch reason := c.finish(); {
	case slices.Contains([]string{"length", "max_tokens", "max_output_tokens", "model_length"}, reason):
		return "length"
	case calls, reason == "tool_calls", reason == "function_call":
		return supplier.FinishToolCalls
	default:
		return "stop"
	}
}

// measured completes a result with its usage, of which it may have counted searches.
func (s settings) measured(r supplier.Result, report json.RawMessage, asked int) supplier.Outcome {
	used := parseUsage(report)
	used.Searches = max(used.Searches, r.Usage.Searches)
	answered := len(*r.Text) + len(r.Reasoning)
	for _, c := range r.ToolCalls {
		answered += len(c.Name) + len(c.Arguments)
	}
	r.Usage, r.Charged = used.tokens(asked, answered), s.charged(used)
	return supplier.Outcome{Result: &r}
}
