package openai

import (
	"context"
	"encoding/json"
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
	ask, err := a.ask(r, true)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	return a.format.Stream(ctx, chatPath, ask.body, upstream.TextLimit(r.Parameters), &talk{adapter: a, asked: ask.bytes}, delta)
}

// talk is one streamed answer.
type talk struct {
	adapter  *adapter
	asked    int
	last     choice // the one that gave the finish reason
	finished bool
	ended    bool // by the format's end mark
	calls    bool // a tool
	usage    json.RawMessage
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.decodeChat(a, t.asked)
}

// Event takes the data of one event.
func (t *talk) Event(status int, e upstream.Event) (string, error) {
	data := strings.TrimSpace(e.Data)
	if data == "[DONE]" {
		t.ended = true
		return "", upstream.ErrDone
	}
	answer := upstream.Answer{Status: status, Body: []byte(data)}
	body, err := decodeAnswer(answer.Body)
	if err = t.adapter.format.Problem(answer, body.Envelope, err); err != nil {
		return "", err
	}
	if len(body.Usage) > 0 && string(body.Usage) != "null" {
		t.usage = body.Usage
	}
	if len(body.Choices) == 0 {
		return "", nil
	}
	c := body.Choices[0]
	if e := c.failure(status, c.Delta); e != nil {
		return "", e
	}
	t.calls = t.calls || c.Delta.calls()
	if c.finish() != "" && !t.finished {
		t.last, t.finished = c, true
	}
	return c.Delta.Content.Value, nil
}

// Complete takes the end mark for a finish reason, which some servers don't give.
func (t *talk) Complete(empty bool) bool { return t.finished || t.ended && (!empty || t.calls) }

// Outcome is the result of all pieces.
func (t *talk) Outcome(text string) supplier.Outcome {
	return t.adapter.textOutcome(text, t.last.reason(t.calls), t.usage, t.asked)
}
