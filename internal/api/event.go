package api

import "unitask/internal/jsonwrite"

// The events of a stream, asked for by Accept: text/event-stream.
const (
	EventTask  = "task"  // its data is a Task
	EventDelta = "delta" // its data is a Delta
)

// Delta is one piece of a task's result as it comes: of its text, of the model's thoughts or of a tool call.
type Delta struct {
	Text      string     `json:"text,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	ToolCall  *CallPiece `json:"tool_call,omitempty"`
}

// CallPiece is a piece of a tool call. The pieces of one call make up the text of its arguments.
type CallPiece struct {
	Index     int    `json:"index"` // of the call in the output
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Write appends the piece as encoding/json writes it, only faster.
func (d Delta) Write(w *jsonwrite.Writer) {
	w.Begin('{')
	if d.Text != "" {
		text(w, "text", d.Text)
	}
	if d.Reasoning != "" {
		text(w, "reasoning", d.Reasoning)
	}
	if c := d.ToolCall; c != nil {
		w.Name("tool_call")
		w.Begin('{')
		w.Name("index")
		w.Int(int64(c.Index))
		text(w, "id", c.ID)
		text(w, "name", c.Name)
		text(w, "arguments", c.Arguments)
		w.End('}')
	}
	w.End('}')
}
