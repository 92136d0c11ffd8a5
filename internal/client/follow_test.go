package client_test

import (
	"io"
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

// TestFollow: a task that ends, however, is the answer, and what is retried meanwhile is told with a code.
func TestFollow(t *testing.T) {
	failure := api.ErrorOf(fault.New(fault.ProviderTimeout, "late"))
	for name, ended := range map[string]api.Task{
		"succeeded": {ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("hi")}},
		"failed":    {ID: "task_1", State: task.Failed, Error: &failure},
		"canceled":  {ID: "task_1", State: task.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := 0
				answer := clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
					switch reads {
					case 1:
						clienttest.WriteJSON(w, http.StatusOK, api.Task{ID: "task_1", State: task.Running})
					case 2:
						clienttest.WriteFault(w, fault.New(fault.CapacityExhausted, "full"))
					default:
						clienttest.WriteJSON(w, http.StatusOK, ended)
					}
				})
				var told []fault.Code
				c := mustClient(t, client.Config{
					HTTPClient: &http.Client{Transport: clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
						reads++
						return answer(r)
					})},
					OnRetry: func(r client.Retry) { told = append(told, fault.CodeOf(r.Err)) },
				})
				var seen []task.State
				see := func(now api.Task) { seen = append(seen, now.State) }
				got, err := c.FollowCreated(t.Context(), client.Created{Task: api.Task{ID: "task_1", State: task.Queued}, RetryAfter: time.Second}, see)
				if err != nil || got.State != ended.State || (got.Error == nil) != (ended.Error == nil) || (got.Output == nil) != (ended.Output == nil) {
					t.Errorf("%+v, %v", got, err)
				}
				if diff := cmp.Diff([]task.State{task.Queued, task.Running, ended.State}, seen); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]fault.Code{fault.CapacityExhausted}, told); diff != "" {
					t.Errorf("retries (-want +got):\n%s", diff)
				}
				if got, err = c.Follow(t.Context(), "task_1", nil); err != nil || got.State != ended.State {
					t.Errorf("%+v, %v", got, err)
				}
				before := reads
				if _, err = c.FollowCreated(t.Context(), client.Created{Task: ended}, nil); err != nil || reads != before {
					t.Errorf("an ended task is read: %v", err)
				}
			})
		})
	}
}

// TestDownloadsCode: an artifact that is gone is an answer of the service.
func TestDownloadsCode(t *testing.T) {
	c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		clienttest.WriteFault(w, fault.New(fault.NotFound, "gone"))
	})
	err := c.Download(t.Context(), api.Artifact{ID: "art_1", URL: "/artifacts/art_1"}, io.Discard)
	if fault.CodeOf(err) != fault.NotFound || client.RequestID(err) != "req_1" {
		t.Errorf("%v", err)
	}
}
