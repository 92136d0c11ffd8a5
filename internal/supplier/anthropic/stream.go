package anthropic

import (
	"cmp"
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// talk is one streamed answer.
type talk struct {
	adapter    *adapter
	ask        *chatRequest
	stopReason string
	ended      bool // by the format's end mark
	said       content
	used       usage
}

// streamEvent is the data of one event of whatever type, which says itself which type it is.
type streamEvent struct {
	upstream.Envelope
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	ContentBlock block `json:"content_block"`
	Delta        struct {
		block
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.decodeChat(a, t.ask)
}

// Event takes one event. Types that are unknown are passed over, as the format asks for.
func (t *talk) Event(status int, e upstream.Event) (supplier.Delta, error) {
	var none supplier.Delta
	var body streamEvent
	err := upstream.Decode([]byte(e.Data), &body)
	err = t.adapter.format.Problem(upstream.Answer{Status: status, Body: []byte(e.Data)}, body.Envelope, err)
	if err != nil {
		return none, err
	}
	t.used.read(body.Message.Usage)
	t.used.read(body.Usage)
	switch body.Type {
	case "content_block_start":
		return t.said.begin(body.Index, body.ContentBlock), nil
	case "content_block_delta":
		return t.said.add(body.Index, body.Delta.block), nil
	case "content_block_stop":
		return t.said.end(body.Index), nil
	case "message_delta":
		if body.Delta.StopReason == stopRefusal {
			return none, refused(status)
		}
		t.stopReason = cmp.Or(body.Delta.StopReason, t.stopReason)
		return t.said.endAll(), nil
	case "message_stop":
		t.ended = true
		return none, upstream.ErrDone
	}
	return none, nil
}

// Complete takes the end mark for a stop reason, should one be missing.
func (t *talk) Complete(empty bool) bool {
	return t.stopReason != "" || t.ended && (!empty || t.said.called)
}

// Outcome is the result of all pieces.
func (t *talk) Outcome(all *supplier.Told) supplier.Outcome {
	return t.said.outcome(all, t.stopReason, t.used, t.ask.bytes())
}
