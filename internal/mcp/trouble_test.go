package mcp_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/mcp"
)

// TestArguments checks refusals before a request is sent.
func TestArguments(t *testing.T) {
	const hint = "\nhint: correct the arguments by the tool's input schema; nothing was charged"
	tests := []struct{ tool, arguments, want string }{
		{"image_generate", `{}`, "input is required (INVALID_REQUEST)"},
		{"image_generate", `{"input":{}}`, "input.prompt is required (INVALID_REQUEST)"},
		{"image_generate", `{"input":{"prompt":5}}`, "input.prompt must be a string (INVALID_REQUEST)"},
		{
			"image_generate", `{"prompt":"a fox"}`,
			"prompt is no member of the arguments; they are input, parameters, idempotency_key (INVALID_REQUEST)",
		},
		{"image_generate", `{"input":{"prompt":"a","prompt":"b"}}`, "arguments have a member more than once (INVALID_REQUEST)"},
		{"image_generate", `{"input":{"prompt":"a"},"parameters":{"n":99}}`, "parameters.n must be at most 4 (INVALID_REQUEST)"},
		{
			"image_generate", `{"input":{"prompt":"a"},"idempotency_key":"short"}`,
			"idempotency_key must be a text of 8 to 128 characters (INVALID_REQUEST)",
		},
		{"task_get", `{}`, "id is required: a task's id (INVALID_REQUEST)"},
		{"task_get", `{"id":"task_1","wait_seconds":-1}`, "wait_seconds must be a whole number of seconds (INVALID_REQUEST)"},
		{"task_cancel", `{"id":""}`, "id is required: a task's id (INVALID_REQUEST)"},
	}
	f := newFake(t)
	converse(t, f, mcp.Config{}, func(s *session) {
		for _, tt := range tests {
			if diff := cmp.Diff("ERROR\n"+tt.want+hint, text(s.call(tt.tool, tt.arguments))); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.arguments, diff)
			}
		}
		if len(f.created) != 0 {
			t.Errorf("%d submissions, want none", len(f.created))
		}
	})
}

// TestTrouble checks the service's refusals, with their next steps for a model.
func TestTrouble(t *testing.T) {
	tests := []struct {
		name            string
		refuse, failure *fault.Error
		want            string
	}{
		{
			"content", fault.New(fault.ContentPolicyViolation, "refused"), nil,
			"refused (CONTENT_POLICY_VIOLATION)\nhint: ask a person\nrequest id: req_3",
		},
		{
			"a person's authorization", fault.New(fault.AuthorizationRequired, "say who is shown"), nil,
			"say who is shown (AUTHORIZATION_REQUIRED)\nhint: input.authorization {\"person\":\"none\"} declares that no identifiable person is shown, " +
				"{\"person\":\"authorized\",\"statement\":\"…\"} how whoever is shown agreed; ask the user before you declare either\nrequest id: req_3",
		},
		{
			"the rate", fault.New(fault.RateLimitExceeded, "too many").WithRetryAfter(2 * time.Minute), nil,
			"too many (RATE_LIMIT_EXCEEDED)\nhint: call the tool again in 120 s with the same arguments and idempotency_key \"my-own-key\": " +
				"that tries the same task and pays for it once\nrequest id: req_3",
		},
		{
			"a failed task", nil, fault.New(fault.ProviderTimeout, "no answer in time"),
			"task_1 failed: no answer in time (PROVIDER_TIMEOUT)\nhint: call the tool again in 2 s with the same arguments and " +
				"idempotency_key \"my-own-key\": that tries the same task and pays for it once\nrequest id: req_2",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.refuse, f.failure = tt.refuse, tt.failure
			config := mcp.Config{Hint: func(error) string { return "ask a person" }}
			converse(t, f, config, func(s *session) {
				got := text(s.call("image_generate", `{"input":{"prompt":"a fox"},"idempotency_key":"my-own-key"}`))
				if diff := cmp.Diff("ERROR\n"+tt.want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if other := slices.IndexFunc(f.keys, func(k string) bool { return k != "my-own-key" }); len(f.keys) == 0 || other >= 0 {
					t.Errorf("submitted under %q", f.keys)
				}
			})
		})
	}
}

// TestServiceAway is a service that isn't there at the start, and one that goes during a call.
func TestServiceAway(t *testing.T) {
	f := newFake(t)
	f.away = true
	converse(t, f, mcp.Config{Hint: func(error) string { return "start it" }}, func(s *session) {
		if _, err := s.ListTools(s.t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no answer from http://service") {
			t.Errorf("a list of no service: %v", err)
		}
		const away = "ERROR\nno answer from http://service: connection refused\nhint: start it"
		if got := text(s.call("image_generate", `{"input":{"prompt":"a fox"}}`)); got != away {
			t.Errorf("a call of no service: %q, want %q", got, away)
		}
		s.setAway(f, false)
		if list, err := s.ListTools(s.t.Context(), nil); err != nil || len(list.Tools) != len(f.entries)+2 {
			t.Fatalf("the list once the service is there: %+v, %v", list, err)
		}
		s.setAway(f, true)
		got := text(s.call("image_generate", `{"input":{"prompt":"a fox"},"idempotency_key":"my-own-key"}`))
		const want = "ERROR\nno answer from http://service: connection refused\nhint: call the tool again later with the same arguments " +
			"and idempotency_key \"my-own-key\": that tries the same task and pays for it once"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a call of no service (-want +got):\n%s", diff)
		}
	})
}

// TestNoAnswer has a service that takes a submission and stays silent.
func TestNoAnswer(t *testing.T) {
	f := newFake(t)
	f.silent = true
	converse(t, f, mcp.Config{}, func(s *session) {
		got := text(s.call("image_generate", `{"input":{"prompt":"a fox"},"idempotency_key":"my-own-key"}`))
		const want = "ERROR\nthe service didn't answer within 50 s; the task may have been accepted\n" +
			"hint: the same arguments with idempotency_key \"my-own-key\" get the same task"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	})
}

func (s *session) setAway(f *fake, away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = away
}
