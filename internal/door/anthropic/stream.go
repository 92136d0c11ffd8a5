package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/door"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// The kinds of blocks that a stream has open.
const (
	thoughtBlock = "thinking"
	textBlock    = "text"
	callBlock    = "tool_use"
)

// events writes a task's stream as Anthropic's: a message block by block, why it ends, and its usage. One goroutine
// uses it.
type events struct {
	of    *Call
	w     *jsonwrite.Writer
	begun bool
	told  bool
	next  int    // the index of the next block
	open  string // the kind of the last block; "" between two
	call  int    // which call the block is, if it is one
	held  []*heldBlock
}

// heldBlock is a block that is told at the end.
type heldBlock struct {
	kind string
	call api.CallPiece
	text strings.Builder
}

// Events returns the writer of the call's stream.
func (c *Call) Events() door.Events {
	return &events{of: c, w: jsonwrite.New(1 << 9)}
}

// Begin appends the start of the message, the first time.
func (s *events) Begin(b []byte, t *task.Task) []byte {
	if s.begun {
		return b
	}
	s.begun = true
	return s.event(b, "message_start", func(w *jsonwrite.Writer) {
		w.Name("message")
		w.Begin('{')
		s.of.head(w, t)
		w.Name("content")
		w.Begin('[')
		w.End(']')
		ends(w, "")
		w.Name("usage")
		writeUsage(w, nil, true)
		w.End('}')
	})
}

// Beat appends an event that keeps the connection.
func (s *events) Beat(b []byte) []byte { return s.event(b, "ping", func(*jsonwrite.Writer) {}) }

// Piece appends a piece of the answer. A block ends before the next one begins, and more of a call may come after
// pieces of others: so whatever else comes once a call has begun is held, and told at the end.
func (s *events) Piece(b []byte, _ *task.Task, d api.Delta) []byte {
	s.told = true
	if d.Reasoning != "" {
		b = s.piece(b, thoughtBlock, api.CallPiece{}, d.Reasoning)
	}
	if d.Text != "" {
		b = s.piece(b, textBlock, api.CallPiece{}, d.Text)
	}
	if c := d.ToolCall; c != nil {
		b = s.piece(b, callBlock, *c, c.Arguments)
	}
	return b
}

func (s *events) piece(b []byte, kind string, c api.CallPiece, text string) []byte {
	if s.open != callBlock || kind == callBlock && c.Index == s.call {
		return s.tell(b, kind, c, text)
	}
	at := slices.IndexFunc(s.held, func(h *heldBlock) bool { return h.kind == kind && h.call.Index == c.Index })
	if at < 0 {
		at = len(s.held)
		s.held = append(s.held, &heldBlock{kind: kind, call: c})
	}
	_, _ = s.held[at].text.WriteString(text) // a builder takes everything
	return b
}

// tell appends a piece to the block of its kind, which it begins unless one is open.
func (s *events) tell(b []byte, kind string, c api.CallPiece, text string) []byte {
	switch kind {
	case thoughtBlock:
		b = s.enter(b, kind, func(w *jsonwrite.Writer) { s.of.thought(w, "") })
		if s.of.omitThoughts {
			return b
		}
		return s.delta(b, "thinking_delta", "thinking", text)
	case textBlock:
		b = s.enter(b, kind, func(w *jsonwrite.Writer) { said(w, "", nil) })
		return s.delta(b, "text_delta", "text", text)
	}
	s.call = c.Index
	b = s.enter(b, kind, func(w *jsonwrite.Writer) { used(w, c.ID, c.Name, []byte(`{}`)) })
	if text == "" {
		return b
	}
	return s.delta(b, "input_json_delta", "partial_json", text)
}

// enter appends the start of a block unless one of the kind is open.
func (s *events) enter(b []byte, kind string, block func(*jsonwrite.Writer)) []byte {
	if s.open == kind {
		return b
	}
	b = s.leave(b)
	s.open = kind
	index := s.next
	s.next++
	return s.event(b, "content_block_start", func(w *jsonwrite.Writer) {
		count(w, "index", int64(index))
		w.Name("content_block")
		block(w)
	})
}

// leave appends the end of the open block.
func (s *events) leave(b []byte) []byte {
	if s.open == "" {
		return b
	}
	s.open = ""
	return s.event(b, "content_block_stop", func(w *jsonwrite.Writer) { count(w, "index", int64(s.next-1)) })
}

func (s *events) delta(b []byte, kind, name, text string) []byte {
	return s.event(b, "content_block_delta", func(w *jsonwrite.Writer) {
		count(w, "index", int64(s.next-1))
		w.Name("delta")
		w.Begin('{')
		named(w, "type", kind)
		named(w, name, text)
		w.End('}')
	})
}

// End appends the end of a task that succeeded, and the whole answer if no piece of it was told.
func (s *events) End(b []byte, t *task.Task) ([]byte, error) {
	p, err := partsOf(t)
	if err != nil {
		return b, err
	}
	if !s.told {
		b = s.Piece(b, t, api.Delta{Reasoning: p.Reasoning, Text: *p.Text})
		for i, c := range p.ToolCalls {
			piece := api.CallPiece{Index: i, ID: c.ID, Name: c.Name, Arguments: string(objectOf(c))}
			b = s.Piece(b, t, api.Delta{ToolCall: &piece})
		}
	}
	for _, h := range s.held {
		b = s.tell(s.leave(b), h.kind, h.call, h.text.String())
	}
	if len(p.Citations) > 0 || s.next == 0 {
		b = s.enter(b, textBlock, func(w *jsonwrite.Writer) { said(w, "", nil) })
	}
	for _, c := range p.Citations {
		b = s.event(b, "content_block_delta", func(w *jsonwrite.Writer) {
			count(w, "index", int64(s.next-1))
			w.Name("delta")
			w.Begin('{')
			named(w, "type", "citations_delta")
			w.Name("citation")
			cited(w, c)
			w.End('}')
		})
	}
	if p.State != "" {
		b = s.enter(b, "redacted_thinking", func(w *jsonwrite.Writer) { remembered(w, p.State) })
	}
	b = s.leave(b)
	b = s.event(b, "message_delta", func(w *jsonwrite.Writer) {
		w.Name("delta")
		w.Begin('{')
		ends(w, reasonOf(p.FinishReason))
		w.End('}')
		w.Name("usage")
		writeUsage(w, t.Usage, false)
	})
	return s.event(b, "message_stop", func(*jsonwrite.Writer) {}), nil
}

// Fail appends an error that cuts the stream short.
func (s *events) Fail(b []byte, _ *task.Task, e *fault.Error, requestID string) []byte {
	raw, err := json.Marshal(ErrorOf(e, requestID))
	if err != nil {
		return b // it is texts alone
	}
	return sse.Append(b, "error", raw)
}

func (s *events) event(b []byte, kind string, members func(*jsonwrite.Writer)) []byte {
	s.w.Reset()
	s.w.Begin('{')
	named(s.w, "type", kind)
	members(s.w)
	s.w.End('}')
	raw, err := s.w.Bytes()
	if err != nil {
		return b // numbers here are whole
	}
	return sse.Append(b, kind, raw)
}
