package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// chatServer is a chat server that streams in the formats of three suppliers, and dies in the middle if the prompt says
// so.
type chatServer struct {
	*httptest.Server
	calls atomic.Int64
}

var words = []string{"Streams ", "are ", "told ", "word ", "by ", "word — ", "ünïcode ", "🦊 too."}

// chunk is each format's form of a word, and its events before and after all of them.
var chunks = map[string]struct{ first, word, last string }{
	"/v1/chat/completions": {
		word: `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%s}}]}` + "\n\n",
		last: `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9}}` + "\n\ndata: [DONE]\n\n",
	},
	"/v1/messages": {
		first: `data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":5}}}` + "\n\n",
		word:  `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}` + "\n\n",
		last: `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n",
	},
	"/v1beta/models/secret-model:streamGenerateContent": {
		word: `data: {"candidates":[{"content":{"role":"model","parts":[{"text":%s}]}}]}` + "\n\n",
		last: `data: {"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}}` + "\n\n",
	},
}

func newChatServer(t *testing.T) *chatServer {
	t.Helper()
	s := &chatServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		format, ok := chunks[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		s.calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", sse.ContentType)
		_, _ = io.WriteString(w, format.first)
		for i, word := range words {
			if i == 3 && bytes.Contains(body, []byte("die")) {
				panic(http.ErrAbortHandler)
			}
			quoted, _ := json.Marshal(word)
			_, _ = fmt.Fprintf(w, format.word, quoted)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, format.last)
	}))
	t.Cleanup(s.Close)
	return s
}

// streamOf creates a task as a stream, and returns its last event and the sum of its pieces.
func (h *host) streamOf(key, prompt string) (last api.Task, text string) {
	h.T.Helper()
	request, err := http.NewRequestWithContext(h.T.Context(), http.MethodPost, h.Base+api.PathTasks,
		strings.NewReader(`{"capability":"text.chat","input":{"prompt":"`+prompt+`"}}`))
	if err != nil {
		h.T.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + h.key, "Content-Type": "application/json", "Accept": sse.ContentType, api.HeaderIdempotencyKey: key,
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for e, err := range sse.Read(response.Body, 0) {
		var piece api.Delta
		switch {
		case err != nil:
			h.T.Fatal(err)
		case e.Name == api.EventTask:
			err = json.Unmarshal([]byte(e.Data), &last)
		default:
			err = json.Unmarshal([]byte(e.Data), &piece)
		}
		if err != nil {
			h.T.Fatal(err)
		}
		text += piece.Text
	}
	return last, text
}

// TestStreams has each supplier that streams answer through the real binary: the pieces add up to the stored text.
// One that dies in the middle leaves an unknown outcome; it isn't asked again, nor is another, until the caller says
// so.
func TestStreams(t *testing.T) {
	whole := strings.Join(words, "")
	for _, kind := range []string{"openai", "anthropic", "gemini"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, base := newChatServer(t), ""
			if kind == "openai" {
				base = "/v1"
			}
			h := newHost(t)
			h.Env = []string{"UPSTREAM_KEY=upstream-key"}
			h.Config = `suppliers:
  - {name: first, kind: ` + kind + `, base_url: "` + s.URL + base + `", api_key: env:UPSTREAM_KEY}
  - {name: second, kind: ` + kind + `, base_url: "` + s.URL + base + `", api_key: env:UPSTREAM_KEY}
routes:
  text.chat:
    - {supplier: first, model: secret-model, price: {unit: mtok, input: "1.00", output: "5.00"}}
    - {supplier: second, model: secret-model, price: {unit: mtok, input: "2.00", output: "6.00"}}
`
			h.start()
			h.useLiveKey()
			last, text := h.streamOf("streams-0001", "go on")
			var stored api.Task
			h.call(http.MethodGet, api.PathTasks+"/"+last.ID, "", nil, &stored)
			if last.State != task.Succeeded || text != whole || stored.Output == nil || *stored.Output.Text != text || stored.Usage.OutputTokens != 9 {
				t.Errorf("told %q, stored %+v", text, stored)
			}
			broken, half := h.streamOf("streams-0002", "die")
			if broken.State != task.Failed || !broken.Error.Retryable || !strings.HasPrefix(whole, half) || half == "" {
				t.Errorf("after %q: %+v", half, broken.Error)
			}
			if code := broken.Error.Code; code != fault.ProviderTimeout && code != fault.ProviderUnavailable {
				t.Errorf("the code is %s", code)
			}
			h.expectUnknown(broken.ID, 1)
			if n := s.calls.Load(); n != 2 {
				t.Errorf("%d calls upstream, want 2", n)
			}
			again, _ := h.streamOf("streams-0002", "die")
			if again.ID != broken.ID || s.calls.Load() != 3 {
				t.Errorf("the retry is %s, after %d calls", again.ID, s.calls.Load())
			}
			h.expectUnknown(broken.ID, 2)
		})
	}
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		h := newHost(t).start()
		last, text := h.streamOf("streams-0001", "repeat "+whole)
		if last.State != task.Succeeded || text != whole || *last.Output.Text != text {
			t.Errorf("told %q, last %+v", text, last)
		}
	})
}

// expectUnknown holds the ledger to so many attempts of unknown outcome.
func (h *host) expectUnknown(id string, attempts int) {
	h.T.Helper()
	ledger, err := h.AdminTask(h.T.Context(), id)
	if err != nil {
		h.T.Fatal(err)
	}
	for _, a := range ledger.Attempts {
		if a.State != task.UnknownOutcome || !a.CostUnknown {
			h.T.Errorf("attempt %d is %s", a.N, a.State)
		}
	}
	if len(ledger.Attempts) != attempts {
		h.T.Errorf("%d attempts, want %d", len(ledger.Attempts), attempts)
	}
}
