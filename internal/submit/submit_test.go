package submit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/secret"
	"unitask/internal/submit"
)

// TestSubmit: a request is in the journal before it is sent, and stays there until it is
// known that the service has it or never will.
func TestSubmit(t *testing.T) {
	const accepted = `{"id":"task_06gztwr81bcb6csfsxswat9e1m","capability":"text.chat","state":"queued","mode":"test"}`
	const refusal = `{"error":{"code":"INVALID_REQUEST","message":"no","retryable":false},"request_id":"req_06gztwr81bcb6csfsxswat9e1m"}`
	for name, c := range map[string]struct {
		status int // 0: the connection ends without an answer
		body   string
		left   int
	}{
		"taken":   {http.StatusAccepted, accepted, 0},
		"refused": {http.StatusBadRequest, refusal, 0},
		"lost":    {0, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			entries := journal.Open(t.TempDir())
			var before []string
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			service := newService(t, entries, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				before, _ = entries.List()
				if c.status == 0 {
					cancel() // as the user does who leaves
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			req := api.CreateRequest{Capability: "text.chat", Input: []byte(`{"prompt":"hello"}`)}
			_, err := service.Submit(ctx, req, "a-key-of-its-own", time.Second)
			if (err == nil) != (c.status == http.StatusAccepted) {
				t.Errorf("Submit: %v", err)
			}
			left, listErr := entries.List()
			if len(before) != 1 || len(left) != c.left || listErr != nil {
				t.Errorf("while it was sent %v, afterwards %v (%v); want one, then %d", before, left, listErr, c.left)
			}
			for _, id := range left {
				e, err := entries.Take(id)
				if err != nil {
					t.Fatalf("the entry is held: %v", err)
				}
				if e.Key != "a-key-of-its-own" {
					t.Errorf("its key is %q", e.Key)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// newService returns a client of a service that answers as said.
func newService(t *testing.T, entries *journal.Journal, answer http.HandlerFunc) *submit.Service {
	t.Helper()
	upstream := httptest.NewServer(answer)
	t.Cleanup(upstream.Close)
	key := func(context.Context) (secret.Value, error) { return secret.New("svc_test_x"), nil }
	c, err := client.New(client.Config{BaseURL: upstream.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return &submit.Service{Client: c, Key: key, Journal: entries}
}

// TestWaitEndsBeforeTheNextTry: a task that is known to have failed is tried again by its id.
func TestWaitEndsBeforeTheNextTry(t *testing.T) {
	const id = "task_06gztwr81bcb6csfsxswat9e1m"
	entries := journal.Open(t.TempDir())
	service := newService(t, entries, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"error":{"code":"PROVIDER_UNAVAILABLE","message":"no","retryable":true,"retry_after_seconds":30},"task_id":"`+id+`","request_id":"req_06gztwr81bcb6csfsxswat9e1m"}`)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s, err := service.Begin(ctx, journal.Submission{Key: "a-key-of-its-own", Body: []byte(`{"capability":"text.chat","input":{"prompt":"hello"}}`)}, func(api.Task) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Finish(ctx, client.CreateOptions{OnRetry: func(client.Retry) { cancel(submit.ErrTimeout) }})
	err = s.Settle(err)
	next, _ := errors.AsType[*hint.Error](err)
	if !errors.Is(err, submit.ErrTimeout) || next == nil || next.Hint != "unitask tasks retry "+id {
		t.Errorf("Settle: %v, hint %+v", err, next)
	}
	name, err := submit.Find(entries, id)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	e, err := entries.Take(name)
	if err != nil || !e.Failed || e.TaskID != id {
		t.Fatalf("the entry: %+v, %v", e, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
