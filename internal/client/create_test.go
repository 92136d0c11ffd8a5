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

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

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
						clienttest.WriteJSON(w, http.StatusOK, now())
						return
					}
					creates++
					keys[r.Header.Get(api.HeaderIdempotencyKey)] = true
					clienttest.WriteJSON(w, http.StatusAccepted, api.Task{ID: "task_1", State: task.Queued})
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
		c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) { clienttest.WriteJSON(w, http.StatusOK, failed) })
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
		clienttest.WriteJSON(w, http.StatusAccepted, want.Task)
	})
	got, err := c.Create(t.Context(), request(""), client.CreateOptions{IdempotencyKey: "my-own-key"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
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
