package upstream_test

import (
	"encoding/json"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

func TestHonours(t *testing.T) {
	h := upstream.Honours{"text.chat": {Input: []string{"prompt"}, Parameters: []string{"stop"}}}
	tests := []struct{ capability, input, parameters, want string }{
		{"text.chat", `{"prompt":"Hi"}`, `{"stop":[{"deep":1}]}`, ""},
		{"text.chat", `{}`, `{}`, ""},
		{"text.embed", `{}`, `{}`, "the capability is none of this kind's"},
		{"text.chat", `{"image":{"prompt":1},"prompt":"Hi"}`, `{}`, "input image has no counterpart in this format"},
		{"text.chat", `{"prompt":"Hi"}`, `{"stop":["x"],"top_k":1}`, "parameter top_k has no counterpart in this format"},
	}
	for _, tt := range tests {
		r := supplier.Request{
			Capability: tt.capability, Input: json.RawMessage(tt.input), Parameters: json.RawMessage(tt.parameters),
		}
		if got := h.Refuses(r); got != tt.want {
			t.Errorf("%s %s %s: got %q, want %q", tt.capability, tt.input, tt.parameters, got, tt.want)
		}
	}
}

func TestDecodeRequest(t *testing.T) {
	type one struct {
		A *int `json:"a"`
	}
	for _, tt := range []struct {
		input, parameters string
		ok                bool
	}{
		{`{"a":1}`, `{}`, true},
		{`{"a":1,"b":2}`, `{}`, false},
		{`{"a":1}`, `{"b":2}`, false},
		{`{"a":"1"}`, `{}`, false},
		{`{`, `{}`, false},
	} {
		var in, p one
		r := supplier.Request{Input: json.RawMessage(tt.input), Parameters: json.RawMessage(tt.parameters)}
		if err := upstream.DecodeRequest(r, &in, &p); (err == nil) != tt.ok {
			t.Errorf("%s %s: error %v, want success: %t", tt.input, tt.parameters, err, tt.ok)
		}
	}
}

func TestTokens(t *testing.T) {
	tests := []struct {
		input, output   string
		asked, answered int
		want            supplier.Usage
	}{
		{`7`, `3`, 100, 100, supplier.Usage{InputTokens: 7, OutputTokens: 3}},
		{`1e2`, `2.0`, 0, 0, supplier.Usage{InputTokens: 100, OutputTokens: 2}},
		{``, `0`, 5, 4, supplier.Usage{InputTokens: 2, OutputTokens: 1}},
		{`-1`, `"x"`, 1, 0, supplier.Usage{InputTokens: 1}},
		{`1e40`, `NaN`, 4, 5, supplier.Usage{InputTokens: 1, OutputTokens: 2}},
	}
	for _, tt := range tests {
		in, out := upstream.Count(json.RawMessage(tt.input)), upstream.Count(json.RawMessage(tt.output))
		if got := upstream.Tokens(supplier.Usage{InputTokens: in, OutputTokens: out}, tt.asked, tt.answered); got != tt.want {
			t.Errorf("%s, %s: got %+v, want %+v", tt.input, tt.output, got, tt.want)
		}
	}
}

func TestBounded(t *testing.T) {
	tests := map[string]struct{ reported, want supplier.Usage }{
		"within": {
			supplier.Usage{InputTokens: 10, CachedInputTokens: 4, ImageInputTokens: 6, OutputTokens: 3, ReasoningTokens: 3},
			supplier.Usage{InputTokens: 10, CachedInputTokens: 4, ImageInputTokens: 6, OutputTokens: 3, ReasoningTokens: 3},
		},
		"a cached image is cached": {
			supplier.Usage{InputTokens: 10, CachedInputTokens: 8, ImageInputTokens: 6, AudioInputTokens: 1},
			supplier.Usage{InputTokens: 10, CachedInputTokens: 8, ImageInputTokens: 1, AudioInputTokens: 1},
		},
		"above": {
			supplier.Usage{InputTokens: 10, CacheWriteTokens: 4, CachedInputTokens: 50, OutputTokens: 2, AudioOutputTokens: 9, ReasoningTokens: 9},
			supplier.Usage{InputTokens: 10, CacheWriteTokens: 4, CachedInputTokens: 6, OutputTokens: 2, AudioOutputTokens: 2},
		},
		"without a whole": {supplier.Usage{CachedInputTokens: 5, ReasoningTokens: 5, Pages: 2}, supplier.Usage{Pages: 2}},
		"below 0":         {supplier.Usage{InputTokens: 3, ImageInputTokens: -2}, supplier.Usage{InputTokens: 3}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := upstream.Bounded(tt.reported); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
