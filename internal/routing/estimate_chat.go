package routing

import (
	"bytes"

	"unitask/internal/jsonread"
)

// The most tokens of a media value that a model reads, by the suppliers' published rules.
const (
	// tokensPerSight is of an image. OpenAI's rule for gpt-4o-mini is the dearest: 2,833 and 5,667 for each of at most
	// eight tiles of 512 pixels. Its other models, Anthropic's and Gemini's count a tenth of that or less.
	tokensPerSight = 49_152
	// tokensPerDocument is of a PDF, whose pages can't be counted without reading it: the largest context of the models
	// that take one.
	tokensPerDocument = 1 << 20
)

// chatMedia returns the tokens that the media of a chat may have beyond the bytes that stand for them in the input. It
// is below zero for inline media that are larger than their tokens.
func chatMedia(input []byte, base64 [][]byte) (tokens int64) {
	in := jsonread.Sound(input).Passing(base64)
	for m := in.Among("messages"); m.Next(); {
		for in.Open('['); in.More(']'); {
			for member := in.Among("content"); member.Next(); {
				tokens += mediaOfContent(&in)
			}
		}
	}
	return tokens
}

func mediaOfContent(in *jsonread.Reader) (tokens int64) {
	if in.Peek() != '[' {
		in.Skip()
		return 0
	}
	for in.Open('['); in.More(']'); {
		for m := in.Among("image", "audio", "document"); m.Next(); {
			data, contentType := recorded(in)
			tokens -= int64(data)
			switch {
			case m.Name == "image":
				tokens += tokensPerSight
			case m.Name == "audio":
				tokens += audioMillis(data) * tokensPerSecond / 1000
			case data > 0 && bytes.HasPrefix(contentType, []byte("text/")):
				tokens += int64(data) // a text
			default:
				tokens += tokensPerDocument
			}
		}
	}
	return tokens
}
