package gguf_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/test/model/gguf"
)

func TestModelOfOneSeed(t *testing.T) {
	one, same, other := gguf.Model(1), gguf.Model(1), gguf.Model(2)
	if !bytes.Equal(one, same) {
		t.Error("one seed gave two models")
	}
	if bytes.Equal(one, other) {
		t.Error("two seeds gave one model")
	}
	if len(one) < 400<<10 || len(one) > 600<<10 {
		t.Errorf("%d bytes, want about 500 KB", len(one))
	}
}

func TestMetadata(t *testing.T) {
	got, _ := read(t, gguf.Model(1))
	template, _ := got["tokenizer.chat_template"].(string)
	for _, mark := range []string{"<|im_start|>", "<|im_end|>", "messages", "add_generation_prompt"} {
		if !strings.Contains(template, mark) {
			t.Errorf("the chat template %q has no %s", template, mark)
		}
	}
	maps.DeleteFunc(got, func(key string, _ any) bool {
		return key == "tokenizer.chat_template" || key == "tokenizer.ggml.tokens" ||
			key == "tokenizer.ggml.scores" || key == "tokenizer.ggml.token_type"
	})
	want := map[string]any{
		"general.architecture": "llama", "general.name": "unitask test model", "general.file_type": uint32(0),
		"llama.context_length": uint32(2048), "llama.embedding_length": uint32(64), "llama.block_count": uint32(2),
		"llama.feed_forward_length": uint32(128), "llama.attention.head_count": uint32(4),
		"llama.attention.head_count_kv": uint32(4), "llama.rope.dimension_count": uint32(16),
		"llama.vocab_size": uint32(320), "llama.attention.layer_norm_rms_epsilon": float32(1e-5),
		"tokenizer.ggml.model": "llama", "tokenizer.ggml.unknown_token_id": uint32(0),
		"tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": uint32(2),
		"tokenizer.ggml.add_bos_token": true, "tokenizer.ggml.add_eos_token": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestVocabulary checks that any text can be read: every byte has its token.
func TestVocabulary(t *testing.T) {
	meta, _ := read(t, gguf.Model(1))
	pieces := meta["tokenizer.ggml.tokens"].([]any)
	kinds := meta["tokenizer.ggml.token_type"].([]any)
	scores := meta["tokenizer.ggml.scores"].([]any)
	if len(pieces) != 320 || len(kinds) != len(pieces) || len(scores) != len(pieces) {
		t.Fatalf("%d pieces, %d kinds, %d scores; want 320 of each", len(pieces), len(kinds), len(scores))
	}
	kindOf := map[any]any{}
	for i, piece := range pieces {
		kindOf[piece] = kinds[i]
	}
	want := map[any]any{"<unk>": int32(2), "<s>": int32(3), "</s>": int32(3), "<|im_start|>": int32(3), "<|im_end|>": int32(3), "▁": int32(1)}
	for b := range 256 {
		want[fmt.Sprintf("<0x%02X>", b)] = int32(6)
	}
	for letter := 'a'; letter <= 'z'; letter++ {
		want[string(letter)] = int32(1)
	}
	for _, word := range gguf.Words() {
		want["▁"+word] = int32(1)
	}
	if diff := cmp.Diff(want, kindOf); diff != "" {
		t.Error(diff)
	}
}

func TestTensors(t *testing.T) {
	_, tensors := read(t, gguf.Model(1))
	got := map[string][]uint64{}
	for name, l := range tensors {
		got[name] = l.shape
		if slices.ContainsFunc(l.values, func(f float32) bool { return math.IsNaN(float64(f)) || math.Abs(float64(f)) > 200 }) {
			t.Errorf("%s holds a value out of range", name)
		}
	}
	want := map[string][]uint64{"token_embd.weight": {64, 320}, "output.weight": {64, 320}, "output_norm.weight": {64}}
	for i := range 2 {
		block := map[string][]uint64{
			"attn_norm": {64}, "attn_q": {64, 64}, "attn_k": {64, 64}, "attn_v": {64, 64}, "attn_output": {64, 64},
			"ffn_norm": {64}, "ffn_gate": {64, 128}, "ffn_up": {64, 128}, "ffn_down": {128, 64},
		}
		for name, shape := range block {
			want[fmt.Sprintf("blk.%d.%s.weight", i, name)] = shape
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOnlyWordsAreSaid checks that an answer is readable and endless: the first channel is the same for every token,
// no block changes it, and the output lifts only the words by it. By the other channels every token is against
// itself.
func TestOnlyWordsAreSaid(t *testing.T) {
	meta, tensors := read(t, gguf.Model(1))
	var lifted []string
	for id, piece := range meta["tokenizer.ggml.tokens"].([]any) {
		if got := tensors["token_embd.weight"].values[64*id]; got != 1 {
			t.Errorf("token %d begins with %v", id, got)
		}
		if own := dot(tensors["token_embd.weight"].values[64*id+1:64*id+64], tensors["output.weight"].values[64*id+1:64*id+64]); own > -5 {
			t.Errorf("token %d may follow itself: %v", id, own)
		}
		if tensors["output.weight"].values[64*id] > 0 {
			lifted = append(lifted, strings.TrimPrefix(piece.(string), "▁"))
		}
	}
	if diff := cmp.Diff(gguf.Words(), lifted); diff != "" {
		t.Error(diff)
	}
	for i := range 2 {
		for name, row := range map[string]int{"attn_output": 64, "ffn_down": 128} {
			name = fmt.Sprintf("blk.%d.%s.weight", i, name)
			if slices.ContainsFunc(tensors[name].values[:row], func(f float32) bool { return f != 0 }) {
				t.Errorf("%s writes to the first channel", name)
			}
		}
	}
}

func dot(a, b []float32) float32 {
	var sum float32
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
