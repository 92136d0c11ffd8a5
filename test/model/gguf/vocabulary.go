package gguf

import (
	"fmt"
	"strings"
)

// The kinds of tokens, as the format numbers them.
const (
	kindNormal  int32 = 1
	kindUnknown int32 = 2
	kindControl int32 = 3
	kindByte    int32 = 6
)

// The tokens that the metadata names by number.
const (
	unknown = 0
	begin   = 1
	end     = 2
)

// Loaders tell a chat format by this text; the marks are control tokens of the vocabulary.
const (
	turnStart    = "<|im_start|>"
	turnEnd      = "<|im_end|>"
	chatTemplate = "{% for turn in messages %}{{ '" + turnStart + "' + turn['role'] + '\n' + turn['content'] + '" + turnEnd +
		"' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '" + turnStart + "assistant\n' }}{% endif %}"
)

// space is how the tokenizer writes a blank within a piece.
const space = "▁"

// words are all that the model ever says.
const words = "amber birch cedar delta ember fjord grove heron inlet jetty kelp lagoon meadow north otter pebble " +
	"quartz river salt tide umber valley willow yarrow zephyr cloud dune frost harbor island lantern moss"

// vocabulary is the tokens in the order of their ids.
type vocabulary struct {
	pieces    []string
	scores    []float32
	kinds     []int32
	firstWord int // the id of the first word; all after it are words
}

// newVocabulary returns 320 tokens: the special ones, all bytes, so that any text can be read, the
// letters and the words.
func newVocabulary() vocabulary {
	var v vocabulary
	v.add("<unk>", kindUnknown)
	v.add("<s>", kindControl)
	v.add("</s>", kindControl)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), kindByte)
	}
	v.add(turnStart, kindControl)
	v.add(turnEnd, kindControl)
	v.add(space, kindNormal)
	for letter := 'a'; letter <= 'z'; letter++ {
		v.add(string(letter), kindNormal)
	}
	v.firstWord = len(v.pieces)
	for word := range strings.FieldsSeq(words) {
		v.add(space+word, kindNormal)
	}
	return v
}

// add appends a token; earlier pieces score higher.
func (v *vocabulary) add(piece string, kind int32) {
	v.scores = append(v.scores, -float32(len(v.pieces)))
	v.pieces = append(v.pieces, piece)
	v.kinds = append(v.kinds, kind)
}

// Words returns the words that an answer consists of.
func Words() []string { return strings.Fields(words) }
