package openai_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

const aimockText = "Hello from a server that nobody here wrote."

var aimockPaths = map[string]string{
	"text.chat": "/v1/chat/completions", "text.embed": "/v1/embeddings",
	"image.generate": "/v1/images/generations", "image.edit": "/v1/images/edits",
	"audio.speech": "/v1/audio/speech", "audio.transcribe": "/v1/audio/transcriptions",
}

// aimockResponses asks the Responses API of an aimock.
func aimockResponses(t *testing.T, m *suppliertest.Aimock) supplier.Adapter {
	t.Helper()
	a, err := responsesKind().New(supplier.Config{
		BaseURL: m.URL + "/v1", APIKey: func() (string, error) { return suppliertest.AimockKey, nil }, Timeout: suppliertest.AimockTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAimockResponses holds the Responses API's part of the adapter against a server written by others.
func TestAimockResponses(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	thinking := request("text.chat", `{"prompt":"Weigh it up"}`, `{"reasoning":"low"}`)
	calling := request("text.chat", `{"prompt":"What is the weather?"}`, `{"tools":[{"name":"get_weather","parameters":{"type":"object"}}]}`)
	thinking.Model, calling.Model = "gpt-5-mini", "gpt-5-mini"
	for _, tt := range []struct {
		name    string
		request supplier.Request
		want    *supplier.Result
	}{
		{"chat", request("text.chat", `{"system":"Be kind.","prompt":"Greet me"}`, `{"max_output_tokens":20}`), &supplier.Result{
			Text: new(aimockText), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 4, OutputTokens: 11},
		}},
		{"thoughts and a search", thinking, &supplier.Result{
			Text: new("It weighs nothing."), FinishReason: "stop", Reasoning: "Scales first.",
			Usage: supplier.Usage{InputTokens: 3, OutputTokens: 8, Searches: 1},
		}},
		{"calls", calling, &supplier.Result{
			Text: new(""), FinishReason: supplier.FinishToolCalls, ToolCalls: []supplier.ToolCall{{Name: "get_weather", Arguments: `{"place":"Lund"}`}},
			Usage: supplier.Usage{InputTokens: 5, OutputTokens: 7},
		}},
	} {
		for _, stream := range []bool{false, true} {
			m.Prepare(t, "")
			got, err := suppliertest.Send(t, aimockResponses(t, m), tt.request, stream)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if (got.State != nil) != (tt.name == "calls") {
				t.Errorf("%s: state %s", tt.name, got.State)
			}
			got.State = nil // a random id
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, streamed: %t (-want +got):\n%s", tt.name, stream, diff)
			}
			want := []suppliertest.Journaled{{Method: "POST", Path: "/v1/responses", Status: 200}}
			if diff := cmp.Diff(want, m.Journal(t)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		}
	}
}

func aimockAdapter(t *testing.T, m *suppliertest.Aimock, key string) supplier.Adapter {
	t.Helper()
	return mustNew(t, supplier.Config{
		Name: "aimock", BaseURL: m.URL + "/v1", APIKey: func() (string, error) { return key, nil }, Timeout: suppliertest.AimockTime,
	})
}

// fixture returns the bytes that a member of the fixtures holds in base64.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/aimock.json")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `"`+name+`": "`)
	encoded, _, _ := strings.Cut(rest, `"`)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(data) == 0 {
		t.Fatalf("fixture %s: %d bytes, %v", name, len(data), err)
	}
	return data
}

// TestAimock holds the adapter against a server written by others. Each row is exactly one request.
func TestAimock(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	chat := request("text.chat", `{"system":"Be kind.","prompt":"Greet me"}`, `{"max_output_tokens":20}`)
	embed := request("text.embed", `{"texts":["a red fox"]}`, `{"dimensions":3}`)
	edit := editRequest(`{"n":1}`)
	pixel, sound := fixture(t, "b64Json"), fixture(t, "audio")
	picture := &supplier.Result{Files: []supplier.File{{Data: pixel}}, Usage: supplier.Usage{InputTokens: 3, Images: 1}}
	text := &supplier.Result{
		Text: new(aimockText), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 4, OutputTokens: 11},
	}
	tests := []struct {
		name    string
		prepare string // control path and body
		key     string
		request supplier.Request
		stream  bool
		want    *supplier.Result
		verdict suppliertest.Verdict
		status  int
	}{
		{name: "chat", request: chat, want: text, status: 200},
		{name: "streamed chat", request: chat, stream: true, want: text, status: 200},
		{
			name: "embeddings", request: embed, status: 200,
			want: &supplier.Result{Embeddings: [][]float32{{0.5, -0.25, 0.125}}, Usage: supplier.Usage{InputTokens: 3}},
		},
		{
			name: "image", request: request("image.generate", `{"prompt":"a red fox"}`, `{"n":1,"size":"1024x1024"}`), status: 200,
			want: picture,
		},
		{name: "edited image", request: edit, status: 200, want: picture},
		{
			name: "speech", request: request("audio.speech", `{"text":"Mind the gap"}`, `{"format":"wav"}`), status: 200,
			want: &supplier.Result{Files: []supplier.File{{ContentType: "audio/wav", Data: sound}}},
		},
		{
			name: "transcript", request: transcribeRequest(`{"timestamps":"segment"}`), status: 200,
			want: &supplier.Result{
				Text: new("Mind the gap."), FinishReason: "stop", Usage: supplier.Usage{Milliseconds: 2500, OutputTokens: 4},
				Segments: []supplier.Segment{{Start: 0, End: 1.25, Text: "Mind the gap."}},
			},
		},
		{
			name: "injected 503", prepare: `/error {"status":503}`, request: chat, status: 503,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused},
		},
		{
			name: "injected 503 of a stream", prepare: `/error {"status":503}`, request: chat, stream: true, status: 503,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused},
		},
		{
			name: "429 with advice", prepare: `/chaos {"rateLimitRate":1}`, request: chat, status: 429,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: time.Second},
		},
		{
			name: "quota", request: chat, status: 429,
			prepare: `/error {"status":429,"body":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}`,
			verdict: suppliertest.Verdict{
				Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true, RetryAfter: time.Second,
			},
		},
		{
			name: "review", request: chat, status: 400,
			prepare: `/error {"status":400,"body":{"message":"m","type":"invalid_request_error","code":"content_policy_violation"}}`,
			verdict: suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Refused},
		},
		{
			name: "malformed", prepare: `/chaos {"malformedRate":1}`, request: chat, status: 200,
			verdict: suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown},
		},
		{
			name: "disconnect", prepare: `/chaos {"disconnectRate":1}`, request: chat,
			verdict: suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.Prepare(t, tt.prepare)
			a := aimockAdapter(t, m, suppliertest.AimockKey)
			got, err := suppliertest.Send(t, a, tt.request, tt.stream)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.verdict, suppliertest.VerdictOf(err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
			}
			want := []suppliertest.Journaled{{Method: "POST", Path: aimockPaths[tt.request.Capability], Status: tt.status}}
			if diff := cmp.Diff(want, m.Journal(t)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAimockKey shows that the key opens the server, and that Probe notices a wrong one.
func TestAimockKey(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	chat := request("text.chat", `{"prompt":"Greet me"}`, `{}`)
	if _, err := suppliertest.Send(t, aimockAdapter(t, m, suppliertest.AimockKey), chat, false); err != nil {
		t.Errorf("with the key: %v", err)
	}
	if _, err := aimockAdapter(t, m, suppliertest.AimockKey).(supplier.Prober).Probe(t.Context()); err != nil {
		t.Errorf("probe with the key: %v", err)
	}
	_, err := suppliertest.Send(t, aimockAdapter(t, m, "another"), chat, false)
	want := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true}
	if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
		t.Errorf("with another key (-want +got):\n%s", diff)
	}
}
