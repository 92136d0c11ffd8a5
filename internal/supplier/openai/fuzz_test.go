package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
)

// answering is a server that gives whatever bytes it was last told, and an adapter for it.
func answering(f *testing.F, contentType string) (supplier.Adapter, *atomic.Pointer[[]byte]) {
	f.Helper()
	var body atomic.Pointer[[]byte]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(*body.Load())
	}))
	f.Cleanup(srv.Close)
	a, err := openai.New(supplier.Config{BaseURL: srv.URL})
	if err != nil {
		f.Fatal(err)
	}
	return a, &body
}

// checkFailure checks what holds of every error that an answer of success can cause.
func checkFailure(t *testing.T, err error, body string) {
	t.Helper()
	e, ok := errors.AsType[*supplier.Error](err)
	if !ok {
		t.Fatalf("error %v is no *supplier.Error", err)
	}
	if !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal {
		t.Errorf("code %q", e.Fault.Code)
	}
	if e.Sent != supplier.Refused && e.Sent != supplier.Unknown {
		t.Errorf("verdict %q of an answered submission", e.Sent)
	}
	if !json.Valid([]byte(body)) && e.Sent != supplier.Unknown && !strings.Contains(body, "data:") {
		t.Errorf("verdict %q of an answer that is no JSON", e.Sent)
	}
	if len(body) > 40 && strings.Contains(err.Error(), body) {
		t.Error("the error holds the answer")
	}
}

func FuzzChatAnswer(f *testing.F) {
	for _, s := range []string{
		chatAnswer, ``, `null`, `[]`, `<html>`, `{"choices":[]}`, `{"error":"x"}`, `{"error":{"code":429}}`,
		`{"object":"error","code":400}`, `{"object":"error","code":400}0`, `[{"error":{"code":400}}]`, `{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`,
		`{"choices":[{"message":{"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":-1,"completion_tokens":"x"}}`,
	} {
		f.Add(s)
	}
	a, answer := answering(f, "application/json")
	r := request("text.chat", `{"prompt":"Hi"}`, `{}`)
	f.Fuzz(func(t *testing.T, body string) {
		b := []byte(body)
		answer.Store(&b)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			checkFailure(t, err, body)
			return
		}
		checkText(t, out)
		if !json.Valid(b) {
			t.Error("a result from what is no JSON")
		}
	})
}

func checkText(t *testing.T, out supplier.Outcome) {
	t.Helper()
	res := out.Result
	if res == nil || res.Text == nil || res.FinishReason != "stop" && res.FinishReason != "length" {
		t.Fatalf("result %+v", res)
	}
	if res.Usage.InputTokens < 1 || res.Usage.OutputTokens < 0 || *res.Text != "" && res.Usage.OutputTokens == 0 {
		t.Errorf("usage %+v of %d bytes", res.Usage, len(*res.Text))
	}
}

func FuzzEmbedAnswer(f *testing.F) {
	for _, s := range []string{embedAnswer, ``, `{"data":[{"embedding":[1]},{"embedding":[1e39]}]}`, `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}`} {
		f.Add(s)
	}
	a, answer := answering(f, "application/json")
	r := request("text.embed", `{"texts":["a","b"]}`, `{}`)
	f.Fuzz(func(t *testing.T, body string) {
		b := []byte(body)
		answer.Store(&b)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			checkFailure(t, err, body)
			return
		}
		v := out.Result.Embeddings
		if len(v) != 2 || len(v[0]) == 0 || len(v[0]) != len(v[1]) {
			t.Errorf("vectors %v", v)
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", "data: [DONE]", ": ping\n\n", "data: {\"error\":{\"code\":429}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: {", "\ufeffdata: {}\r\r",
		"data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n", "event: error\ndata: {\"choices\":[{\"delta\":{},\"error\":{}}]}\n\n",
	} {
		f.Add(s)
	}
	a, answer := answering(f, "text/event-stream")
	r := request("text.chat", `{"prompt":"Hi"}`, `{}`)
	f.Fuzz(func(t *testing.T, body string) {
		b := []byte(body)
		answer.Store(&b)
		var text strings.Builder
		out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(d supplier.Delta) { text.WriteString(d.Text) })
		if err != nil {
			checkFailure(t, err, body)
			if e := supplier.AsError(err); text.Len() > 0 && e.Sent != supplier.Unknown && e.Fault.Code != fault.ContentPolicyViolation {
				t.Errorf("verdict %q after text was delivered", e.Sent)
			}
			return
		}
		checkText(t, out)
		if text.String() != *out.Result.Text {
			t.Errorf("deltas %q, text %q", text.String(), *out.Result.Text)
		}
	})
}

// FuzzStreamPieces cuts a text into pieces and expects it whole.
func FuzzStreamPieces(f *testing.F) {
	f.Add("Hello, world.", uint8(3))
	f.Add("line\nline\r\n\r\ndata: x\n\n", uint8(1))
	f.Add("äöü€", uint8(2))
	a, answer := answering(f, "text/event-stream")
	r := request("text.chat", `{"prompt":"Hi"}`, `{}`)
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if !utf8.ValidString(text) || text == "" {
			t.Skip()
		}
		var b []byte
		runes := []rune(text)
		for step := max(int(size), 1); len(runes) > 0; runes = runes[min(step, len(runes)):] {
			part, err := json.Marshal(string(runes[:min(step, len(runes))]))
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, `data: {"choices":[{"delta":{"content":`+string(part)+"}}]}\n\n"...)
		}
		b = append(b, "data: [DONE]\n\n"...)
		answer.Store(&b)
		out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(supplier.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		if got := *out.Result.Text; got != text {
			t.Errorf("text: got %q, want %q", got, text)
		}
	})
}
