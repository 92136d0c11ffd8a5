package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
)

// TestAnswerFitsTheRequest: a text that is longer than the request may produce, many times over, isn't taken,
// streamed or not; the same text is if more was requested.
func TestAnswerFitsTheRequest(t *testing.T) {
	text := strings.Repeat("a", 3<<20)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			t.Error(err)
		}
		if !ask.Stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, text)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for at := 0; at < len(text); at += 64 << 10 {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", text[at:at+64<<10])
		}
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	adapter, err := openai.Kind().New(supplier.Config{Name: "upstream", BaseURL: upstream.URL})
	if err != nil {
		t.Fatal(err)
	}
	for tokens, want := range map[int]bool{1: false, 100_000: true} {
		request := supplier.Request{
			Capability: "text.chat", Model: "m", Input: json.RawMessage(`{"prompt":"hello"}`), Parameters: json.RawMessage(fmt.Sprintf(`{"max_output_tokens":%d}`, tokens)),
		}
		if _, err := adapter.Submit(t.Context(), request); (err == nil) != want {
			t.Errorf("%d tokens: %v", tokens, err)
		}
		if _, err := adapter.(supplier.Streamer).Stream(t.Context(), request, func(supplier.Delta) {}); (err == nil) != want {
			t.Errorf("%d tokens, streamed: %v", tokens, err)
		}
	}
}
