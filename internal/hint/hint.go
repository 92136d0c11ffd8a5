// Package hint has the errors that come with a next step: a command to give, a setting to change.
package hint

// RefusedKey is how commands and the dashboard say that the service refuses the key that it was called with: the
// service's own words, which show how a key is sent, are for programs.
const RefusedKey = "the service doesn't take this key: it is mistyped, unknown, revoked or expired"

// Error is an error with the step that resolves it.
type Error struct {
	Err  error
	Hint string // a command, or a sentence
}

// With adds a step to an error.
func With(err error, hint string) error { return &Error{err, hint} }

// Error returns the text of Err.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// UsageError is a command line that can't be carried out as written.
type UsageError struct {
	Message string
	Hint    string // the next command, "" for the command's help
}

// Error returns the message.
func (e *UsageError) Error() string { return e.Message }
