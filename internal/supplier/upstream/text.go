package upstream

import (
	"encoding/json"

	"unitask/internal/jsonread"
)

// The bounds of a text answer. A token is seldom more than a dozen bytes of text, and JSON may take six for one of
// those; the bytes around the text, and a model's hidden thoughts, are no more than that again.
const (
	textBase      = 1 << 20  // bytes that any answer may have
	textMost      = 16 << 20 // bytes, far above any model's longest
	bytesPerToken = 256
	unsaidTokens  = 1024 // the directory's default, if the request doesn't say
)

// TextLimit returns the most bytes that the answer to a chat with these parameters may have: many times the text that
// its max_output_tokens can produce.
func TextLimit(parameters json.RawMessage) int64 {
	tokens := float64(unsaidTokens)
	in := jsonread.New(parameters)
	for m := in.Among("max_output_tokens"); m.Next(); {
		if _, n, ok := in.Number(); ok {
			tokens = n
		}
	}
	return int64(min(textBase+max(tokens, 0)*bytesPerToken, textMost))
}
