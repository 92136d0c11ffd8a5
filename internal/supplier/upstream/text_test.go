package upstream_test

import (
	"testing"

	"unitask/internal/supplier/upstream"
)

func TestTextLimit(t *testing.T) {
	const base = 1 << 20
	for parameters, want := range map[string]int64{
		``: base + 1024*256, `{}`: base + 1024*256, `{"max_output_tokens":1}`: base + 256,
		`{"temperature":0.5,"max_output_tokens":4096}`: base + 4096*256, `{"max_output_tokens":262144}`: 16 << 20,
		`{"max_output_tokens":-5}`: base,
	} {
		if got := upstream.TextLimit([]byte(parameters)); got != want {
			t.Errorf("%s: %d, want %d", parameters, got, want)
		}
	}
}
