package api

import (
	"unitask/internal/fault"
	"unitask/internal/task"
)

// LogEvent is an answered request or an ended task, as it came: one of Request and Task is set.
type LogEvent struct {
	At      Timestamp      `json:"at"` // of its end
	Request *RequestRecord `json:"request,omitempty"`
	Task    *TaskEnd       `json:"task,omitempty"`
}

// TaskEnd is how a task ended: never an input, never an output.
type TaskEnd struct {
	ID         string     `json:"id"`
	Account    string     `json:"account"` // its id
	KeyID      string     `json:"key_id,omitempty"`
	Capability string     `json:"capability"`
	Mode       task.Mode  `json:"mode"`
	State      task.State `json:"state"`
	Code       fault.Code `json:"code,omitempty"`
	Supplier   string     `json:"supplier,omitempty"` // of the last attempt
	Attempts   int        `json:"attempts"`
	Cost       string     `json:"cost"` // decimal USD, the caller's charge
	DurationMS float64    `json:"duration_ms"`
}

// LogPage is the events since a cursor, oldest first.
type LogPage struct {
	Data      []LogEvent `json:"data"`
	Missed    int64      `json:"missed,omitempty"` // events that came too fast to be remembered
	Next      string     `json:"next"`             // the cursor of the next call
	RequestID string     `json:"request_id,omitempty"`
}
