package sandbox

import (
	"strings"
	"unicode"

	"unitask/internal/supplier"
)

// chat is the product of text.chat.
type chat struct {
	Ask   string   `json:"ask"` // the last thing the user says
	Turns int      `json:"turns"`
	Input int64    `json:"input_tokens"`
	Limit int      `json:"limit,omitempty"` // tokens; 0: none
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
	c := &chat{Ask: in.Prompt, Turns: 1, Limit: params.MaxOutputTokens, Stop: params.Stop}
	c.Input = int64(len(tokens(in.System)) + len(tokens(in.Prompt)))
	for _, m := range in.Messages {
		c.Input += int64(len(tokens(m.Content)))
		if m.Role == "user" {
			c.Ask = m.Content
		}
	}
	if len(in.Messages) > 0 {
		c.Turns = len(in.Messages)
	}
	return c, c.Ask, nil
}

// make answers, within the limit and up to the first stop.
func (c *chat) make() (*supplier.Result, error) {
	text, reason := reply(c.Ask, c.Turns), "stop"
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
func tokens(text string) []string {
	var out []string
	var current []rune
	letters := 0
	for _, r := range text {
		space := unicode.IsSpace(r)
		if len(current) > 0 && letters > 0 && (space || letters == longestToken) {
			out = append(out, string(current))
			current, letters = nil, 0
		}
		current = append(current, r)
		if !space {
			letters++
		}
	}
	if len(current) > 0 {
		out = append(out, string(current))
	}
	return out
}
