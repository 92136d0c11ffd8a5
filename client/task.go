package client

import (
	"encoding/json"
	"time"
)

// State is a task's state. It moves forward only, but for a failed task that is tried again.
type State string

// The states. The last three are terminal.
const (
	Queued       State = "queued"
	Running      State = "running"
	Transferring State = "transferring" // its result files are being taken over
	Succeeded    State = "succeeded"
	Failed       State = "failed"
	Canceled     State = "canceled"
)

// Terminal reports whether a task in this state has ended.
func (s State) Terminal() bool { return s == Succeeded || s == Failed || s == Canceled }

// Task is a task as an answer told it. Output is decoded as an Out.
type Task[Out any] struct {
	ID         string            `json:"id"`
	Capability string            `json:"capability"`
	Mode       string            `json:"mode"` // "live" or "test"
	State      State             `json:"state"`
	Progress   *float64          `json:"progress"` // 0 to 1
	CreatedAt  time.Time         `json:"created_at"`
	UpdatedAt  time.Time         `json:"updated_at"`
	FinishedAt *time.Time        `json:"finished_at"`
	Output     *Out              `json:"output"` // nil unless it succeeded
	Error      *Error            `json:"error"`  // nil unless it failed
	Usage      *Usage            `json:"usage"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	RequestID  string            `json:"request_id,omitempty"` // of this answer

	Replayed   bool          `json:"-"` // the key was known: this is the task that it made then
	RetryAfter time.Duration `json:"-"` // the advised pause before the next read; 0: no advice

	raw json.RawMessage
}

// Raw returns the task's JSON as the service wrote it; nil for a task that wasn't read from an answer.
func (t *Task[Out]) Raw() json.RawMessage { return t.raw }

// Err returns the error of a task that ended otherwise than well: nil, an *Error or ErrCanceled.
func (t *Task[Out]) Err() error {
	switch {
	case t.State == Canceled:
		return ErrCanceled
	case t.Error != nil:
		return t.Error
	default:
		return nil
	}
}

// Usage is the measured work and its cost. Counts that don't apply are 0.
type Usage struct {
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	Images       int64   `json:"images,omitempty"`
	Characters   int64   `json:"characters,omitempty"`
	Pages        int64   `json:"pages,omitempty"`
	Requests     int64   `json:"requests,omitempty"`
	Searches     int64   `json:"searches,omitempty"`
	Seconds      float64 `json:"seconds,omitempty"` // of video or audio

	// Parts of InputTokens.
	CachedInputTokens int64 `json:"cached_input_tokens,omitempty"`
	CacheWriteTokens  int64 `json:"cache_write_tokens,omitempty"`
	ImageInputTokens  int64 `json:"image_input_tokens,omitempty"`
	AudioInputTokens  int64 `json:"audio_input_tokens,omitempty"`

	// Parts of OutputTokens.
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
	ImageOutputTokens int64 `json:"image_output_tokens,omitempty"`
	AudioOutputTokens int64 `json:"audio_output_tokens,omitempty"`

	Cost Cost `json:"cost"`
}

// Cost is an exact amount.
type Cost struct {
	Currency string `json:"currency"` // "USD"
	Amount   string `json:"amount"`   // decimal
}

// revision is a task as the engine handles it: its head, and all of it as it was written.
type revision struct {
	head

	raw        json.RawMessage
	replayed   bool
	retryAfter time.Duration
}

type head struct {
	ID        string    `json:"id"`
	State     State     `json:"state"`
	UpdatedAt time.Time `json:"updated_at"`
	Progress  *float64  `json:"progress"`
	Error     *Error    `json:"error"`
	RequestID string    `json:"request_id"`
}

// UnmarshalJSON keeps the JSON.
func (r *revision) UnmarshalJSON(b []byte) error {
	r.raw = append(json.RawMessage{}, b...)
	return json.Unmarshal(b, &r.head)
}

// same reports whether two revisions say the same of a task.
func (r *revision) same(o *revision) bool {
	if r.ID != o.ID || r.State != o.State || !r.UpdatedAt.Equal(o.UpdatedAt) || (r.Progress == nil) != (o.Progress == nil) {
		return false
	}
	return r.Progress == nil || *r.Progress == *o.Progress
}

// failure returns the error of a failed task, nil for any other.
func (r *revision) failure() *Error {
	if r.Error == nil {
		return nil
	}
	e := *r.Error
	e.TaskID, e.RequestID = r.ID, r.RequestID
	return &e
}

// err returns the error of a task that ended otherwise than well.
func (r *revision) err() error {
	if e := r.failure(); e != nil {
		return e
	}
	if r.State == Canceled {
		return ErrCanceled
	}
	return nil
}

// taskOf decodes a revision.
func taskOf[Out any](r *revision) (*Task[Out], error) {
	t := &Task[Out]{raw: r.raw, Replayed: r.replayed, RetryAfter: r.retryAfter}
	if err := json.Unmarshal(r.raw, t); err != nil {
		return t, &Error{Code: CodeInternal, Message: "the task " + r.ID + " isn't of the expected form", TaskID: r.ID, cause: err}
	}
	if t.Error != nil {
		t.Error.TaskID, t.Error.RequestID = t.ID, t.RequestID
	}
	return t, nil
}

// revisionOf returns what is known of a task that is to be read on.
func (t *Task[Out]) revision() *revision {
	h := head{ID: t.ID, State: t.State, UpdatedAt: t.UpdatedAt, Progress: t.Progress, Error: t.Error, RequestID: t.RequestID}
	return &revision{head: h, raw: t.raw, replayed: t.Replayed, retryAfter: t.RetryAfter}
}
