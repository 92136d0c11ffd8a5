package anthropic

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// defaultMaxTokens bounds the output if the request doesn't, as the directory does by default.
const defaultMaxTokens = `1024`

// chatParameters are the neutral request's: their members are all that this kind honours (see refuses).
type chatParameters struct {
	MaxOutputTokens json.RawMessage `json:"max_output_tokens"`
	Temperature     json.RawMessage `json:"temperature"`
	TopP            json.RawMessage `json:"top_p"`
	Stop            []string        `json:"stop"`
	Seed            json.RawMessage `json:"seed"` // has no counterpart, and can do without
	OutputSchema    json.RawMessage `json:"output_schema"`
}

// message has a text or a list of blocks as its content.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
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

	said int // bytes of text
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
	var in upstream.ChatInput
	var p chatParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	talk, system := in.Talk()
	ask := &chatRequest{
		Model: r.Model, MaxTokens: p.MaxOutputTokens, System: system, said: len(system),
		Temperature: unlessDefault(p.Temperature), TopP: unlessDefault(p.TopP), StopSequences: p.Stop,
	}
	if err := ask.addMessages(r, talk); err != nil {
		return nil, err
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
func (c *chatRequest) bytes() int { return c.said }
