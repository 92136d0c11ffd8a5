// Package clienttest is the service as the tests of the two client packages see it: a transport that answers in the
// caller's goroutine, and answers and streams in the API's form.
package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/sse"
)

// ErrReset is the end of a connection.
var ErrReset = errors.New("connection reset")

// RoundTripper answers in the caller's goroutine, so that synctest owns all of time.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Serve has a handler answer.
func Serve(h http.HandlerFunc) RoundTripper {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h(w, r)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return w.Result(), nil
	}
}

// WriteJSON writes an answer.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// WriteFault writes an error as the API does; one that may be retried says so for a second.
func WriteFault(w http.ResponseWriter, e *fault.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", "1")
	}
	WriteJSON(w, api.Status(e), api.ErrorResponse{Error: api.ErrorOf(e), TaskID: e.TaskID, RequestID: "req_1"})
}

// Event returns one event of a stream as it is sent.
func Event(t testing.TB, name string, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(sse.Append(nil, name, raw))
}

// Body is a stream's: pieces with a pause before each, then the end.
type Body struct {
	Pieces []string
	Pause  time.Duration
	End    error
	Eager  bool            // no pause before the first
	Ctx    context.Context //nolint:containedctx // the request's, as a connection has it
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if len(b.Pieces) == 0 {
		return 0, b.End
	}
	if !b.Eager {
		select {
		case <-time.After(b.Pause):
		case <-b.Ctx.Done():
			return 0, context.Cause(b.Ctx)
		}
	}
	b.Eager = false
	n := copy(p, b.Pieces[0])
	if b.Pieces[0] = b.Pieces[0][n:]; b.Pieces[0] == "" {
		b.Pieces = b.Pieces[1:]
	}
	return n, nil
}

// Close implements io.Closer.
func (b *Body) Close() error { return nil }
