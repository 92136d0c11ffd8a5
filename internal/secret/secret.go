// Package secret keeps secrets out of output, and reads them from the places that the operator names.
//
// A Value prints as "[redacted]" whatever prints it; Reveal is the one way to its text, so every use can be searched
// for. A Ref is the place of a secret: "env:NAME", "file:/path" or "keyring:service/name". A configuration holds
// references only, and another text is refused without being repeated. A Keyring is the operating system's own or, if
// a person wants that, a folder of files that a passphrase encrypts. The package never writes a secret in clear and
// never asks at a terminal.
package secret

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// The kinds of failure; an *Error carries one of them, and a hint for the person at the terminal.
var (
	ErrNotFound   = errors.New("no such secret")
	ErrNoKeyring  = errors.New("no usable keyring on this system")
	ErrLocked     = errors.New("the keyring is locked")
	ErrTooLong    = errors.New("the secret is too long for this keyring")
	ErrPassphrase = errors.New("the passphrase is missing or wrong")
	ErrUnsafe     = errors.New("the secret's file is not safe to use")
	ErrNotRef     = errors.New("not a reference to a secret")
)

// Error is a failure to find or keep a secret. It never holds the secret.
type Error struct {
	Kind    error  // one of the Err variables
	Message string // the error, with the name of the place, never its content
	Hint    string // the next step, "" without one
	cause   error
}

// Error returns the message, and the cause if there is one.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// Value is a secret text. It redacts itself for fmt, slog, JSON and every text encoder. The zero Value is the absent
// secret. Compare with Equal: == compares addresses.
type Value struct {
	// fmt can't call the methods of a Value in another struct's unexported field and prints its fields; of a pointer
	// inside a struct it prints the address alone.
	text *string
}

// New returns text as a Value.
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{text: &text}
}

// Reveal returns the secret itself, to be handed on at once and never kept, logged or wrapped.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// IsZero reports whether the secret is absent.
func (v Value) IsZero() bool { return v.text == nil }

// Equal reports in constant time whether two secrets of one length are the same.
func (v Value) Equal(other Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(other.Reveal())) == 1
}

// Format writes the redaction for every verb and flag.
func (v Value) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// String returns the redaction.
func (v Value) String() string { return redacted }

// GoString returns the redaction.
func (v Value) GoString() string { return redacted }

// LogValue returns the redaction.
func (v Value) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns the redaction.
func (v Value) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns the redaction as a JSON string.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
