package api

import "unitask/internal/jsonwrite"

// The events of a stream, asked for by Accept: text/event-stream.
const (
	EventTask  = "task"  // its data is a Task
	EventDelta = "delta" // its data is a Delta
)

// Delta is one piece of a task's text as it comes.
type Delta struct {
	Text string `json:"text"`
}

// Write appends the piece as encoding/json writes it, only faster.
func (d Delta) Write(w *jsonwrite.Writer) {
	w.Begin('{')
	text(w, "text", d.Text)
	w.End('}')
}
