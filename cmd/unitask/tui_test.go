package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/journal"
	"unitask/internal/secret"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/internal/tui"
)

// TestDashboardJournals: the dashboard's requests are in the journal before they are sent, and stay there until it is
// known that the service has them or never will.
func TestDashboardJournals(t *testing.T) {
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
			t.Setenv("UNITASK_STATE_DIR", t.TempDir())
			entries := journal.Open(journal.StateDir())
			var before []string
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cl := newDashboardClient(t, func(w http.ResponseWriter, r *http.Request) {
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
			key := func(context.Context) (secret.Value, error) { return secret.New("svc_test_x"), nil }
			service := tuiService{cl, client.Target{}, "", client.Credential{Key: key}}
			req := api.CreateRequest{Capability: "text.chat", Input: []byte(`{"prompt":"hello"}`)}
			_, err := service.Create(ctx, req, "a-key-of-its-own", time.Second)
			if (err == nil) != (c.status == http.StatusAccepted) {
				t.Errorf("Create: %v", err)
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

// TestDashboardLists: the dashboard's queries for pages reach the service unchanged.
func TestDashboardLists(t *testing.T) {
	var asked []string
	cl := newDashboardClient(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		next := `"task_06gztwr81bcb6csfsxswat9e1m"`
		if r.URL.Query().Has("cursor") {
			next = "null"
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"task_06gztwr81bcb6csfsxswat9e1n","state":"failed"}],"next_cursor":`+next+`}`)
	})
	service := tuiService{c: cl}
	q := tui.Query{State: task.Failed, Capability: "text.chat"}
	first, err := service.List(t.Context(), q, "", 50)
	if err != nil || len(first.Tasks) != 1 {
		t.Fatalf("List: %+v, %v", first, err)
	}
	last, err := service.List(t.Context(), q, first.Next, 200)
	if err != nil || last.Next != "" {
		t.Errorf("List: %+v, %v", last, err)
	}
	want := []string{
		"capability=text.chat&limit=50&state=failed",
		"capability=text.chat&cursor=task_06gztwr81bcb6csfsxswat9e1m&limit=200&state=failed",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// newDashboardClient returns a client of a service that answers as said.
func newDashboardClient(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	upstream := httptest.NewServer(answer)
	t.Cleanup(upstream.Close)
	key := func(context.Context) (secret.Value, error) { return secret.New("svc_test_x"), nil }
	c, err := client.New(client.Config{BaseURL: upstream.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDashboardHints: an error in the dashboard leads to the hint that the other commands print.
func TestDashboardHints(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		hint   string
	}{
		"refused key":      {answer(http.StatusUnauthorized, `{"error":{"code":"UNAUTHENTICATED","message":"no"}}`), "unitask whoami shows"},
		"refused request":  {answer(http.StatusBadRequest, `{"error":{"code":"INVALID_REQUEST","message":"no"}}`), "unitask capabilities"},
		"another server":   {answer(http.StatusNotFound, "<html>"), "check --base-url, UNITASK_BASE_URL or the profile"},
		"nobody listening": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "unitask serve starts the service here"},
	} {
		t.Run(name, func(t *testing.T) {
			service := tuiService{c: newDashboardClient(t, tt.answer)}
			_, err := service.Capabilities(t.Context())
			if got := dashboardHint(err); !strings.HasPrefix(got, tt.hint) {
				t.Errorf("hint of %v: %q, want %q", err, got, tt.hint)
			}
		})
	}
	t.Run("no journal", func(t *testing.T) {
		t.Setenv("UNITASK_STATE_DIR", "/dev/null")
		key := func(context.Context) (secret.Value, error) { return secret.New("svc_test_x"), nil }
		service := tuiService{c: newDashboardClient(t, answer(http.StatusOK, "")), credential: client.Credential{Key: key}}
		_, err := service.Create(t.Context(), api.CreateRequest{Capability: "text.chat"}, "a-key-of-its-own", 0)
		if _, ok := errors.AsType[*tui.Error](err); !ok || dashboardHint(err) != "UNITASK_STATE_DIR names a folder for it" {
			t.Errorf("%T %v: %q", err, err, dashboardHint(err))
		}
	})
}

// TestDashboardFollows: a stream is handed on event by event, and a service without streams tells the task.
func TestDashboardFollows(t *testing.T) {
	const running, ended = `{"id":"task_1","state":"running"}`, `{"id":"task_1","state":"succeeded"}`
	for name, tt := range map[string]struct {
		kind, body string
		want       []string
	}{
		"by a stream": {
			sse.ContentType,
			"event: task\ndata: " + running + "\n\nevent: delta\ndata: {\"text\":\"one\"}\n\nevent: task\ndata: " + ended + "\n\n",
			[]string{"running ", " one", "succeeded "},
		},
		"broken off":     {sse.ContentType, "event: task\ndata: " + running + "\n\n", []string{"running "}},
		"without stream": {"application/json", ended, []string{"succeeded "}},
		"refused":        {"application/json", `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			service := tuiService{c: newDashboardClient(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.want == nil {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = io.WriteString(w, tt.body)
			})}
			var got []string
			for e := range service.Follow(t.Context(), "task_1") {
				got = append(got, string(e.Task.State)+" "+e.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
