// Package gguf writes a tiny language model for tests that need a real model server: a file in the
// GGUF format that Ollama and llama.cpp load, made from a seed.
//
// The model is of the llama architecture with random weights. It answers with words from a short list, in an order
// that depends on the prompt, and never ends an answer by itself: the caller's limit ends it. It is no model of any
// language and has no trained weights.
package gguf

import (
	"fmt"
	"math/rand/v2"
)

// The model's dimensions; together about half a megabyte in F32.
const (
	contextLength = 2048
	width         = 64 // of an embedding
	heads         = 4
	blocks        = 2
	feedForward   = 128
)

// steady is the channel of the hidden state that no block writes to. It is the same for every token, so that its
// readers add a constant.
const steady = 0

// bias lifts the words and lowers every other token, by far more than the other channels add up to.
const bias = 200

// Model returns the file's bytes. The same seed gives the same bytes.
func Model(seed uint64) []byte {
	var e encoder
	vocabulary := newVocabulary()
	describe(&e, vocabulary)
	weigh(&e, vocabulary, rand.New(rand.NewPCG(seed, 0)))
	return e.file()
}

// describe writes the metadata that a loader needs.
func describe(e *encoder, v vocabulary) {
	e.text("general.architecture", "llama")
	e.text("general.name", "unitask test model")
	e.count("general.file_type", 0) // all of it is F32
	e.count("llama.context_length", contextLength)
	e.count("llama.embedding_length", width)
	e.count("llama.block_count", blocks)
	e.count("llama.feed_forward_length", feedForward)
	e.count("llama.attention.head_count", heads)
	e.count("llama.attention.head_count_kv", heads)
	e.count("llama.rope.dimension_count", width/heads)
	e.count("llama.vocab_size", uint32(len(v.pieces)))
	e.number("llama.attention.layer_norm_rms_epsilon", 1e-5)
	e.text("tokenizer.ggml.model", "llama")
	e.texts("tokenizer.ggml.tokens", v.pieces)
	e.numbers("tokenizer.ggml.scores", v.scores)
	e.kinds("tokenizer.ggml.token_type", v.kinds)
	e.count("tokenizer.ggml.unknown_token_id", unknown)
	e.count("tokenizer.ggml.bos_token_id", begin)
	e.count("tokenizer.ggml.eos_token_id", end)
	e.flag("tokenizer.ggml.add_bos_token", true)
	e.flag("tokenizer.ggml.add_eos_token", false)
	e.text("tokenizer.chat_template", chatTemplate)
}

// weigh writes the tensors; a shape names the fastest running dimension first. A token's output is turned against its
// embedding, so that no word follows itself: servers cut off repetitions.
func weigh(e *encoder, v vocabulary, random *rand.Rand) {
	tokens := len(v.pieces)
	embedding := uniform(random, width*tokens, 1)
	output := uniform(random, width*tokens, 1)
	for id := range tokens {
		for channel := range width {
			output[id*width+channel] -= embedding[id*width+channel]
		}
		embedding[id*width+steady] = 1
		output[id*width+steady] = -bias
		if id >= v.firstWord {
			output[id*width+steady] = bias
		}
	}
	e.tensor("token_embd.weight", embedding, width, tokens)
	for i := range blocks {
		weighBlock(e, fmt.Sprintf("blk.%d.", i), random)
	}
	e.tensor("output_norm.weight", ones(width), width)
	e.tensor("output.weight", output, width, tokens)
}

func weighBlock(e *encoder, prefix string, random *rand.Rand) {
	const gain = 0.2 // small enough for the residual stream to stay near the embeddings
	e.tensor(prefix+"attn_norm.weight", ones(width), width)
	for _, name := range []string{"attn_q", "attn_k", "attn_v"} {
		e.tensor(prefix+name+".weight", uniform(random, width*width, gain), width, width)
	}
	e.tensor(prefix+"attn_output.weight", silent(uniform(random, width*width, gain), width), width, width)
	e.tensor(prefix+"ffn_norm.weight", ones(width), width)
	for _, name := range []string{"ffn_gate", "ffn_up"} {
		e.tensor(prefix+name+".weight", uniform(random, width*feedForward, gain), width, feedForward)
	}
	e.tensor(prefix+"ffn_down.weight", silent(uniform(random, feedForward*width, gain), feedForward), feedForward, width)
}

// uniform returns n numbers in [-limit, limit).
func uniform(random *rand.Rand, n int, limit float32) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = limit * (2*random.Float32() - 1)
	}
	return values
}

func ones(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = 1
	}
	return values
}

// silent clears the row that writes to the steady channel.
func silent(matrix []float32, columns int) []float32 {
	clear(matrix[steady*columns : (steady+1)*columns])
	return matrix
}
