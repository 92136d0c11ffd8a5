package api

import (
	"encoding/json"
	"strconv"

	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// CreateRequest is the body of POST /api/ai/v1/tasks.
type CreateRequest struct {
	Capability string          `json:"capability"`
	Input      json.RawMessage `json:"input"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Metadata   task.Metadata   `json:"metadata,omitempty"`
}

// Task is a task as its owner reads it: the same members for every capability and state, but metadata, which only those
// have that were given some.
type Task struct {
	ID         string        `json:"id"`
	Capability string        `json:"capability"`
	Mode       task.Mode     `json:"mode"`
	State      task.State    `json:"state"`
	Progress   *float64      `json:"progress"` // 0 to 1
	CreatedAt  Timestamp     `json:"created_at"`
	UpdatedAt  Timestamp     `json:"updated_at"`
	FinishedAt *Timestamp    `json:"finished_at"`
	Output     *Output       `json:"output"`
	Error      *Error        `json:"error"`
	Usage      *Usage        `json:"usage"`
	Metadata   task.Metadata `json:"metadata,omitempty"`   // of its creation
	RequestID  string        `json:"request_id,omitempty"` // this response's; absent within a list
}

// Artifact is a kept result file; URL is signed and expires before the artifact does.
type Artifact struct {
	ID          string    `json:"id"`
	URL         string    `json:"url"`
	ContentType string    `json:"content_type"`
	Bytes       int64     `json:"bytes"`
	SHA256      string    `json:"sha256"`
	Width       *int      `json:"width"`
	Height      *int      `json:"height"`
	Duration    *float64  `json:"duration_seconds"`
	ExpiresAt   Timestamp `json:"expires_at"`
}

// Usage is the measured work and its cost; the members that apply are present.
type Usage struct {
	Work
	Seconds json.Number `json:"seconds,omitempty"` // of video or audio
	Cost    Cost        `json:"cost"`
}

// Cost is an exact amount.
type Cost struct {
	Currency string `json:"currency"` // "USD"
	Amount   string `json:"amount"`   // decimal
}

// Estimate is the most that a request is charged, if it becomes a task.
type Estimate struct {
	Capability string    `json:"capability"`
	Mode       task.Mode `json:"mode"`
	AtMost     Cost      `json:"at_most"`
	RequestID  string    `json:"request_id"`
}

// CostOf is an amount on the wire.
func CostOf(m task.Money) Cost { return Cost{Currency: "USD", Amount: m.String()} }

// TaskList is a page of tasks, newest first; NextCursor is null at the end.
type TaskList struct {
	Data       []Task  `json:"data"`
	NextCursor *string `json:"next_cursor"`
	RequestID  string  `json:"request_id"`
}

// TaskInput is a task's request as its account keeps it: as it was posted, in canonical form and without the declaration
// about a person.
type TaskInput struct {
	TaskID     string          `json:"task_id"`
	Capability string          `json:"capability"`
	Input      json.RawMessage `json:"input"`
	Parameters json.RawMessage `json:"parameters"` // {} if it had no parameters
	KeptUntil  Timestamp       `json:"kept_until"`
	RequestID  string          `json:"request_id"`
}

// Timeline is the recorded states of a task with their times.
type Timeline struct {
	Data      []Move `json:"data"`
	TaskID    string `json:"task_id"`
	RequestID string `json:"request_id"`
}

// Move is one entry of a Timeline.
type Move struct {
	State task.State `json:"state"`
	At    Timestamp  `json:"at"`
}

// FromTask returns t as its owner may read it. urlOf makes the artifact's signed URL.
func FromTask(t task.Task, urlOf func(task.Artifact) string) Task {
	out := Task{
		ID: t.ID, Capability: t.Capability, Mode: t.Scope.Mode, State: t.State, Progress: t.Progress,
		CreatedAt: Timestamp{t.CreatedAt}, UpdatedAt: Timestamp{t.UpdatedAt},
		Output: fromOutput(t.Output, urlOf), Metadata: t.Metadata,
	}
	if t.FinishedAt != nil {
		out.FinishedAt = &Timestamp{*t.FinishedAt}
	}
	if t.Failure != nil {
		e := ErrorOf(t.Fault())
		out.Error = &e
	}
	switch {
	case t.Usage != nil:
		out.Usage = fromUsage(*t.Usage, t.Cost)
	case t.Cost != 0: // canceled, and charged without a measure
		out.Usage = fromUsage(task.Usage{}, t.Cost)
	}
	return out
}

// TimelineOf returns the recorded states of t.
func TimelineOf(t task.Task) Timeline {
	moves := make([]Move, 0, len(t.Timeline))
	for _, m := range t.Timeline {
		moves = append(moves, Move{State: m.State, At: Timestamp{m.At}})
	}
	return Timeline{Data: moves, TaskID: t.ID}
}

// Fault returns the error of a failed task, nil for any other.
func (t Task) Fault() *fault.Error {
	if t.Error == nil {
		return nil
	}
	return ErrorResponse{Error: *t.Error, TaskID: t.ID}.Fault()
}

func fromOutput(o *task.Output, urlOf func(task.Artifact) string) *Output {
	if o == nil {
		return nil
	}
	return &Output{JSON: o.Filled(func(a task.Artifact) []byte {
		var w jsonwrite.Writer
		w.Any(fromArtifact(a, urlOf))
		filled, _ := w.Bytes() // texts, numbers that were JSON, and times
		return filled
	})}
}

func fromArtifact(a task.Artifact, urlOf func(task.Artifact) string) Artifact {
	out := Artifact{
		ID: a.ID, URL: urlOf(a), ContentType: a.ContentType, Bytes: a.Bytes, SHA256: a.SHA256,
		ExpiresAt: Timestamp{a.ExpiresAt},
	}
	if a.Width > 0 && a.Height > 0 {
		out.Width, out.Height = &a.Width, &a.Height
	}
	if a.Duration > 0 {
		out.Duration = &a.Duration
	}
	return out
}

func fromUsage(u task.Usage, cost task.Money) *Usage {
	out := Usage{Work: WorkOf(u), Cost: CostOf(cost)}
	if u.Milliseconds > 0 {
		out.Seconds = json.Number(strconv.FormatFloat(float64(u.Milliseconds)/1000, 'f', -1, 64))
	}
	return &out
}
