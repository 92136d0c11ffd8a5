package gateway

import (
	"encoding/json"
	"strings"

	"unitask/internal/api"
	"unitask/internal/supplier/upstream"
	"unitask/internal/task"
)

// wholeText returns the stream of an output, as if it had been told: thoughts, text, tool calls.
func wholeText(o *task.Output) *textStream {
	v := &textStream{}
	p := partsOf(o)
	v.append(api.Delta{Reasoning: p.Reasoning})
	if p.Text != nil {
		v.append(api.Delta{Text: *p.Text})
	}
	for i, c := range p.ToolCalls {
		words := upstream.PastCall{Arguments: c.Arguments}.Text()
		v.append(api.Delta{ToolCall: &api.CallPiece{Index: i, ID: c.ID, Name: c.Name, Arguments: words}})
	}
	return v
}

// partsOf reads an output as one with a text; one of another form has none.
func partsOf(o *task.Output) (p task.Parts) {
	if o == nil || o.Text() == nil {
		return task.Parts{}
	}
	if json.Unmarshal(o.JSON, &p) != nil {
		return task.Parts{Text: o.Text()}
	}
	return p
}

// agrees reports whether all that was said is of an output.
func (v *textStream) agrees(o *task.Output) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := partsOf(o)
	if p.Text == nil || !strings.HasPrefix(*p.Text, string(v.text)) {
		return len(v.text)+len(v.marks) == 0
	}
	var thoughts strings.Builder
	for _, m := range v.marks {
		thoughts.WriteString(m.piece.Reasoning)
		if c := m.piece.ToolCall; c != nil && (c.Index >= len(p.ToolCalls) || p.ToolCalls[c.Index].ID != c.ID) {
			return false
		}
	}
	return strings.HasPrefix(p.Reasoning, thoughts.String())
}

// behind returns the place in a whole stream that continues one of which so much was told: of thoughts and calls all
// that were, or would have been, or none.
func (v *textStream) behind(told place) place {
	at := place{bytes: told.bytes}
	for _, m := range v.marks {
		if told.marks > 0 || m.after < told.bytes || told.bytes > 0 && m.piece.Reasoning != "" {
			at.marks++
		}
	}
	return at
}
