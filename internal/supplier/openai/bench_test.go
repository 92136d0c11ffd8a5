package openai_test

import (
	"strings"
	"testing"

	"unitask/internal/supplier/openai"
)

// usualAnswer is the answer of test/bench's mock upstream.
var usualAnswer = `{"id":"chatcmpl-0","object":"chat.completion","created":1700000000,"model":"mock","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"` + strings.Repeat("All work and no play. ", 28) + `"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":12,"completion_tokens":120,"total_tokens":132}}`

func BenchmarkRefuses(b *testing.B) {
	r := request("text.chat", `{"prompt":"hello"}`, `{}`)
	kind := openai.Kind()
	b.ReportAllocs()
	for b.Loop() {
		if why := kind.Refuses(r); why != "" {
			b.Fatal(why)
		}
	}
}

func BenchmarkAsk(b *testing.B) {
	r := request("text.chat", `{"prompt":"hello"}`, `{}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := openai.Ask(r, "max_tokens", true, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	body, answered := []byte(usualAnswer), openai.Answered()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := answered(body); err != nil {
			b.Fatal(err)
		}
	}
}
