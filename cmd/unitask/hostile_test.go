//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// hostileText steers a terminal in every way there is: a C1 sequence, an escape, a turn of the direction of
// writing, and bytes that no text has.
const hostileText = "begin\u009b31mc1\u009d0;title\u009c\u0085\x1b[2Jesc\x1b]0;title\x07\x7f\u202eturned\u2066\u200f\u2028\ufeff\U000E0041end"

// hostileService answers every request with texts of its own.
func hostileService(t *testing.T) *httptest.Server {
	t.Helper()
	text := map[string]any{
		"id": "task_06h05yvph220j4tnzt29f8ndw4", "capability": hostileText, "mode": hostileText, "state": "succeeded",
		"created_at": "2026-11-21T12:00:00.000Z", "updated_at": "2026-11-21T12:00:01.000Z", "finished_at": "2026-11-21T12:00:01.000Z",
		"output": map[string]any{"text": hostileText, "finish_reason": hostileText},
		"usage":  map[string]any{"cost": map[string]any{"currency": "USD", "amount": hostileText}}, "request_id": hostileText,
	}
	failed := map[string]any{"error": map[string]any{
		"code": "INVALID_REQUEST", "message": hostileText, "retryable": false,
		"details": []any{map[string]any{"field": hostileText, "message": hostileText}},
	}, "request_id": hostileText}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = text
		status := http.StatusOK
		switch {
		case strings.HasSuffix(r.URL.Path, "/capabilities"):
			answer = map[string]any{"data": []any{map[string]any{
				"name": "text.chat", "title": hostileText, "description": hostileText, "modality": "text", "mode": "sync",
				"input_schema": map[string]any{"type": "object", "properties": map[string]any{"prompt": map[string]any{"type": "string"}}}, "parameters_schema": map[string]any{}, "output_schema": map[string]any{},
			}}}
		case r.Method == http.MethodPost:
			answer, status = failed, http.StatusBadRequest
		case strings.HasSuffix(r.URL.Path, "/tasks"):
			answer = map[string]any{"data": []any{text}}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req_1")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestHostileTextOnATerminal: whatever a service says, a terminal gets no control sequences but the program's own
// colours and line clearing; a pipe gets JSON byte for byte.
func TestHostileTextOnATerminal(t *testing.T) {
	program, service := mustBuild(t), hostileService(t)
	env := []string{"UNITASK_BASE_URL=" + service.URL, "UNITASK_API_KEY=" + fakeKey, "TERM=xterm-256color"}
	own := regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\[K|\r") // colours, and the controls of a line of progress
	const id = "task_06h05yvph220j4tnzt29f8ndw4"
	for _, args := range [][]string{
		{"capabilities"},
		{"capabilities", "--json"},
		{"capabilities", "text.chat"},
		{"tasks", "list"},
		{"tasks", "list", "--json"},
		{"tasks", "get", id},
		{"tasks", "get", id, "--json"},
		{"tasks", "get", id, "--jq", ".output.text"},
		{"tasks", "get", id, "--jq", "."},
		{"tasks", "get", id, "-o", "-"},
		{"tasks", "wait", id},
		{"tasks", "watch", id},
		{"run", "text.chat", "hello"},
	} {
		out := onTerminal(t, env, nil, program, args...)
		left := own.ReplaceAllString(out, "")
		steers := strings.IndexFunc(left, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl))
		})
		if steers >= 0 {
			t.Errorf("unitask %s: the terminal got %q", strings.Join(args, " "), left[max(0, steers-40):min(len(left), steers+40)])
		}
		if !strings.Contains(left, "begin") {
			t.Errorf("unitask %s: %q doesn't show the text at all", strings.Join(args, " "), left)
		}
	}
	var piped bytes.Buffer
	onTerminal(t, env, &piped, program, "tasks", "get", id, "--json")
	var got struct{ Output struct{ Text string } }
	if err := json.Unmarshal(piped.Bytes(), &got); err != nil || got.Output.Text != hostileText {
		t.Errorf("the pipe got %q, %v", got.Output.Text, err)
	}
	if !bytes.Contains(piped.Bytes(), []byte("\u009b31m")) {
		t.Errorf("the pipe's JSON was rewritten: %q", piped.String())
	}
}
