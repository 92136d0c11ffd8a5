package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/secret"
	"unitask/internal/task"
)

const testKey = "svc_test_0123456789"

func mustClient(t *testing.T, c client.Config) *client.Client {
	t.Helper()
	if c.BaseURL == "" {
		c.BaseURL = "http://service.test/base/"
	}
	if c.Key == nil {
		c.Key = func(context.Context) (secret.Value, error) { return secret.New(testKey), nil }
	}
	made, err := client.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func overHandler(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	return mustClient(t, client.Config{HTTPClient: &http.Client{Transport: clienttest.Serve(h)}})
}

// sent is a request of the client on the wire.
type sent struct {
	Method, URL, Authorization, Prefer, IfNoneMatch, ContentType string
}

func TestRequests(t *testing.T) {
	tests := []struct {
		name string
		call func(context.Context, *client.Client) error
		want sent
	}{
		{
			"capabilities",
			func(ctx context.Context, c *client.Client) error { _, err := c.Capabilities(ctx); return err },
			sent{Method: "GET", URL: "/base/api/ai/v1/capabilities"},
		},
		{
			"get",
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Get(ctx, "task_1", client.GetOptions{ETag: `W/"7"`, Wait: 3900 * time.Millisecond})
				return err
			},
			sent{Method: "GET", URL: "/base/api/ai/v1/tasks/task_1", Prefer: "wait=3", IfNoneMatch: `W/"7"`},
		},
		{
			"an id stays one segment",
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Get(ctx, "a/b?c", client.GetOptions{})
				return err
			},
			sent{Method: "GET", URL: "/base/api/ai/v1/tasks/a%2Fb%3Fc"},
		},
		{
			"list",
			func(ctx context.Context, c *client.Client) error {
				_, err := c.List(ctx, client.ListOptions{State: task.Queued, Capability: "text.chat", Limit: 7, Cursor: "a b"})
				return err
			},
			sent{Method: "GET", URL: "/base/api/ai/v1/tasks?capability=text.chat&cursor=a+b&limit=7&state=queued"},
		},
		{
			"list by metadata",
			func(ctx context.Context, c *client.Client) error {
				_, err := c.List(ctx, client.ListOptions{Metadata: &task.Metadata{"team": "a & b", "user": ""}})
				return err
			},
			sent{Method: "GET", URL: "/base/api/ai/v1/tasks?metadata.team=a+%26+b&metadata.user="},
		},
		{
			"cancel",
			func(ctx context.Context, c *client.Client) error { _, err := c.Cancel(ctx, "task_1"); return err },
			sent{Method: "POST", URL: "/base/api/ai/v1/tasks/task_1/cancel"},
		},
		{
			"timeline",
			func(ctx context.Context, c *client.Client) error { _, err := c.Timeline(ctx, "task_1"); return err },
			sent{Method: "GET", URL: "/base/api/ai/v1/tasks/task_1/timeline"},
		},
		{
			"input",
			func(ctx context.Context, c *client.Client) error { _, err := c.Input(ctx, "task_1"); return err },
			sent{Method: "GET", URL: "/base/api/ai/v1/tasks/task_1/input"},
		},
		{
			"create",
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Create(ctx, request("text.chat"),
					client.CreateOptions{Wait: new(2 * time.Minute)})
				return err
			},
			sent{Method: "POST", URL: "/base/api/ai/v1/tasks", Prefer: "wait=60", ContentType: "application/json"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got sent
			c := overHandler(t, func(w http.ResponseWriter, r *http.Request) {
				h := r.Header
				got = sent{r.Method, r.URL.RequestURI(), h.Get("Authorization"), h.Get("Prefer"), h.Get("If-None-Match"), h.Get("Content-Type")}
				clienttest.WriteJSON(w, http.StatusOK, struct{}{})
			})
			if err := tt.call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			tt.want.Authorization = "Bearer " + testKey
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    *client.Error
	}{
		{
			"the service's own",
			func(w http.ResponseWriter, _ *http.Request) {
				clienttest.WriteFault(w, fault.Invalid("input.prompt", "is required"))
			},
			&client.Error{Fault: fault.Invalid("input.prompt", "is required"), Status: 400, RequestID: "req_1"},
		},
		{
			"a proxy's page",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(api.HeaderRequestID, "req_2")
				w.WriteHeader(http.StatusBadGateway)
				_, _ = w.Write([]byte("<html>bad gateway"))
			},
			&client.Error{Fault: fault.New(fault.ProviderUnavailable, foreignText("502")), Status: 502, RequestID: "req_2", Foreign: true},
		},
		{
			"another server",
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
			&client.Error{Fault: fault.New(fault.InvalidRequest, foreignText("200")), Status: 200, Foreign: true},
		},
		{
			"a redirect",
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://elsewhere.test/", http.StatusTemporaryRedirect)
			},
			&client.Error{Fault: fault.New(fault.InvalidRequest, foreignText("307")), Status: 307, Foreign: true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			_, err := overHandler(t, func(w http.ResponseWriter, r *http.Request) {
				calls++
				tt.handler(w, r)
			}).Capabilities(t.Context())
			got, ok := errors.AsType[*client.Error](err)
			if !ok {
				t.Fatalf("error %v, want a *client.Error", err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(fault.Error{})); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if calls != 1 {
				t.Errorf("%d requests, want 1", calls)
			}
			if strings.Contains(err.Error(), testKey) {
				t.Error("the error holds the key")
			}
		})
	}
}

func foreignText(status string) string {
	return "the answer (HTTP " + status + ") doesn't come from this service; is the base URL right?"
}

func TestRenew(t *testing.T) {
	keys := []string{}
	renew := func(context.Context) (secret.Value, error) { return secret.New("fresh"), nil }
	refuseOld := func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer fresh" {
			clienttest.WriteFault(w, fault.New(fault.Unauthenticated, "no"))
			return
		}
		clienttest.WriteJSON(w, http.StatusOK, api.CapabilityList{})
	}
	c := mustClient(t, client.Config{Renew: renew, HTTPClient: &http.Client{Transport: clienttest.Serve(refuseOld)}})
	if _, err := c.Capabilities(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bearer " + testKey, "Bearer fresh"}, keys); diff != "" {
		t.Errorf("keys sent (-want +got):\n%s", diff)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := mustClient(t, client.Config{BaseURL: server.URL})
	_, err := c.Capabilities(t.Context())
	got, ok := errors.AsType[*client.UnreachableError](err)
	if !ok || got.Where != server.URL {
		t.Errorf("error %v, want an *UnreachableError at %s", err, server.URL)
	}
}

func TestParseBaseURL(t *testing.T) {
	tests := []struct{ text, want string }{
		{"http://127.0.0.1:8420", "http://127.0.0.1:8420"},
		{"https://ai.example/path//", "https://ai.example/path"},
		{"ai.example:8420", ""},
		{"ftp://ai.example", ""},
		{"http://", ""},
		{"https://user:secret@ai.example", ""},
		{"https://ai.example?key=1", ""},
		{"https://ai.example#x", ""},
	}
	for _, tt := range tests {
		u, err := client.ParseBaseURL(tt.text)
		got := ""
		if err == nil {
			got = u.String()
		}
		if got != tt.want {
			t.Errorf("ParseBaseURL(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseBaseURL(%q): the error repeats the password", tt.text)
		}
	}
}
