package gemini

import (
	"context"
	"encoding/json"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Stream is Submit for text.chat with the answer delivered as it comes; other capabilities don't stream.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	if catalog.Name(r.Capability) != catalog.TextChat {
		return a.Submit(ctx, r)
	}
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	path := method(r.Model, "streamGenerateContent") + "?alt=sse"
	t := &talk{adapter: a, answer: answer{model: r.Model, asked: ask.bytes()}}
	return a.format.Stream(ctx, path, ask, upstream.TextLimit(r.Parameters), t, delta)
}

// talk is one streamed answer. The format has no end mark: a finish reason ends the text.
type talk struct {
	adapter *adapter
	answer  answer
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.decodeChat(a, t.answer)
}

// Event takes one event, which is an answer with a part of the text. What comes after the finish is no part of it, but
// for the usage and the pages.
func (t *talk) Event(status int, e upstream.Event) (supplier.Delta, error) {
	var none supplier.Delta
	body, err := t.adapter.decodePiece(upstream.Answer{Status: status, Body: []byte(e.Data)})
	if err != nil {
		return none, err
	}
	if len(body.UsageMetadata) > 0 {
		t.answer.usage = body.UsageMetadata
	}
	if len(body.Candidates) == 0 {
		return none, nil
	}
	c := body.Candidates[0]
	t.answer.found.add(c.Grounding)
	if t.answer.finish != "" {
		return none, nil
	}
	return t.answer.take(c), nil
}

// Complete reports whether a finish reason has come.
func (t *talk) Complete(bool) bool { return t.answer.finish != "" }

// Outcome is the result of all pieces.
func (t *talk) Outcome(told *supplier.Told) supplier.Outcome { return t.answer.outcome(told) }

// answer is what an answer has said beside the words that were told, whole or event by event.
type answer struct {
	model  string
	asked  int // bytes of the request's text
	finish string
	texts  bool // it has a part that is a text, be it empty
	called bool // a tool, or it meant to
	calls  int  // so far, of those that can be read
	kept   kept
	found  sources
	usage  json.RawMessage
}

// take takes the parts of a candidate, and its finish.
func (t *answer) take(c candidate) (piece supplier.Delta) {
	if c.FinishReason != finishNone {
		t.finish = c.FinishReason
	}
	t.called = t.called || c.calls()
	for _, p := range c.Content.Parts {
		switch {
		case len(p.Call) > 0:
			piece.Calls = append(piece.Calls, t.call(p)...)
		case p.InlineData != nil: // no part of a text
		case p.Thought:
			piece.Reasoning += p.Text
		default:
			piece.Text += p.Text
			t.texts = true
			if p.Signature != "" {
				t.kept.Text = p.Signature
			}
		}
	}
	return piece
}

// call takes a part that calls a function, which is a whole call: nothing for one that can't be read.
func (t *answer) call(p part) []supplier.CallPiece {
	var f functionCall
	if upstream.Decode(p.Call, &f) != nil || f.Name == "" {
		return nil
	}
	if p.Signature != "" {
		t.kept.Calls = append(t.kept.Calls, keptCall{Call: t.calls, Signature: p.Signature})
	}
	t.calls++
	return []supplier.CallPiece{{Index: t.calls - 1, Name: f.Name, Arguments: f.text()}}
}

// outcome returns the result of the answer that was told so.
func (t *answer) outcome(told *supplier.Told) supplier.Outcome {
	r := supplier.Result{
		Text: new(told.Text.String()), FinishReason: "stop", Reasoning: told.Reasoning.String(), ToolCalls: told.Calls(),
		Citations: t.found.citations(), State: t.kept.state(),
	}
	switch {
	case t.finish == finishLength:
		r.FinishReason = "length"
	case t.called:
		r.FinishReason = supplier.FinishToolCalls
	}
	answered := len(*r.Text) + len(r.Reasoning)
	for _, c := range r.ToolCalls {
		answered += len(c.Name) + len(c.Arguments)
	}
	r.Usage = tokens(t.usage, t.asked, answered)
	r.Usage.Searches = t.found.searches(t.model)
	return supplier.Outcome{Result: &r}
}
