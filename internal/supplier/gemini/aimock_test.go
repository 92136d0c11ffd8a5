package gemini_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/suppliertest"
)

// aimockModel is the model of the requests to aimock.
const aimockModel = "/v1beta/models/model-1:"

func aimockAdapter(t *testing.T, m *suppliertest.Aimock, key string) supplier.Adapter {
	t.Helper()
	a, err := gemini.New(supplier.Config{
		BaseURL: m.URL, APIKey: func() (string, error) { return key, nil }, Timeout: suppliertest.AimockTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAimock holds the adapter against a server written by others. Each row is exactly one request. The
// server makes no images in this format.
func TestAimock(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	chat := request("text.chat", `{"system":"Be kind.","prompt":"Greet me"}`, `{"max_output_tokens":20}`)
	text := &supplier.Result{
		Text: new("Hello from a server that nobody here wrote."), FinishReason: "stop",
		Usage: supplier.Usage{InputTokens: 4, OutputTokens: 11},
	}
	asking := request("text.chat", `{"prompt":"Find out"}`, `{"tools":`+suppliertest.Tools+`}`)
	called := &supplier.Result{
		Text: new(""), FinishReason: supplier.FinishToolCalls, Usage: supplier.Usage{InputTokens: 63, OutputTokens: 8},
		ToolCalls: []supplier.ToolCall{{Name: "get_weather", Arguments: `{"place":"Lund"}`}, {Name: "now", Arguments: "{}"}},
	}
	answered := &supplier.Result{Text: new("It rains."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 105, OutputTokens: 3}}
	tests := []struct {
		name    string
		prepare string // control path and body
		request supplier.Request
		stream  bool
		path    string
		want    *supplier.Result
		verdict suppliertest.Verdict
		status  int
	}{
		{name: "chat", request: chat, path: "generateContent", want: text, status: 200},
		{name: "streamed chat", request: chat, stream: true, path: "streamGenerateContent?alt=sse", want: text, status: 200},
		{name: "tool call", request: asking, path: "generateContent", want: called, status: 200},
		{name: "streamed tool call", request: asking, stream: true, path: "streamGenerateContent?alt=sse", want: called, status: 200},
		{name: "tool results", request: suppliertest.ToolTalk("model-1", nil, ""), path: "generateContent", want: answered, status: 200},
		{
			name: "embeddings", request: request("text.embed", `{"texts":["a red fox"]}`, `{"dimensions":3}`),
			path: "embedContent", status: 200,
			want: &supplier.Result{Embeddings: [][]float32{{0.5, -0.25, 0.125}}, Usage: supplier.Usage{InputTokens: 3}},
		},
		{
			name: "injected 503", prepare: `/error {"status":503}`, request: chat, path: "generateContent", status: 503,
			verdict: refused(fault.CapacityExhausted),
		},
		{
			name: "injected 503 of a stream", prepare: `/error {"status":503}`, request: chat, stream: true,
			path: "streamGenerateContent?alt=sse", status: 503, verdict: refused(fault.CapacityExhausted),
		},
		{
			name: "429 with advice", prepare: `/chaos {"rateLimitRate":1}`, request: chat, path: "generateContent", status: 429,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: time.Second},
		},
		{name: "malformed", prepare: `/chaos {"malformedRate":1}`, request: chat, path: "generateContent", status: 200, verdict: unknown},
		{name: "disconnect", prepare: `/chaos {"disconnectRate":1}`, request: chat, path: "generateContent", verdict: unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.Prepare(t, tt.prepare)
			got, err := suppliertest.Send(t, aimockAdapter(t, m, suppliertest.AimockKey), tt.request, tt.stream)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.verdict, suppliertest.VerdictOf(err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
			}
			want := []suppliertest.Journaled{{Method: "POST", Path: aimockModel + tt.path, Status: tt.status}}
			if diff := cmp.Diff(want, m.Journal(t)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("speech", func(t *testing.T) {
		m.Prepare(t, "")
		r := request("audio.speech", `{"text":"Good morning"}`, `{"format":"wav"}`)
		got, err := suppliertest.Send(t, aimockAdapter(t, m, suppliertest.AimockKey), r, false)
		if err != nil {
			t.Fatal(err)
		}
		checkSpeech(t, got, 8000, supplier.Usage{InputTokens: 3, Milliseconds: 1})
	})
	t.Run("another key", func(t *testing.T) {
		m.Prepare(t, "")
		_, err := suppliertest.Send(t, aimockAdapter(t, m, "another"), chat, false)
		want := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true}
		if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
			t.Errorf("verdict (-want +got):\n%s", diff)
		}
	})
}

// TestAimockVideo follows the jobs of two videos to their ends.
func TestAimockVideo(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	a := aimockAdapter(t, m, suppliertest.AimockKey)
	end := func(prompt string) (*supplier.Result, error) {
		t.Helper()
		m.Prepare(t, "")
		out, err := a.Submit(t.Context(), request("video.generate", `{"prompt":"`+prompt+`"}`, `{"duration_seconds":4}`))
		want := []suppliertest.Journaled{{Method: "POST", Path: aimockModel + "predictLongRunning", Status: 200}}
		if diff := cmp.Diff(want, m.Journal(t)); err != nil || diff != "" {
			t.Fatalf("submit: %v, journal (-want +got):\n%s", err, diff)
		}
		for range 10 {
			if err != nil || out.Job == nil {
				return out.Result, err
			}
			out, err = a.(supplier.Poller).Poll(t.Context(), *out.Job)
		}
		t.Fatal("the job doesn't end")
		return nil, nil
	}
	if got, err := end("Waves"); err != nil || len(got.Files) != 1 || got.Files[0].Open == nil || got.Files[0].Duration != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err := end("Fail")
	want := suppliertest.Verdict{Code: fault.InvalidRequest, Sent: supplier.Failed} // aimock fails with the code 3
	if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
	}
}
