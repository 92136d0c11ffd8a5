package openai

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Stream is Submit for text.chat with the text delivered as it comes. A server that doesn't stream gives it in one
// piece; other capabilities don't stream.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	if catalog.Name(r.Capability) != catalog.TextChat {
		return a.Submit(ctx, r)
	}
	api := a.api(r)
	ask, err := a.ask(r, api, true)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	var listener upstream.Talk = &talk{adapter: a, asked: ask.bytes}
	if api == responses {
		listener = &responseTalk{adapter: a, asked: ask.bytes}
	}
	return a.format.Stream(ctx, api.path(), ask.body, api.limit(r), listener, delta)
}

// talk is one streamed answer.
type talk struct {
	adapter  *adapter
	asked    int
	last     choice // the one that gave the finish reason
	finished bool
	ended    bool // by the format's end mark
	calls    bool // a tool
	pieces   callPieces
	cited    []supplier.Citation
	thinks   bool              // by reasoning_content
	details  []json.RawMessage // lists
	usage    json.RawMessage
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.decodeChat(a, t.asked)
}

// Event takes the data of one event.
func (t *talk) Event(status int, e upstream.Event) (supplier.Delta, error) {
	var none supplier.Delta
	data := strings.TrimSpace(e.Data)
	if data == "[DONE]" {
		t.ended = true
		return none, upstream.ErrDone
	}
	answer := upstream.Answer{Status: status, Body: []byte(data)}
	body, err := decodeAnswer(answer.Body)
	if err = t.adapter.format.Problem(answer, body.Envelope, err); err != nil {
		return none, err
	}
	if len(body.Usage) > 0 && string(body.Usage) != "null" {
		t.usage = body.Usage
	}
	if len(body.Choices) == 0 {
		return none, nil
	}
	c := body.Choices[0]
	if e := c.failure(status, c.Delta); e != nil {
		return none, e
	}
	t.calls = t.calls || c.Delta.calls()
	if c.finish() != "" && !t.finished {
		t.last, t.finished = c, true
	}
	return t.piece(c.Delta), nil
}

// piece takes a delta.
func (t *talk) piece(p piece) supplier.Delta {
	said := supplier.Delta{Text: p.Content.Value, Reasoning: p.thoughts()}
	if p.calls() {
		said.Calls = t.pieces.take(p)
	}
	if len(p.Annotations) > 0 {
		t.cited = append(t.cited, citations(p.Annotations)...)
	}
	t.thinks = t.thinks || p.Thoughts.Value != ""
	if len(p.Details) > 0 {
		t.details = append(t.details, slices.Clone(p.Details))
	}
	return said
}

// keep returns the state of a stream that calls tools.
func (t *talk) keep(told *supplier.Told) json.RawMessage {
	var k kept
	if t.thinks {
		k.Thoughts = told.Reasoning.String()
	}
	var all []json.RawMessage
	for _, list := range t.details {
		var some []json.RawMessage
		_ = json.Unmarshal(list, &some) // another form isn't kept
		all = append(all, some...)
	}
	if len(all) > 0 {
		k.Details, _ = json.Marshal(all) // they were JSON
	}
	return keep(k)
}

// Complete takes the end mark for a finish reason, which some servers don't give.
func (t *talk) Complete(empty bool) bool { return t.finished || t.ended && (!empty || t.calls) }

// Outcome is the result of all pieces.
func (t *talk) Outcome(told *supplier.Told) supplier.Outcome {
	r := supplier.Result{
		Text: new(told.Text.String()), FinishReason: t.last.reason(t.calls), ToolCalls: told.Calls(), Reasoning: told.Reasoning.String(),
		Citations: t.cited,
	}
	if len(r.ToolCalls) > 0 {
		r.State = t.keep(told)
	}
	return t.adapter.measured(r, t.usage, t.asked)
}
