package openai

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/jsonread"
	"unitask/internal/supplier/upstream"
)

type chatAnswer struct {
	upstream.Envelope
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Message      piece           `json:"message"`
	Delta        piece           `json:"delta"` // in a stream
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // some aggregators report here that work broke off
}

type piece struct {
	Content   text            `json:"content"`
	Refusal   string          `json:"refusal"`
	ToolCalls json.RawMessage `json:"tool_calls"`
	Function  json.RawMessage `json:"function_call"` // the form before

	// The thoughts of some servers' models.
	Thoughts  text            `json:"reasoning_content"`
	Reasoning text            `json:"reasoning"`
	Details   json.RawMessage `json:"reasoning_details"`

	Annotations json.RawMessage `json:"annotations"`
}

// thoughts returns the piece of the model's thoughts.
func (p piece) thoughts() string {
	if p.Thoughts.Value != "" {
		return p.Thoughts.Value
	}
	return p.Reasoning.Value
}

// calls reports whether the piece calls a tool or a part of it does.
func (p piece) calls() bool {
	for _, raw := range []json.RawMessage{p.ToolCalls, p.Function} {
		if s := string(bytes.TrimSpace(raw)); s != "" && s != "null" && s != "[]" && s != "{}" {
			return true
		}
	}
	return false
}

// text is a message's content: a string, a list of parts, or null.
type text struct {
	Value   string
	Present bool
}

// decodeAnswer reads an answer or a piece of a stream. Its result refers to b.
func decodeAnswer(b []byte) (chatAnswer, error) {
	if body, ok := scanAnswer(b); ok {
		return body, nil
	}
	var body chatAnswer
	err := upstream.Decode(b, &body)
	return body, err
}

// scanAnswer reads the answers that there mostly are, in one pass: no more than one choice, text in one string, no
// member twice or in another case. Of the rest, and of whatever may be an error, it says that it isn't ok. It leaves
// out the object's name.
func scanAnswer(b []byte) (body chatAnswer, ok bool) {
	in := jsonread.New(b)
	for m := in.Among("choices", "usage", "object", "error"); m.Next(); {
		switch m.Name {
		case "choices":
			body.Choices = scanChoices(&in)
		case "usage":
			body.Usage = in.Value()
		case "object":
			if _, name := in.Text(); string(name) == "error" {
				in.Fail()
			}
		case "error":
			in.Fail()
		}
	}
	return body, in.Done()
}

func scanChoices(in *jsonread.Reader) []choice {
	in.Open('[')
	if !in.More(']') {
		return []choice{}
	}
	list := make([]choice, 1)
	c := &list[0]
	for m := in.Among("message", "delta", "finish_reason", "error"); m.Next(); {
		switch m.Name {
		case "message":
			c.Message = scanPiece(in)
		case "delta":
			c.Delta = scanPiece(in)
		case "finish_reason":
			c.FinishReason = scanText(in).Value
		case "error":
			c.Error = in.Value()
		}
	}
	if in.More(']') {
		in.Fail()
	}
	return list
}

func scanPiece(in *jsonread.Reader) (p piece) {
	for m := in.Among(
		"content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "reasoning_details", "annotations",
	); m.Next(); {
		switch m.Name {
		case "content":
			p.Content = scanText(in)
		case "refusal":
			p.Refusal = scanText(in).Value
		case "tool_calls":
			p.ToolCalls = in.Value()
		case "function_call":
			p.Function = in.Value()
		case "reasoning_content":
			p.Thoughts = scanText(in)
		case "reasoning":
			p.Reasoning = scanText(in)
		case "reasoning_details":
			p.Details = in.Value()
		case "annotations":
			p.Annotations = in.Value()
		}
	}
	return p
}

// scanText reads a string or null.
func scanText(in *jsonread.Reader) text {
	if in.Peek() == 'n' {
		in.Skip()
		return text{}
	}
	_, says := in.Text()
	return text{Value: string(says), Present: true}
}

// UnmarshalJSONFrom takes all three forms; parts that aren't text are left out.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '"':
		value, err := d.ReadToken()
		if err != nil {
			return err
		}
		*t = text{Value: value.String(), Present: true}
		return nil
	}
	b, err := d.ReadValue()
	if err != nil {
		return err
	}
	var parts []struct {
		Text *string `json:"text"`
	}
	if upstream.Decode(b, &parts) != nil {
		return errNoJSON
	}
	for _, p := range parts {
		if p.Text != nil {
			t.Value, t.Present = t.Value+*p.Text, true
		}
	}
	return nil
}
