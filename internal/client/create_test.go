package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

var errReset = errors.New("connection reset")

func TestCreateRetries(t *testing.T) {
	lost := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errReset })
	refuse := func(e *fault.Error) roundTripper {
		return serve(func(w http.ResponseWriter, _ *http.Request) { writeFault(w, e) })
	}
	final := fault.New(fault.ProviderTimeout, "too late")
	final.Final = true
	tests := []struct {
		name     string
		failing  roundTripper
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
				transport := roundTripper(func(r *http.Request) (*http.Response, error) {
					requests++
					keys[r.Header.Get(api.HeaderIdempotencyKey)]++
					if requests <= tt.failures {
						return tt.failing(r)
					}
					return serve(func(w http.ResponseWriter, _ *http.Request) {
						writeJSON(w, http.StatusOK, api.Task{ID: "task_1", State: task.Succeeded})
					})(r)
				})
				started := time.Now()
				c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: transport}})
				_, err := c.Create(t.Context(), request("text.chat"), client.CreateOptions{})
				if got := fault.CodeOf(err); got != tt.want {
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

// TestFinishReopens: a task that is done elsewhere and fails is tried again under its key, twice at most
// and told each time.
func TestFinishReopens(t *testing.T) {
	for _, tt := range []struct {
		name     string
		failures int
		final    bool
		want     task.State
		creates  int
		told     []string
	}{
		{"none", 0, false, task.Succeeded, 1, nil},
		{"one", 1, false, task.Succeeded, 2, []string{"2 of 3"}},
		{"two", 2, false, task.Succeeded, 3, []string{"2 of 3", "3 of 3"}},
		{"more", 9, false, task.Failed, 3, []string{"2 of 3", "3 of 3"}},
		{"one that is final", 1, true, task.Failed, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				creates, keys := 0, map[string]bool{}
				now := func() api.Task {
					if creates > tt.failures {
						return api.Task{ID: "task_1", State: task.Succeeded}
					}
					f := fault.New(fault.ProviderTimeout, "late").WithRetryAfter(2 * time.Second)
					f.Final = tt.final
					return api.Task{ID: "task_1", State: task.Failed, Error: new(api.ErrorOf(f))}
				}
				c := overHandler(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						writeJSON(w, http.StatusOK, now())
						return
					}
					creates++
					keys[r.Header.Get(api.HeaderIdempotencyKey)] = true
					writeJSON(w, http.StatusAccepted, api.Task{ID: "task_1", State: task.Queued})
				})
				var told []string
				var last api.Task
				got, err := c.Finish(t.Context(), request(""), client.CreateOptions{OnRetry: func(r client.Retry) {
					told = append(told, fmt.Sprintf("%d of %d", r.Try, r.Tries))
				}}, func(now api.Task) { last = now })
				if err != nil || got.State != tt.want || last.State != tt.want || creates != tt.creates || len(keys) != 1 {
					t.Errorf("%s, %v, after %d creations under %d keys; want %s after %d under 1", got.State, err, creates, len(keys), tt.want, tt.creates)
				}
				if diff := cmp.Diff(tt.told, told); diff != "" {
					t.Errorf("retries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFinishInterrupted: between two tries the failure is the answer.
func TestFinishInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		failed := api.Task{ID: "task_1", State: task.Failed, Error: new(api.ErrorOf(fault.New(fault.ProviderTimeout, "late")))}
		c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, failed) })
		got, err := c.Finish(ctx, request(""), client.CreateOptions{OnRetry: func(client.Retry) { cancel() }}, nil)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.TaskID != "task_1" || got.State != task.Failed {
			t.Errorf("%+v, %v, want the failed task and its error", got, err)
		}
	})
}

func TestCreateAnswer(t *testing.T) {
	want := client.Created{Task: api.Task{ID: "task_1", State: task.Queued}, Replayed: true, RetryAfter: 3 * time.Second}
	c := overHandler(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(api.HeaderIdempotentReplay, "true")
		w.Header().Set("Retry-After", "3")
		writeJSON(w, http.StatusAccepted, want.Task)
	})
	got, err := c.Create(t.Context(), request(""), client.CreateOptions{IdempotencyKey: "my-own-key"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
}

func TestCreateStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
			writeFault(w, fault.New(fault.CapacityExhausted, "full").WithRetryAfter(5*time.Second))
		})
		started := time.Now()
		_, err := c.Create(ctx, request(""), client.CreateOptions{})
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

// request is the JSON of a request without an input.
func request(capability string) []byte {
	raw, err := json.Marshal(api.CreateRequest{Capability: capability, Input: []byte(`{}`)})
	if err != nil {
		panic(err)
	}
	return raw
}
