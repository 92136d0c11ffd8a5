package anthropic_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

// TestAimock holds the adapter against a server written by others. Each row is exactly one request.
func TestAimock(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	adapter := func(key string) supplier.Adapter {
		a, err := anthropic.New(supplier.Config{
			BaseURL: m.URL, APIKey: func() (string, error) { return key, nil }, Timeout: suppliertest.AimockTime,
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	text := &supplier.Result{
		Text: new("Hello from a server that nobody here wrote."), FinishReason: "stop",
		Usage: supplier.Usage{InputTokens: 4, OutputTokens: 11},
	}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused}
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	tests := []struct {
		name    string
		prepare string
		stream  bool
		want    *supplier.Result
		verdict suppliertest.Verdict
		status  int
	}{
		{name: "chat", want: text, status: 200},
		{name: "streamed chat", stream: true, want: text, status: 200},
		{name: "injected 529", prepare: `/error {"status":529}`, verdict: full, status: 529},
		{name: "injected 529 of a stream", prepare: `/error {"status":529}`, stream: true, verdict: full, status: 529},
		{
			name: "429 with advice", prepare: `/chaos {"rateLimitRate":1}`, status: 429,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: time.Second},
		},
		{name: "malformed", prepare: `/chaos {"malformedRate":1}`, status: 200, verdict: lost},
		{name: "disconnect", prepare: `/chaos {"disconnectRate":1}`, verdict: lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.Prepare(t, tt.prepare)
			got, err := suppliertest.Send(t, adapter(suppliertest.AimockKey), request(`{"system":"Be kind.","prompt":"Greet me"}`, `{"max_output_tokens":20}`), tt.stream)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.verdict, suppliertest.VerdictOf(err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
			}
			want := []suppliertest.Journaled{{Method: "POST", Path: "/v1/messages", Status: tt.status}}
			if diff := cmp.Diff(want, m.Journal(t)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("another key", func(t *testing.T) {
		m.Prepare(t, "")
		_, err := suppliertest.Send(t, adapter("another"), request(`{"prompt":"Greet me"}`, `{}`), false)
		want := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true}
		if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
			t.Errorf("verdict (-want +got):\n%s", diff)
		}
	})
}

// TestAimockTools goes through a loop of two calls, with thoughts that the server must see again: it refuses a request
// to think whose calls come without them.
func TestAimockTools(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	a, err := anthropic.New(supplier.Config{
		BaseURL: m.URL, APIKey: func() (string, error) { return suppliertest.AimockKey, nil }, Timeout: suppliertest.AimockTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	const parameters = `{"max_output_tokens":4000,"reasoning":"low","tools":` + suppliertest.Tools + `}`
	ask := request(`{"prompt":"What is it like?"}`, parameters)
	ask.Model = "claude-haiku-4-5"
	calls := []supplier.ToolCall{{Name: "get_weather", Arguments: `{"place":"Lund","days":2}`}, {Name: "now", Arguments: "{}"}}
	for _, stream := range []bool{false, true} {
		m.Prepare(t, "")
		called, err := suppliertest.Send(t, a, ask, stream)
		if err != nil {
			t.Fatal(err)
		}
		got := *called
		got.Usage, got.State = supplier.Usage{}, nil // an estimate, and what aimock signs
		want := supplier.Result{
			Text: new("Let me see."), FinishReason: supplier.FinishToolCalls, Reasoning: "Two tools will do.", ToolCalls: calls,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("streamed %t: calls (-want +got):\n%s", stream, diff)
		}
		for name, state := range map[string]json.RawMessage{"its state": called.State, "no state": nil, "another's state": json.RawMessage(`"a"`)} {
			answer := suppliertest.ToolTalk(ask.Model, state, "")
			answer.Parameters = json.RawMessage(parameters)
			got, err := suppliertest.Send(t, a, answer, stream)
			if err != nil {
				t.Fatalf("streamed %t, with %s: %v", stream, name, err)
			}
			if *got.Text != "It rains at noon." || got.FinishReason != "stop" {
				t.Errorf("streamed %t, with %s: %q, %s", stream, name, *got.Text, got.FinishReason)
			}
		}
	}
}
