package door

import (
	"bytes"
	"strings"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Call is a request that a door has read.
type Call interface {
	// Explain returns an error of the gateway's about the call in terms of the caller's request.
	Explain(err error) *fault.Error
	// Write writes a task in the form that the call asks for.
	Write(w *jsonwrite.Writer, t *task.Task) error
	// Events returns the writer of the task's stream.
	Events() Events
}

// Events writes a task's stream in the form that its call asks for. Its methods append to b; one goroutine uses it.
type Events interface {
	// Begin tells the task as it is: at first, and when it changes before its end.
	Begin(b []byte, t *task.Task) []byte
	// Piece tells a piece of the answer.
	Piece(b []byte, t *task.Task, d api.Delta) []byte
	// Beat keeps the connection while the task has no news.
	Beat(b []byte) []byte
	// End tells the end of a task that succeeded, and the whole answer if no piece of it was told.
	End(b []byte, t *task.Task) ([]byte, error)
	// Fail tells an error that cuts the stream short; t is the task as it was told last.
	Fail(b []byte, t *task.Task, e *fault.Error, requestID string) []byte
}

// Message returns the words of an error for users of a library, who send no Idempotency-Key.
func Message(e *fault.Error) string {
	return strings.ReplaceAll(e.Message, " with the same key", "")
}

// escaped are the characters that a text of JSON has in another form.
const escaped = "\"\\" + "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"

// IsPlain reports whether a text, which is UTF-8, stands in JSON as it is.
func IsPlain(text []byte) bool { return !bytes.ContainsAny(text, escaped) }
