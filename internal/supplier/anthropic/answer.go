package anthropic

import (
	"encoding/json"
	"errors"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var (
	errNoText = errors.New("the answer holds no text")
	errReview = errors.New("the supplier's review refused the content")
)

type messageAnswer struct {
	upstream.Envelope
	Content    []block         `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

// decodeChat turns an answer of success into a result. An answer may well be empty: the model added no text.
func (a *adapter) decodeChat(answer upstream.Answer, ask *chatRequest) (supplier.Outcome, error) {
	var body messageAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if body.StopReason == stopRefusal {
		return supplier.Outcome{}, refused(answer.Status)
	}
	said := content{searches: ask.searches}
	var all supplier.Told
	for i, b := range body.Content {
		all.Add(said.begin(i, b))
		all.Add(said.end(i))
	}
	if body.Content == nil || !said.texts && !said.called && body.StopReason == "" {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoText)
	}
	var used usage
	used.read(body.Usage)
	return said.outcome(&all, body.StopReason, used, ask.bytes()), nil
}

// The stop reasons that mean something here.
const (
	stopRefusal = "refusal"
	stopTool    = "tool_use"
)

func refused(status int) *supplier.Error {
	e := upstream.Failure(supplier.Refused, fault.ContentPolicyViolation, errReview)
	e.Status = status
	return e
}

// outcome is the result of all pieces.
func (c *content) outcome(all *supplier.Told, stopReason string, used usage, asked int) supplier.Outcome {
	r := supplier.Result{
		Text: new(all.Text.String()), FinishReason: finishReason(stopReason, c.called), ToolCalls: all.Calls(),
		Reasoning: all.Reasoning.String(), Citations: c.cited,
	}
	answered := len(*r.Text) + len(r.Reasoning)
	for _, call := range r.ToolCalls {
		answered += len(call.Name) + len(call.Arguments)
	}
	if len(r.ToolCalls) > 0 {
		r.State = keep(c.blocks)
	}
	r.Usage = upstream.Tokens(used.Usage, asked, answered)
	return supplier.Outcome{Result: &r}
}

// finishReason returns the neutral one; whatever ends a text without cutting it is "stop". A turn that the server
// paused, after many searches, is cut: the model had more to say.
func finishReason(stopReason string, called bool) string {
	switch {
	case stopReason == "max_tokens" || stopReason == "model_context_window_exceeded" || stopReason == "pause_turn":
		return "length"
	case called || stopReason == stopTool:
		return supplier.FinishToolCalls
	default:
		return "stop"
	}
}
