package openai

import (
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// responseEvents writes a task's stream as the events of a response. Each item is done at the end, which alone tells the
// state beside thoughts and the citations of the text; until then pieces of one may follow those of another.
type responseEvents struct {
	call   *Call
	w      *jsonwrite.Writer
	number int64
	state  task.State // that was told last; "" before the first

	items    []*outputItem
	thoughts *outputItem
	thinks   bool // the last part of thoughts goes on
	message  *outputItem
	calls    map[int]*outputItem
	told     bool
}

func newResponseEvents(c *Call) *responseEvents {
	return &responseEvents{call: c, w: jsonwrite.New(1 << 9), calls: map[int]*outputItem{}}
}

// event appends an event of the members.
func (s *responseEvents) event(b []byte, name string, members func(*jsonwrite.Writer)) []byte {
	s.w.Reset()
	s.w.Begin('{')
	named(s.w, "type", name)
	count(s.w, "sequence_number", s.number)
	members(s.w)
	s.w.End('}')
	raw, err := s.w.Bytes()
	if err != nil {
		return b // numbers here are whole
	}
	s.number++
	return sse.Append(b, name, raw)
}

// whole appends an event of the whole response.
func (s *responseEvents) whole(b []byte, name string, t *task.Task, now told) []byte {
	return s.event(b, name, func(w *jsonwrite.Writer) {
		w.Name("response")
		s.call.respond(w, t, now)
	})
}

func (s *responseEvents) Begin(b []byte, t *task.Task) []byte {
	now := told{status: statusRuns}
	if t.State == task.Queued {
		now.status = statusQueued
	}
	before := s.state
	s.state = t.State
	if before == "" {
		b = s.whole(b, "response.created", t, now)
	}
	switch {
	case now.status == statusQueued && before == "":
		return s.whole(b, "response.queued", t, now)
	case now.status == statusRuns && (before == "" || before == task.Queued):
		return s.whole(b, "response.in_progress", t, now)
	}
	return b
}

// at writes the place of an item.
func (s *responseEvents) at(w *jsonwrite.Writer, i *outputItem) {
	named(w, "item_id", i.id)
	s.index(w, i)
}

func (s *responseEvents) index(w *jsonwrite.Writer, i *outputItem) {
	for n, one := range s.items {
		if one == i {
			count(w, "output_index", int64(n))
		}
	}
}

// item appends an event of an item.
func (s *responseEvents) item(b []byte, name string, i *outputItem, status string) []byte {
	return s.event(b, name, func(w *jsonwrite.Writer) {
		s.index(w, i)
		w.Name("item")
		i.write(w, status)
	})
}

// add appends the beginning of an item.
func (s *responseEvents) add(b []byte, i *outputItem) []byte {
	s.items = append(s.items, i)
	return s.item(b, "response.output_item.added", i, statusRuns)
}

// Beat appends a comment.
func (s *responseEvents) Beat(b []byte) []byte { return append(b, sse.Beat...) }

func (s *responseEvents) Piece(b []byte, t *task.Task, d api.Delta) []byte {
	s.told = true
	if d.Reasoning != "" {
		b = s.think(b, t, d.Reasoning)
	}
	if d.Text != "" {
		b = s.say(b, t, d.Text)
	}
	if d.ToolCall != nil {
		b = s.callPiece(b, t, d.ToolCall)
	}
	return b
}

// think appends a piece of thoughts.
func (s *responseEvents) think(b []byte, t *task.Task, piece string) []byte {
	i := s.thoughts
	if i == nil {
		i = &outputItem{kind: itemReasoning, id: itemID(prefixReasoning, t.ID, 0)}
		s.thoughts = i
		b = s.add(b, i)
	}
	if !s.thinks {
		s.thinks = true
		i.summary = append(i.summary, nil)
		b = s.summary(b, "part.added", func(w *jsonwrite.Writer) {
			w.Name("part")
			writeSummary(w, nil)
		})
	}
	last := len(i.summary) - 1
	i.summary[last] = append(i.summary[last], piece...)
	return s.summary(b, "text.delta", func(w *jsonwrite.Writer) { named(w, "delta", piece) })
}

// summary appends an event of the last part of thoughts.
func (s *responseEvents) summary(b []byte, name string, members func(*jsonwrite.Writer)) []byte {
	return s.event(b, "response.reasoning_summary_"+name, func(w *jsonwrite.Writer) {
		s.at(w, s.thoughts)
		count(w, "summary_index", int64(len(s.thoughts.summary)-1))
		members(w)
	})
}

// endThought appends the end of a part of thoughts that goes on.
func (s *responseEvents) endThought(b []byte) []byte {
	if !s.thinks {
		return b
	}
	s.thinks = false
	text := s.thoughts.summary[len(s.thoughts.summary)-1]
	b = s.summary(b, "text.done", func(w *jsonwrite.Writer) { named(w, "text", string(text)) })
	return s.summary(b, "part.done", func(w *jsonwrite.Writer) {
		w.Name("part")
		writeSummary(w, text)
	})
}

// say appends a piece of the text.
func (s *responseEvents) say(b []byte, t *task.Task, piece string) []byte {
	b = s.endThought(b)
	if s.message == nil {
		s.message = &outputItem{kind: itemMessage, id: itemID(prefixMessage, t.ID, 0)}
		b = s.add(b, s.message)
		b = s.part(b, "response.content_part.added", s.message.writePart)
	}
	s.message.text = append(s.message.text, piece...)
	return s.text(b, "response.output_text.delta", "delta", piece)
}

// content appends an event of the one part of the message.
func (s *responseEvents) content(b []byte, name string, members func(*jsonwrite.Writer)) []byte {
	return s.event(b, name, func(w *jsonwrite.Writer) {
		s.at(w, s.message)
		count(w, "content_index", 0)
		members(w)
	})
}

func (s *responseEvents) part(b []byte, name string, write func(*jsonwrite.Writer)) []byte {
	return s.content(b, name, func(w *jsonwrite.Writer) {
		w.Name("part")
		write(w)
	})
}

func (s *responseEvents) text(b []byte, name, member, said string) []byte {
	return s.content(b, name, func(w *jsonwrite.Writer) {
		named(w, member, said)
		w.Name("logprobs")
		w.Begin('[')
		w.End(']')
	})
}

// endMessage appends the end of the message, with its citations.
func (s *responseEvents) endMessage(b []byte, status string) []byte {
	i := s.message
	for n, c := range i.citations {
		b = s.content(b, "response.output_text.annotation.added", func(w *jsonwrite.Writer) {
			count(w, "annotation_index", int64(n))
			w.Name("annotation")
			i.writeCitation(w, c)
		})
	}
	b = s.text(b, "response.output_text.done", "text", string(i.text))
	b = s.part(b, "response.content_part.done", i.writePart)
	return s.end(b, i, status)
}

// end appends the end of an item.
func (s *responseEvents) end(b []byte, i *outputItem, status string) []byte {
	return s.item(b, "response.output_item.done", i, status)
}

// callPiece appends a piece of a call.
func (s *responseEvents) callPiece(b []byte, t *task.Task, c *api.CallPiece) []byte {
	b = s.endThought(b)
	i := s.calls[c.Index]
	if i == nil {
		i = &outputItem{kind: itemCall, id: itemID(prefixCall, t.ID, c.Index), call: &task.ToolCall{ID: c.ID, Name: c.Name}}
		s.calls[c.Index] = i
		b = s.add(b, i)
	}
	if c.Arguments == "" {
		return b
	}
	i.arguments = append(i.arguments, c.Arguments...)
	return s.event(b, "response.function_call_arguments.delta", func(w *jsonwrite.Writer) {
		s.at(w, i)
		named(w, "delta", c.Arguments)
	})
}

func (s *responseEvents) endCall(b []byte, i *outputItem) []byte {
	b = s.event(b, "response.function_call_arguments.done", func(w *jsonwrite.Writer) {
		s.at(w, i)
		named(w, "name", i.call.Name)
		named(w, "arguments", string(i.arguments))
	})
	return s.end(b, i, statusCompleted)
}

func (s *responseEvents) End(b []byte, t *task.Task) ([]byte, error) {
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
	b = s.endThought(b)
	now := told{status: statusOf(t, p), incomplete: whyIncomplete(p)}
	b = s.endItems(b, t, p, now.status)
	now.items = s.items
	return s.whole(b, "response."+now.status, t, now), nil
}

// endItems appends the ends of all items that go on, and those items that the end alone tells.
func (s *responseEvents) endItems(b []byte, t *task.Task, p task.Parts, status string) []byte {
	if p.State != "" {
		if s.thoughts == nil {
			s.thoughts = &outputItem{kind: itemReasoning, id: itemID(prefixReasoning, t.ID, 0)}
			b = s.add(b, s.thoughts)
		}
		s.thoughts.state = jsonOf(p.State)
	}
	if s.message != nil {
		s.message.citations = p.Citations
	}
	for _, i := range s.items {
		switch i.kind {
		case itemMessage:
			b = s.endMessage(b, status)
		case itemCall:
			b = s.endCall(b, i)
		default:
			b = s.end(b, i, statusCompleted)
		}
	}
	if len(p.Citations) > 0 {
		i := &outputItem{kind: itemSearch, id: itemID(prefixSearch, t.ID, 0), citations: p.Citations}
		b = s.end(s.add(b, i), i, statusCompleted)
	}
	return b
}

func (s *responseEvents) Fail(b []byte, t *task.Task, e *fault.Error, requestID string) []byte {
	if t.State == task.Failed || t.State == task.Canceled {
		return s.whole(b, "response.failed", t, told{status: statusOf(t, task.Parts{})})
	}
	shown := ErrorOf(e, requestID)
	return s.event(b, "error", func(w *jsonwrite.Writer) {
		w.Name("code")
		w.Any(shown.Error.Code)
		named(w, "message", shown.Error.Message)
		w.Name("param")
		w.Null()
		w.Name("error") // as OpenAI's libraries read it, and as it is elsewhere
		w.Any(shown.Error)
		if shown.TaskID != "" {
			named(w, "task_id", shown.TaskID)
		}
		named(w, "request_id", requestID)
	})
}
