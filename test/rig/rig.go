// Package rig is the shared part of the tests that assemble the service: values that have to be there, and a log that
// is read while it is written. It doesn't know the service.
package rig

import (
	"bytes"
	"sync"
	"testing"
)

// Must returns a function that returns v, or ends the test if err isn't nil.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}

// Log is a text that is written and read at once. Its zero value is empty; it is safe for concurrent use.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
