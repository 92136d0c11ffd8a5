package sandbox

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// chat is the product of text.chat.
type chat struct {
	Text  string   `json:"text"` // the whole answer
	Input int64    `json:"input_tokens"`
	Limit int      `json:"limit,omitempty"` // tokens; 0: no limit
	Stop  []string `json:"stop,omitempty"`

	// Tokens of Input that stand for images and for sound.
	Images int64 `json:"image_input_tokens,omitempty"`
	Audio  int64 `json:"audio_input_tokens,omitempty"`

	aside
}

func readChat(r supplier.Request) (product, string, error) {
	var in upstream.ChatInput
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	talk, system := in.Talk()
	ask, size := "", tokenCount(system)
	var seen sights
	for _, m := range talk {
		said, err := seen.add(r, m.Content)
		if err != nil {
			return nil, "", err
		}
		size += tokenCount(said)
		if m.Role == "user" {
			ask = said
		}
	}
	c := &chat{
		Input: size + seen.images + seen.audio + seen.documents, Images: seen.images, Audio: seen.audio,
		Limit: params.MaxOutputTokens, Stop: params.Stop,
	}
	said := results(talk)
	if c.aside = besides(params, ask); said != "" {
		c.Calls = nil
	}
	switch {
	case len(c.Calls) > 0:
	case said != "" && len(params.OutputSchema) == 0:
		c.Text = said
	default:
		c.Text, err = answerTo(params, ask, seen.String(), len(talk))
	}
	return c, ask, err
}

// answerTo answers an ask by a value of the schema that it names, or by words about the media that came with it, and what
// a skill makes of it.
func answerTo(params parameters, ask, seen string, turns int) (string, error) {
	switch {
	case catalog.IsAnyObject(params.OutputSchema):
		answer, err := json.Marshal(map[string]string{"answer": reply(ask, turns)})
		return string(answer), err
	case len(params.OutputSchema) > 0:
		return answerOf(params.OutputSchema, ask)
	case seen == "":
		return reply(ask, turns), nil
	case strings.TrimSpace(ask) == "":
		return seen, nil
	default:
		return seen + " " + reply(ask, turns), nil
	}
}

// make cuts the answer at the limit and at the first stop.
func (c *chat) make() (*supplier.Result, error) {
	text, reason := c.Text, "stop"
	for _, stop := range c.Stop {
		if stop != "" {
			text, _, _ = strings.Cut(text, stop)
		}
	}
	pieces, thought := tokens(text), tokenCount(c.Thoughts)
	if left := max(c.Limit-int(thought), 0); c.Limit > 0 && len(pieces) > left {
		pieces, reason = pieces[:left], "length"
		text = strings.Join(pieces, "")
	}
	written := int64(len(pieces)) + thought
	if len(c.Calls) > 0 {
		reason = supplier.FinishToolCalls
		for _, call := range c.Calls {
			written += tokenCount(call.Name) + tokenCount(call.Arguments)
		}
	}
	return &supplier.Result{
		Text: &text, FinishReason: reason, ToolCalls: c.Calls, Reasoning: c.Thoughts, Citations: c.Pages,
		Usage: supplier.Usage{
			InputTokens: c.Input, OutputTokens: written, ReasoningTokens: thought, ImageInputTokens: c.Images, AudioInputTokens: c.Audio,
			Searches: int64(len(c.Pages)),
		},
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
