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
	asked      int
	stopReason string
	ended      bool // by the format's end mark
	calls      bool // a tool
	used       usage
}

// streamEvent is the data of one event of whatever type, which says itself which type it is.
type streamEvent struct {
	upstream.Envelope
	Type    string `json:"type"`
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
	return t.adapter.decodeChat(a, t.asked)
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
		t.calls = t.calls || body.ContentBlock.calls()
		return piece(body.ContentBlock, "text"), nil
	case "content_block_delta":
		return piece(body.Delta.block, "text_delta"), nil
	case "message_delta":
		if body.Delta.StopReason == stopRefusal {
			return none, refused(status)
		}
		t.stopReason = cmp.Or(body.Delta.StopReason, t.stopReason)
	case "message_stop":
		t.ended = true
		return none, upstream.ErrDone
	}
	return none, nil
}

func piece(b block, kind string) supplier.Delta {
	if b.Type != kind {
		return supplier.Delta{}
	}
	return supplier.Delta{Text: b.Text}
}

// Complete takes the end mark for a stop reason, should one be missing.
func (t *talk) Complete(empty bool) bool { return t.stopReason != "" || t.ended && (!empty || t.calls) }

// Outcome is the result of all pieces.
func (t *talk) Outcome(told *supplier.Told) supplier.Outcome {
	reason := t.stopReason
	if t.calls {
		reason = stopTool
	}
	return outcome(told.Text.String(), reason, t.used, t.asked)
}
