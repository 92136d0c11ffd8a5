package anthropic_test

import (
	"io"
	"net/http"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

func TestMisconfigured(t *testing.T) {
	const base = "http://supplier.example"
	suppliertest.RunMisconfigured(t, anthropic.Kind(), []suppliertest.Misconfigured{
		{Config: supplier.Config{}, Want: "base_url is required"},
		{Config: supplier.Config{BaseURL: base, MaxTokensField: "max_tokens"}, Want: "max_tokens_field is for the kind openai alone"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"version": "1"}}, Want: `unknown option "version"`},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"proxy": "://"}}, Want: "proxy is no URL"},
	})
}

// TestTolerated holds the forms in which servers answer well.
func TestTolerated(t *testing.T) {
	text := func(s, reason string, in, out int64) *supplier.Result {
		return &supplier.Result{Text: &s, FinishReason: reason, Usage: supplier.Usage{InputTokens: in, OutputTokens: out}}
	}
	mused := func(thoughts string, pages ...supplier.Citation) *supplier.Result {
		r := text("Hello", "stop", 2, int64(len(thoughts)+5+3)/4)
		r.Reasoning, r.Citations = thoughts, pages
		return r
	}
	page := supplier.Citation{URL: "https://a.example", Title: "A", Text: "Go is."}
	piece := func(s string) string {
		return `{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + s + `"}}`
	}
	body := func(text, reason, usage string) http.Handler {
		return suppliertest.JSON(200, `{"content":[{"type":"text","text":"`+text+`"}],"stop_reason":`+reason+`,"usage":`+usage+`}`)
	}
	const (
		finish = `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}`
		stop   = `{"type":"message_stop"}`
	)
	suppliertest.RunTolerated(t, anthropic.Kind(), request(`{"prompt":"Prompt"}`, `{}`), []suppliertest.Tolerated{
		{Name: "no usage", Answer: body("Hello", `"end_turn"`, `null`), Want: text("Hello", "stop", 2, 2)},
		{Name: "half a usage", Answer: body("Hello", `"stop_sequence"`, `{"input_tokens":7}`), Want: text("Hello", "stop", 7, 2)},
		{Name: "nonsense usage", Answer: body("Hello", `"end_turn"`, `{"input_tokens":-7,"output_tokens":1e40}`), Want: text("Hello", "stop", 2, 2)},
		{Name: "usage of a wrong type", Answer: body("Hello", `null`, `"none"`), Want: text("Hello", "stop", 2, 2)},
		{Name: "paused", Answer: body("Hello", `"pause_turn"`, `{}`), Want: text("Hello", "length", 2, 2)},
		{Name: "cut by the window", Answer: body("Hello", `"model_context_window_exceeded"`, `{}`), Want: text("Hello", "length", 2, 2)},
		{Name: "nothing to add", Answer: suppliertest.JSON(200, `{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`), Want: text("", "stop", 3, 2)},
		{Name: "all thought", Answer: suppliertest.JSON(200, `{"content":[{"type":"thinking"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":20}}`), Want: text("", "length", 3, 20)},
		{Name: "a whole answer to a stream", Answer: suppliertest.JSON(200, chatAnswer), Stream: true, Want: hello()},
		{Name: "text with the block's start", Answer: suppliertest.Events(`{"type":"content_block_start","content_block":{"type":"text","text":"Hel"}}`, piece("lo"), finish, stop), Stream: true, Want: text("Hello", "length", 2, 2)},
		{Name: "an event of another type", Answer: suppliertest.Events(piece("Hello"), `{"type":"something new"}`, finish, stop), Stream: true, Want: text("Hello", "length", 2, 2)},
		{Name: "a thought with a text", Answer: suppliertest.JSON(200, `{"content":[{"type":"thinking","text":"not this"},{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`), Want: text("Hello", "stop", 2, 2)},
		{Name: "thoughts apart", Answer: suppliertest.JSON(200, `{"content":[{"type":"thinking","thinking":"A"},{"type":"thinking","thinking":""},{"type":"thinking","thinking":"B"},{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`), Want: mused("A\n\nB")},
		{Name: "a thought without a beginning", Answer: suppliertest.Events(`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"A"}}`, piece("Hello"), stop), Stream: true, Want: mused("A")},
		{Name: "a signature, an input and an end without a beginning", Answer: suppliertest.Events(`{"type":"content_block_delta","index":4,"delta":{"type":"signature_delta","signature":"A"}}`, `{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{"}}`, `{"type":"content_block_stop","index":4}`, piece("Hello"), stop), Stream: true, Want: mused("")},
		{Name: "pages in a stream", Answer: suppliertest.Events(piece("Hello"), `{"type":"content_block_delta","delta":{"type":"citations_delta","citation":`+cited+`}}`, `{"type":"content_block_delta","delta":{"type":"citations_delta","citation":`+cited+`}}`, stop), Stream: true, Want: mused("", page)},
		{Name: "pages and other places", Answer: suppliertest.JSON(200, `{"content":[{"type":"text","text":"Hello","citations":[{"type":"char_location","cited_text":"a"},{"type":"web_search_result_location","url":""},`+cited+`]}],"stop_reason":"end_turn"}`), Want: mused("", page)},
		{Name: "members of other types", Answer: suppliertest.JSON(200, `{"content":[{"type":"new","data":{},"id":7,"tool_use_id":[],"content":"a","caller":1},{"type":"text","text":"Hello","citations":{"enabled":true}}],"stop_reason":"end_turn"}`), Want: mused("")},
		{Name: "no end mark", Answer: suppliertest.Events(piece("Hel"), piece("lo"), finish), Stream: true, Want: text("Hello", "length", 2, 2)},
		{Name: "no stop reason", Answer: suppliertest.Events(piece("Hel"), piece("lo"), stop), Stream: true, Want: text("Hello", "stop", 2, 2)},
		{Name: "nothing to add in a stream", Answer: suppliertest.Events(finish, stop), Stream: true, Want: text("", "length", 2, 2)},
		{Name: "usage after the stop reason", Answer: suppliertest.Events(piece("Hello"), finish, `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":5}}`, stop), Stream: true, Want: text("Hello", "length", 2, 5)},
		{Name: "noise after the stop reason", Answer: suppliertest.Events(piece("Hello"), finish, `{`, `{"type":"error","error":{"type":"api_error"}}`, piece("x")), Stream: true, Want: text("Hello", "length", 2, 2)},
	})
}

func TestUnfit(t *testing.T) {
	other := request(`{"prompt":"Hi"}`, `{}`)
	other.Capability = "image.generate"
	suppliertest.RunUnfit(t, anthropic.Kind(), map[string]supplier.Request{
		"capability": other,
		"parameter":  request(`{"prompt":"Hi"}`, `{"top_k":1}`),
		"no JSON":    request(`{`, `{}`),
	})
}

// TestPrompt shows the smallest request.
func TestPrompt(t *testing.T) {
	a := suppliertest.Answered(t, anthropic.Kind(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const want = `{"model":"model-1","max_tokens":1024,"messages":[{"role":"user","content":"Hi"}]}`
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != want || r.URL.Path != "/v1/messages" {
			t.Errorf("sent %s to %s, %v, want %s", b, r.URL, err, want)
		}
		suppliertest.JSON(200, chatAnswer).ServeHTTP(w, r)
	}))
	if _, err := suppliertest.Send(t, a, request(`{"prompt":"Hi"}`, `{}`), false); err != nil {
		t.Error(err)
	}
}
