package server_test

import (
	"net/http"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/door/anthropic"
	"unitask/internal/door/openai"
)

// TestDoorUnknownOutcome fails calls with an unknown outcome: their libraries are told not to try again, and a retry that
// comes all the same has the same error of the same task, whose work isn't done again.
func TestDoorUnknownOutcome(t *testing.T) {
	w := newWorld(t, options{openAI: true, anthropic: true})
	message := func(key, body string, header ...string) response {
		return w.atAnthropic(anthropic.PathMessages, key, body, header...)
	}
	for name, tt := range map[string]struct {
		ask  func(key, body string, header ...string) response
		body string
	}{
		"completion":          {w.complete, completion("say hello @unknown")},
		"streamed completion": {w.complete, completion("say hello @unknown", `"stream":true`)},
		"message":             {message, asked("say hi @unknown")},
		"streamed message":    {message, asked("say hi @unknown", `"stream":true`)},
	} {
		t.Run(name, func(t *testing.T) {
			first := tt.ask(w.test, tt.body, openai.HeaderRetryCount, "0")
			for _, count := range []string{"1", "2"} {
				again := tt.ask(w.test, tt.body, openai.HeaderRetryCount, count)
				for _, r := range []response{first, again} {
					if r.StatusCode != http.StatusGatewayTimeout || r.Header.Get(openai.HeaderShouldRetry) != "false" ||
						r.Header.Get("Retry-After") != "" || !strings.Contains(string(r.body), "may have been done") {
						t.Errorf("%s, retry %q\n%s", r.Status, r.Header.Get(openai.HeaderShouldRetry), r.body)
					}
				}
				if id := first.Header.Get(openai.HeaderTaskID); id == "" || again.Header.Get(openai.HeaderTaskID) != id {
					t.Errorf("the task is %q, the retry's %q", id, again.Header.Get(openai.HeaderTaskID))
				}
			}
			const key = "order-00001"
			own := tt.ask(w.test, tt.body, api.HeaderIdempotencyKey, name+key)
			asked := tt.ask(w.test, tt.body, api.HeaderIdempotencyKey, name+key) // by whoever was told
			if own.StatusCode != http.StatusGatewayTimeout || asked.StatusCode != http.StatusOK {
				t.Errorf("with a key of the caller's: %s, then %s\n%s", own.Status, asked.Status, asked.body)
			}
		})
	}
}

// TestDoorWords holds errors to the words of the doors' interfaces.
func TestDoorWords(t *testing.T) {
	w := newWorld(t, options{openAI: true, anthropic: true})
	if r := w.complete(w.live, completion("refuse")); r.StatusCode != http.StatusBadGateway || strings.Contains(string(r.body), "same key") {
		t.Errorf("%s", r.body)
	}
	if r := w.atAnthropic(anthropic.PathMessages, "wrong", asked("hi")); r.StatusCode != http.StatusUnauthorized || !strings.Contains(string(r.body), "x-api-key") {
		t.Errorf("%s", r.body)
	}
}
