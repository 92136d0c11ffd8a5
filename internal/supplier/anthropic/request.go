package anthropic

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// defaultMaxTokens bounds the output if the request doesn't, as the directory does by default.
const defaultMaxTokens = `1024`

// chatInput and chatParameters are the neutral request: their members are all that this kind
// honours (see refuses).
type chatInput struct {
	Prompt   *string   `json:"prompt"`
	Messages []message `json:"messages"`
	System   string    `json:"system"`
}

type chatParameters struct {
	MaxOutputTokens json.RawMessage `json:"max_output_tokens"`
	Temperature     json.RawMessage `json:"temperature"`
	TopP            json.RawMessage `json:"top_p"`
	Stop            []string        `json:"stop"`
	Seed            json.RawMessage `json:"seed"` // has no counterpart, and can do without
	OutputSchema    json.RawMessage `json:"output_schema"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatRequest is the supplier's format. Numbers pass as they were written.
type chatRequest struct {
	Model         string          `json:"model"`
	MaxTokens     json.RawMessage `json:"max_tokens"`
	System        string          `json:"system,omitzero"`
	Messages      []message       `json:"messages"`
	Temperature   json.RawMessage `json:"temperature,omitempty"`
	TopP          json.RawMessage `json:"top_p,omitempty"`
	StopSequences []string        `json:"stop_sequences,omitempty"`
	OutputConfig  *outputConfig   `json:"output_config,omitempty"`
	Stream        bool            `json:"stream,omitzero"`
}

// outputConfig asks for an answer of a JSON Schema.
type outputConfig struct {
	Format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	} `json:"format"`
}

func newChatRequest(r supplier.Request) (*chatRequest, error) {
	if err := checkCapability(r); err != nil {
		return nil, err
	}
	var in chatInput
	var p chatParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	ask := &chatRequest{
		Model: r.Model, MaxTokens: p.MaxOutputTokens, System: in.System, Messages: in.Messages,
		Temperature: unlessDefault(p.Temperature), TopP: unlessDefault(p.TopP), StopSequences: p.Stop,
	}
	if in.Prompt != nil {
		ask.Messages = []message{{Role: "user", Content: *in.Prompt}}
	}
	if len(ask.MaxTokens) == 0 {
		ask.MaxTokens = json.RawMessage(defaultMaxTokens)
	}
	if len(p.OutputSchema) == 0 {
		return ask, nil
	}
	var err error
	ask.OutputConfig = &outputConfig{}
	ask.OutputConfig.Format.Type = "json_schema"
	ask.OutputConfig.Format.Schema, err = upstream.Outline(p.OutputSchema)
	return ask, err
}

// unlessDefault drops a sampling parameter of the format's own default: newer models refuse two of them
// together, the newest any.
func unlessDefault(v json.RawMessage) json.RawMessage {
	if upstream.IsNumber(v, 1) {
		return nil
	}
	return v
}

// bytes returns how much text the request carries, for an estimate of its tokens.
func (c *chatRequest) bytes() int {
	n := len(c.System)
	for _, m := range c.Messages {
		n += len(m.Content)
	}
	return n
}
