package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

func TestMisconfigured(t *testing.T) {
	const base = "http://supplier.example/v1"
	suppliertest.RunMisconfigured(t, openai.Kind(), []suppliertest.Misconfigured{
		{Config: supplier.Config{}, Want: "base_url is required"},
		{Config: supplier.Config{BaseURL: base, MaxTokensField: "n_predict"}, Want: "max_tokens_field must be max_tokens or max_completion_tokens"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"stream-usage": "off"}}, Want: `unknown option "stream-usage"`},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"stream_usage": "no"}}, Want: "option stream_usage must be on or off"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"chat_api": "chat"}}, Want: "option chat_api must be chat_completions or responses"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"proxy": "://"}}, Want: "proxy is no URL"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"image_answer": "png"}}, Want: "option image_answer must be b64_json or url"},
		{
			Config: supplier.Config{BaseURL: base, Options: map[string]string{"speech_fields": "speed, pitch"}},
			Want:   "option speech_fields must be none or some of instructions, speed",
		},
	})
}

// variantServer is foreign with requests that are held against the format's published document.
func variantServer(t *testing.T, answer http.Handler) (url string, last func() map[string]any) {
	t.Helper()
	return foreign(t, suppliertest.Held(t, answer))
}

// foreign gives one answer to everything and keeps the last body it got. As a proxy it stands in
// for any host.
func foreign(t *testing.T, answer http.Handler) (url string, last func() map[string]any) {
	t.Helper()
	var body map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body = nil
		b, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(b, &body) != nil {
			t.Errorf("request body %q: %v", b, err)
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		answer.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL, func() map[string]any { return body }
}

func mustNew(t *testing.T, c supplier.Config) supplier.Adapter {
	t.Helper()
	a, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMaxTokensField shows which field bounds the output, by host and by setting.
func TestMaxTokensField(t *testing.T) {
	for _, tt := range []struct{ name, base, setting, want string }{
		{"the author", "http://api.openai.com/v1", "", "max_completion_tokens"},
		{"compatible", "http://api.example.com/v1", "", "max_tokens"},
		{"the author, set", "http://api.openai.com/v1", "max_tokens", "max_tokens"},
		{"compatible, set", "http://api.example.com/v1", "max_completion_tokens", "max_completion_tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proxy, last := variantServer(t, suppliertest.JSON(200, chatAnswer))
			a := mustNew(t, supplier.Config{
				BaseURL: tt.base, MaxTokensField: tt.setting, Options: map[string]string{"proxy": proxy},
			})
			if _, err := suppliertest.Send(t, a, request("text.chat", `{"prompt":"Hi"}`, `{"max_output_tokens":5}`), false); err != nil {
				t.Fatal(err)
			}
			got := last()
			delete(got, "messages")
			if diff := cmp.Diff(map[string]any{"model": "model-1", tt.want: 5.0}, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFixedSampling shows that a parameter of the default value is left out for a model that takes
// no other.
func TestFixedSampling(t *testing.T) {
	url, last := variantServer(t, suppliertest.JSON(200, chatAnswer))
	r := request("text.chat", `{"prompt":"Hi"}`, `{"temperature":1,"top_p":1,"seed":3}`)
	r.Model = "gpt-5-nano"
	if _, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: url + "/v1"}), r, false); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "gpt-5-nano", "messages": []any{map[string]any{"role": "user", "content": "Hi"}}, "seed": 3.0,
	}
	if diff := cmp.Diff(want, last()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestStreamUsageOption(t *testing.T) {
	for setting, want := range map[string]any{
		"": map[string]any{"include_usage": true}, "on": map[string]any{"include_usage": true}, "off": nil,
	} {
		url, last := variantServer(t, suppliertest.Events(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))
		a := mustNew(t, supplier.Config{BaseURL: url + "/v1", Options: map[string]string{"stream_usage": setting}})
		if _, err := suppliertest.Send(t, a, request("text.chat", `{"prompt":"Hi"}`, `{}`), true); err != nil {
			t.Fatal(err)
		}
		got := last()
		if diff := cmp.Diff([]any{true, want}, []any{got["stream"], got["stream_options"]}); diff != "" {
			t.Errorf("%q: (-want +got):\n%s", setting, diff)
		}
	}
}

// TestTolerated holds the forms in which servers answer well.
func TestTolerated(t *testing.T) {
	text := func(s, reason string, in, out int64) *supplier.Result {
		return &supplier.Result{Text: &s, FinishReason: reason, Usage: supplier.Usage{InputTokens: in, OutputTokens: out}}
	}
	mused := func(s, thoughts string, pages []supplier.Citation) *supplier.Result {
		r := text(s, "stop", 2, 1)
		r.Reasoning, r.Citations = thoughts, pages
		return r
	}
	piece := func(s string) string { return `{"choices":[{"delta":{"content":"` + s + `"}}]}` }
	const finish = `{"choices":[{"delta":{},"finish_reason":"length"}]}`
	suppliertest.RunTolerated(t, openai.Kind(), request("text.chat", `{"prompt":"Prompt"}`, `{}`), []suppliertest.Tolerated{
		{Name: "no usage", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`), Want: text("Hello", "stop", 2, 2)},
		{Name: "half a usage", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":"Hello"}}],"usage":{"prompt_tokens":7,"completion_tokens":0}}`), Want: text("Hello", "stop", 7, 2)},
		{Name: "nonsense usage", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":"Hello"}}],"usage":{"prompt_tokens":-7,"completion_tokens":1e40}}`), Want: text("Hello", "stop", 2, 2)},
		{Name: "usage of a wrong type", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":"Hello"}}],"usage":"none"}`), Want: text("Hello", "stop", 2, 2)},
		{Name: "parts", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":[{"type":"thinking"},{"type":"text","text":"He"},{"type":"text","text":"llo"}]}}]}`), Want: text("Hello", "stop", 2, 2)},
		{Name: "all thought", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":2,"completion_tokens":20}}`), Want: text("", "length", 2, 20)},
		{Name: "thoughts", Answer: suppliertest.JSON(200, `{"choices":[{"message":{"content":"a","reasoning":"Hm."}}]}`), Want: mused("a", "Hm.", nil)},
		{
			Name: "thoughts and pages in a stream", Stream: true, Want: mused("a", "Hm.", []supplier.Citation{{URL: "https://a.example", Title: "A"}}),
			Answer: suppliertest.Events(`{"choices":[{"delta":{"reasoning_content":"H"}}]}`, `{"choices":[{"delta":{"content":"a","reasoning_content":"m.",`+noted+`}}]}`, `[DONE]`),
		},
		{Name: "null error", Answer: suppliertest.JSON(200, `{"error":null,"choices":[{"message":{"content":"a"},"finish_reason":"max_tokens"}]}`), Want: text("a", "length", 2, 1)},
		{Name: "other status of success", Answer: suppliertest.JSON(201, `{"choices":[{"message":{"content":"a"}}]}`), Want: text("a", "stop", 2, 1)},
		{Name: "a whole answer to a stream", Answer: suppliertest.JSON(200, chatAnswer), Stream: true, Want: text("Hello.", "stop", 9, 2)},
		{Name: "no usage in a stream", Answer: suppliertest.Events(piece("Hel"), piece("lo"), finish, `[DONE]`), Stream: true, Want: text("Hello", "length", 2, 2)},
		{Name: "no end mark", Answer: suppliertest.Events(piece("Hel"), piece("lo"), finish), Stream: true, Want: text("Hello", "length", 2, 2)},
		{Name: "no finish reason", Answer: suppliertest.Events(piece("Hel"), piece("lo"), `[DONE]`), Stream: true, Want: text("Hello", "stop", 2, 2)},
		{Name: "noise after the finish", Answer: suppliertest.Events(piece("a"), finish, `{`, `{"error":"late"}`), Stream: true, Want: text("a", "length", 2, 1)},
		{Name: "text after the finish", Answer: suppliertest.Events(piece("a"), finish, piece("b"), `[DONE]`), Stream: true, Want: text("a", "length", 2, 1)},
	})
}

// TestBrokenStream shows the meaning of a stream's failure before and after its first piece.
func TestBrokenStream(t *testing.T) {
	const piece = `{"choices":[{"delta":{"content":"par"}}]}`
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Refused}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused}
	fullLate := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Unknown}
	tests := []struct {
		name   string
		events []string
		text   string
		want   suppliertest.Verdict
	}{
		{"nothing", nil, "", lost},
		{"the end alone", []string{`[DONE]`}, "", lost},
		{"cut", []string{piece}, "par", lost},
		{"malformed", []string{piece, `{`}, "par", lost},
		{"full at once", []string{`{"error":{"code":429}}`}, "", full},
		{"full later", []string{piece, `{"error":{"code":429}}`}, "par", fullLate},
		{"refused", []string{piece, `{"choices":[{"delta":{"refusal":"no"}}]}`}, "par", review},
		{"filtered", []string{piece, `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`}, "par", review},
		{"failed choice", []string{piece, `{"choices":[{"delta":{},"error":{"code":502}}]}`}, "par", lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := variantServer(t, suppliertest.Events(tt.events...))
			a := mustNew(t, supplier.Config{BaseURL: url + "/v1"}).(supplier.Streamer)
			var text strings.Builder
			_, err := a.Stream(t.Context(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
				func(d supplier.Delta) { text.WriteString(d.Text) })
			if diff := cmp.Diff(tt.want, suppliertest.VerdictOf(err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
			}
			if text.String() != tt.text {
				t.Errorf("deltas: got %q, want %q", text.String(), tt.text)
			}
		})
	}
}

// TestAbandonedStream shows that the connection of a stream is closed when its answer is known to
// be of no use, though the server goes on.
func TestAbandonedStream(t *testing.T) {
	ended := make(chan struct{})
	url, _ := variantServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		suppliertest.Events(`{"choices":[{"delta":{"refusal":"no"}}]}`).ServeHTTP(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	_, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: url + "/v1"}), request("text.chat", `{"prompt":"Hi"}`, `{}`), true)
	if fault.CodeOf(err) != fault.ContentPolicyViolation {
		t.Errorf("error %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the connection is still open")
	}
}

func TestUnfit(t *testing.T) {
	suppliertest.RunUnfit(t, openai.Kind(), map[string]supplier.Request{
		"capability": request("video.generate", `{"prompt":"Hi"}`, `{}`),
		"parameter":  request("text.chat", `{"prompt":"Hi"}`, `{"top_k":1}`),
		"input":      request("text.embed", `{"texts":["a"],"more":1}`, `{}`),
		"no JSON":    request("text.chat", `{`, `{}`),
	})
}
