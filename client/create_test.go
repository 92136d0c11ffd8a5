package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/client/clienttest"

	"unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

func TestCreateRetries(t *testing.T) {
	lost := clienttest.RoundTripper(func(*http.Request) (*http.Response, error) { return nil, clienttest.ErrReset })
	refuse := func(e *fault.Error) clienttest.RoundTripper {
		return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) { clienttest.WriteFault(w, e) })
	}
	final := fault.New(fault.ProviderTimeout, "too late")
	final.Final = true
	tests := []struct {
		name     string
		failing  clienttest.RoundTripper
		failures int
		want     fault.Code // of the error; "" for success
		requests int
		least    time.Duration
	}{
		{"at once", lost, 0, "", 1, 0},
		{"lost connections", lost, 3, "", 4, 0},
		{"lost for good", lost, 99, fault.Internal, 6, 0},
		{"full, with advice", refuse(fault.New(fault.CapacityExhausted, "full").WithRetryAfter(4 * time.Second)), 2, "", 3, 8 * time.Second},
		{"a task that fails and fails", refuse(fault.New(fault.ProviderTimeout, "late").WithTask("task_1")), 99, fault.ProviderTimeout, 3, 0},
		{"advice that adds up", refuse(fault.New(fault.CapacityExhausted, "full").WithRetryAfter(50 * time.Second)), 99, fault.CapacityExhausted, 4, 150 * time.Second},
		{"timed out", refuse(fault.New(fault.ProviderTimeout, "late").WithRetryAfter(time.Second)), 1, "", 2, time.Second},
		{"an advice over a minute", refuse(fault.New(fault.RateLimitExceeded, "budget").WithRetryAfter(time.Hour)), 99, fault.RateLimitExceeded, 1, 0},
		{"past its last reopening", refuse(final), 99, fault.ProviderTimeout, 1, 0},
		{"a wrong request", refuse(fault.Invalid("input", "is wrong")), 99, fault.InvalidRequest, 1, 0},
		{"a conflict", refuse(fault.New(fault.IdempotencyConflict, "another request")), 99, fault.IdempotencyConflict, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := map[string]int{}
				requests := 0
				transport := clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
					requests++
					keys[r.Header.Get(api.HeaderIdempotencyKey)]++
					if requests <= tt.failures {
						return tt.failing(r)
					}
					return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
						clienttest.WriteJSON(w, http.StatusOK, api.Task{ID: "task_1", State: task.Succeeded})
					})(r)
				})
				started := time.Now()
				c := over(t, transport)
				_, err := client.Submit(t.Context(), c, request())
				if got := codeOf(err); got != tt.want {
					t.Errorf("error %v, want code %q", err, tt.want)
				}
				if requests != tt.requests || len(keys) != 1 {
					t.Errorf("%d requests under %d keys, want %d under 1", requests, len(keys), tt.requests)
				}
				if took := time.Since(started); took < tt.least || took > tt.least+time.Minute {
					t.Errorf("took %v, want at least %v and not a minute more", took, tt.least)
				}
			})
		})
	}
}

func TestCreateStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
			clienttest.WriteFault(w, fault.New(fault.CapacityExhausted, "full").WithRetryAfter(5*time.Second))
		})
		started := time.Now()
		_, err := client.Submit(ctx, c, request())
		if took := time.Since(started); took != 100*time.Millisecond || err == nil {
			t.Errorf("ended after %v with %v, want an error after 100ms", took, err)
		}
	})
}

func TestNewIdempotencyKey(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[client.NewIdempotencyKey()] = true
	}
	for key := range seen {
		if len(key) != 32 {
			t.Errorf("key %q has %d characters, want 32 hexadecimal ones", key, len(key))
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d different keys of 100", len(seen))
	}
}

// TestRunReopens: a task that fails is tried again under its key, twice at most; its last failure is the error.
func TestRunReopens(t *testing.T) {
	for _, tt := range []struct {
		failures int
		final    bool
		want     fault.Code
		creates  int
	}{
		{0, false, "", 1}, {1, false, "", 2}, {2, false, "", 3}, {9, false, fault.ProviderTimeout, 3}, {1, true, fault.ProviderTimeout, 1},
	} {
		t.Run(fmt.Sprintf("%d failures, final %v", tt.failures, tt.final), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				creates, keys := 0, map[string]bool{}
				c := overHandler(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						creates++
						keys[r.Header.Get(api.HeaderIdempotencyKey)] = true
						clienttest.WriteJSON(w, http.StatusAccepted, api.Task{ID: "task_1", State: task.Queued})
						return
					}
					now := api.Task{ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("done")}}
					if creates <= tt.failures {
						f := fault.New(fault.ProviderTimeout, "late").WithRetryAfter(2 * time.Second)
						f.Final = tt.final
						now = api.Task{ID: "task_1", State: task.Failed, Error: new(api.ErrorOf(f))}
					}
					clienttest.WriteJSON(w, http.StatusOK, now)
				})
				got, err := client.Run(t.Context(), c, request())
				if codeOf(err) != tt.want || creates != tt.creates || len(keys) != 1 || got.ID != "task_1" {
					t.Errorf("%+v, %v, after %d creations under %d keys; want %q after %d under 1", got, err, creates, len(keys), tt.want, tt.creates)
				}
				if e, failed := errors.AsType[*client.Error](err); failed && (e.TaskID != "task_1" || e.Status != 0 || got.Err() == nil) {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}
