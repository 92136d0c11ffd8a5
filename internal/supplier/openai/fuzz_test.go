package openai_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

func FuzzChatAnswer(f *testing.F) {
	suppliertest.FuzzText(f, openai.Kind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		chatAnswer, ``, `null`, `[]`, `<html>`, `{"choices":[]}`, `{"error":"x"}`, `{"error":{"code":429}}`,
		`{"object":"error","code":400}`, `{"object":"error","code":400}0`, `[{"error":{"code":400}}]`, `{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`,
		`{"choices":[{"message":{"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":-1,"completion_tokens":"x"}}`,
		`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":7,`+
			`"audio_tokens":-6,"image_tokens":"5"},"completion_tokens_details":{"reasoning_tokens":1e12,"audio_tokens":3},"prompt_cache_hit_tokens":4}}`,
		`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":[{"reasoning_tokens":1}]}}`,
	)
}

func FuzzEmbedAnswer(f *testing.F) {
	for _, s := range []string{
		embedAnswer, ``, `{"data":[{"embedding":[1]},{"embedding":[1e39]}]}`, `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}`,
		`{"data":[{"embedding":"AACAPw=="},{"embedding":"AACAvw=="}]}`, `{"data":[{"embedding":"AADAfw=="},{"embedding":[1]}]}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, openai.Kind(), "application/json")
	r := request("text.embed", `{"texts":["a","b"]}`, `{}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		v := out.Result.Embeddings
		if len(v) != 2 || len(v[0]) == 0 || len(v[0]) != len(v[1]) {
			t.Errorf("vectors %v", v)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
	})
}

func FuzzStream(f *testing.F) {
	suppliertest.FuzzTextStream(f, openai.Kind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", "data: [DONE]", ": ping\n\n", "data: {\"error\":{\"code\":429}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: {", "\ufeffdata: {}\r\r",
		"data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n", "event: error\ndata: {\"choices\":[{\"delta\":{},\"error\":{}}]}\n\n",
	)
}

// FuzzStreamPieces cuts a text into pieces and expects it whole.
func FuzzStreamPieces(f *testing.F) {
	f.Add("Hello, world.", uint8(3))
	f.Add("line\nline\r\n\r\ndata: x\n\n", uint8(1))
	f.Add("äöü€", uint8(2))
	a, answer := suppliertest.Answering(f, openai.Kind(), "text/event-stream")
	r := request("text.chat", `{"prompt":"Hi"}`, `{}`)
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if !utf8.ValidString(text) || text == "" {
			t.Skip()
		}
		var b strings.Builder
		for part := range slices.Chunk([]rune(text), max(int(size), 1)) {
			piece, err := json.Marshal(string(part))
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("data: {\"choices\":[{\"delta\":{\"content\":" + string(piece) + "}}]}\n\n")
		}
		answer(b.String() + "data: [DONE]\n\n")
		got, err := suppliertest.Send(t, a, r, true)
		if err != nil {
			t.Fatal(err)
		}
		if *got.Text != text {
			t.Errorf("text: got %q, want %q", *got.Text, text)
		}
	})
}
