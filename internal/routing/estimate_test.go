package routing_test

import (
	"encoding/json"
	"strings"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/routing"
)

// FuzzEstimate: an estimate reads a text's parameters as encoding/json does.
func FuzzEstimate(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `{"max_output_tokens":200}`, `{"max_output_tokens":1,"max_output_tokens":2}`, `{"max_output_tokens":1.5}`,
		`{"max_output_tokens":"7"}`, `{"max_output_tokens":1e3}`, `{"max_output_tokens":-5}`, `{"max_output_tokens":null}`,
		`{"Max_Output_Tokens":9}`, `{"max_output_tokenſ":9}`, `{"max_output_tokens":5,"temperature":0.7,"voice":"Alto"}`,
		`{"stop":["a"],"max_output_tokens":8}`, `{"a":{"max_output_tokens":8}}`, `{"a":1,"max_output_tokens":8`, `{"max_output_tokens":8},`,
		`{"max_output_tokens":8}}`, `{"max_output_tokens":8]`, `{ "max_output_tokens" : 8 }`, `{"a":"max_output_tokens","b":1}`, `["max_output_tokens",8]`,
		`{"max_output_tokens":12345678901234567890}`, `{"max_output_tokens":1234567890123456}`, `{"max_output_tokens":8.0}`, `{"max_output_tokens":-0}`, `{"max-output-tokens":9}`, `{"maxOutputTokens":9}`,
		`{"\u006dax_output_tokens":8}`, `{"max_output_tokens":8,"text":1,"audio":{"data":2},"n":1e400}`, "{\"a\":\"\xff\",\"max_output_tokens\":8}",
		`{"max_output_tokens":8,"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`,
		`{"max_output_tokens":8,"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
		`{"max_output_tokens":8,}`, `{"max_output_tokens":`, `{"n":true,"max_output_tokens":8}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, parameters []byte) {
		var read struct {
			MaxTokens int64 `json:"max_output_tokens"`
		}
		want := int64(routing.DefaultOutputTokens)
		if _ = json.Unmarshal(parameters, &read); read.MaxTokens > 0 {
			want = read.MaxTokens
		}
		if got := routing.Estimate(catalog.Capability{Name: "text.chat"}, 0, nil, parameters).OutputTokens; got != want {
			t.Errorf("%s: got %d, want %d", parameters, got, want)
		}
	})
}
