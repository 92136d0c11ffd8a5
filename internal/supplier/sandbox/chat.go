package sandbox

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"unitask/internal/supplier"
)

// chat is the product of text.chat.
type chat struct {
	Text  string   `json:"text"` // the whole answer
	Input int64    `json:"input_tokens"`
	Limit int      `json:"limit,omitempty"` // tokens; 0: no limit
	Stop  []string `json:"stop,omitempty"`
}

func readChat(r supplier.Request) (product, string, error) {
	var in struct {
		Prompt   string `json:"prompt"`
		System   string `json:"system"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	ask, turns := in.Prompt, max(1, len(in.Messages))
	size := tokenCount(in.System) + tokenCount(in.Prompt)
	for _, m := range in.Messages {
		size += tokenCount(m.Content)
		if m.Role == "user" {
			ask = m.Content
		}
	}
	text := reply(ask, turns)
	if len(params.OutputSchema) > 0 {
		if text, err = answerOf(params.OutputSchema, ask); err != nil {
			return nil, "", err
		}
	}
	return &chat{Text: text, Input: size, Limit: params.MaxOutputTokens, Stop: params.Stop}, ask, nil
}

// make cuts the answer at the limit and at the first stop.
func (c *chat) make() (*supplier.Result, error) {
	text, reason := c.Text, "stop"
	for _, stop := range c.Stop {
		if stop != "" {
			text, _, _ = strings.Cut(text, stop)
		}
	}
	pieces := tokens(text)
	if c.Limit > 0 && len(pieces) > c.Limit {
		pieces, reason = pieces[:c.Limit], "length"
		text = strings.Join(pieces, "")
	}
	return &supplier.Result{
		Text: &text, FinishReason: reason,
		Usage: supplier.Usage{InputTokens: c.Input, OutputTokens: int64(len(pieces))},
	}, nil
}

// longestToken is in runes; a longer word is several tokens.
const longestToken = 8

// tokens cuts a text into words, each with the white space before it. Joined they are the text.
func tokens(text string) []string { return slices.Collect(cut(text)) }

// tokenCount returns how many tokens a text has.
func tokenCount(text string) (n int64) {
	for range cut(text) {
		n++
	}
	return n
}

// cut returns the tokens one after the other.
func cut(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, letters := 0, 0
		for at, r := range text {
			space := unicode.IsSpace(r)
			if letters > 0 && (space || letters == longestToken) {
				if !yield(text[from:at]) {
					return
				}
				from, letters = at, 0
			}
			if !space {
				letters++
			}
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}
