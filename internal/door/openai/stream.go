package openai

import (
	"encoding/json"

	"unitask/internal/api"
	"unitask/internal/door"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// Events returns the writer of the call's stream.
func (c *Call) Events() door.Events {
	if c.response != nil {
		return newResponseEvents(c)
	}
	return NewChunks(c)
}

// Chunks writes a task's stream as OpenAI's: chunks of the answer, the usage if it is asked for, and [DONE]. One
// goroutine uses it.
type Chunks struct {
	call  *Call
	w     *jsonwrite.Writer
	calls map[int]bool // whose first piece was told
	begun bool
	told  bool
}

// NewChunks returns the Chunks of a call.
func NewChunks(c *Call) *Chunks {
	return &Chunks{call: c, w: jsonwrite.New(1 << 9), calls: map[int]bool{}}
}

// Begin appends the first chunk, which says who speaks.
func (s *Chunks) Begin(b []byte, t *task.Task) []byte {
	if s.begun {
		return b
	}
	s.begun = true
	return s.chunk(b, t, "", func(w *jsonwrite.Writer) {
		named(w, "role", "assistant")
		named(w, "content", "")
	})
}

// Piece appends a piece of the answer.
func (s *Chunks) Piece(b []byte, t *task.Task, d api.Delta) []byte {
	s.told = true
	if d.Reasoning != "" {
		b = s.chunk(b, t, "", func(w *jsonwrite.Writer) { named(w, memberReasoning, d.Reasoning) })
	}
	if d.Text != "" {
		b = s.chunk(b, t, "", func(w *jsonwrite.Writer) { named(w, "content", d.Text) })
	}
	if c := d.ToolCall; c != nil {
		b = s.chunk(b, t, "", func(w *jsonwrite.Writer) { s.piece(w, c) })
	}
	return b
}

// Beat appends a comment.
func (s *Chunks) Beat(b []byte) []byte { return append(b, sse.Beat...) }

// piece writes a piece of a tool call, the first one with its id and name.
func (s *Chunks) piece(w *jsonwrite.Writer, c *api.CallPiece) {
	w.Name("tool_calls")
	w.Begin('[')
	w.Begin('{')
	count(w, "index", int64(c.Index))
	first := !s.calls[c.Index]
	s.calls[c.Index] = true
	if first {
		named(w, "id", c.ID)
		named(w, "type", typeFunction)
	}
	w.Name(typeFunction)
	w.Begin('{')
	if first {
		named(w, "name", c.Name)
	}
	named(w, "arguments", c.Arguments)
	w.End('}')
	w.End('}')
	w.End(']')
}

// End appends the end of a task that succeeded: the whole answer if no piece of it was told, why it ends, the usage and
// the mark of the end.
func (s *Chunks) End(b []byte, t *task.Task) ([]byte, error) {
	p, err := partsOf(t)
	if err != nil {
		return b, err
	}
	if !s.told {
		b = s.Piece(b, t, api.Delta{Reasoning: p.Reasoning, Text: *p.Text})
		for i, c := range p.ToolCalls {
			piece := api.CallPiece{Index: i, ID: c.ID, Name: c.Name, Arguments: argumentsOf(c)}
			b = s.Piece(b, t, api.Delta{ToolCall: &piece})
		}
	}
	b = s.chunk(b, t, p.FinishReason, func(w *jsonwrite.Writer) {
		if p.State != "" {
			named(w, memberState, p.State)
		}
	})
	if s.call.IncludeUsage {
		b = s.event(b, func(w *jsonwrite.Writer) {
			s.call.head(w, t, chunkObject)
			w.Name("choices")
			w.Begin('[')
			w.End(']')
			w.Name("usage")
			writeUsage(w, t.Usage)
		})
	}
	return append(b, "data: [DONE]\n\n"...), nil
}

// Fail appends the end of a stream that an error cuts short.
func (s *Chunks) Fail(b []byte, _ *task.Task, e *fault.Error, requestID string) []byte {
	raw, err := json.Marshal(ErrorOf(e, requestID))
	if err != nil {
		return b // it is texts alone
	}
	return append(append(append(b, "data: "...), raw...), "\n\n"...)
}

const chunkObject = "chat.completion.chunk"

// chunk appends a chunk of the one choice.
func (s *Chunks) chunk(b []byte, t *task.Task, finish string, delta func(*jsonwrite.Writer)) []byte {
	return s.event(b, func(w *jsonwrite.Writer) {
		s.call.head(w, t, chunkObject)
		w.Name("choices")
		w.Begin('[')
		w.Begin('{')
		count(w, "index", 0)
		w.Name("delta")
		w.Begin('{')
		delta(w)
		w.End('}')
		w.Name("logprobs")
		w.Null()
		w.Name("finish_reason")
		if finish == "" {
			w.Null()
		} else {
			w.String(finish)
		}
		w.End('}')
		w.End(']')
		if s.call.IncludeUsage {
			w.Name("usage")
			w.Null()
		}
	})
}

func (s *Chunks) event(b []byte, members func(*jsonwrite.Writer)) []byte {
	s.w.Reset()
	s.w.Begin('{')
	members(s.w)
	s.w.End('}')
	raw, err := s.w.Bytes()
	if err != nil {
		return b // numbers here are whole
	}
	return append(append(append(b, "data: "...), raw...), "\n\n"...)
}
