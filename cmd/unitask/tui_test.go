package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/secret"
	"unitask/internal/submit"
)

// newDashboardService returns the client of a service that answers as said.
func newDashboardService(t *testing.T, answer http.HandlerFunc) *submit.Service {
	t.Helper()
	upstream := httptest.NewServer(answer)
	t.Cleanup(upstream.Close)
	key := func(context.Context) (secret.Value, error) { return secret.New("svc_test_x"), nil }
	c, err := client.New(client.Config{BaseURL: upstream.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return (&clientFlags{}).service(c, client.Target{}, client.Credential{Key: key})
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
			service := newDashboardService(t, tt.answer)
			_, err := service.Capabilities(t.Context())
			if got := dashboardHint(err); !strings.HasPrefix(got, tt.hint) {
				t.Errorf("hint of %v: %q, want %q", err, got, tt.hint)
			}
		})
	}
	t.Run("no journal", func(t *testing.T) {
		t.Setenv("UNITASK_STATE_DIR", "/dev/null")
		service := newDashboardService(t, answer(http.StatusOK, ""))
		_, err := service.Submit(t.Context(), api.CreateRequest{Capability: "text.chat"}, "a-key-of-its-own", 0)
		if err == nil || dashboardHint(err) != "UNITASK_STATE_DIR names a folder for it" {
			t.Errorf("%T %v: %q", err, err, dashboardHint(err))
		}
	})
}

func TestAnnouncement(t *testing.T) {
	for env, want := range map[[2]string]string{
		{"TERM", "xterm-256color"}:    "\a",
		{"TERM", "xterm-kitty"}:       "\x1b]9;unitask: text.chat succeeded\a\a",
		{"TERM_PROGRAM", "iTerm.app"}: "\x1b]9;unitask: text.chat succeeded\a\a",
	} {
		got := announcement("text.chat succeeded", func(name string) string {
			if name == env[0] {
				return env[1]
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %q, want %q", env, got, want)
		}
	}
}
