package openai

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/wire"
)

// chatInput and chatParameters are the neutral request: their members are all that this kind
// honours (see refuses).
type chatInput struct {
	Prompt   *string   `json:"prompt"`
	Messages []message `json:"messages"`
	System   *string   `json:"system"`
}

type chatParameters struct {
	MaxOutputTokens json.RawMessage `json:"max_output_tokens"`
	Temperature     json.RawMessage `json:"temperature"`
	TopP            json.RawMessage `json:"top_p"`
	Stop            []string        `json:"stop"`
	Seed            json.RawMessage `json:"seed"`
}

type embedInput struct {
	Texts []string `json:"texts"`
}

type embedParameters struct {
	Dimensions *int `json:"dimensions"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatRequest is the supplier's format. Numbers pass as they were written.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	MaxTokens           json.RawMessage `json:"max_tokens,omitempty"`
	MaxCompletionTokens json.RawMessage `json:"max_completion_tokens,omitempty"`
	Temperature         json.RawMessage `json:"temperature,omitempty"`
	TopP                json.RawMessage `json:"top_p,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	Seed                json.RawMessage `json:"seed,omitempty"`
	Stream              bool            `json:"stream,omitzero"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type embedRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	Dimensions     *int     `json:"dimensions,omitempty"`
	EncodingFormat string   `json:"encoding_format"`
}

func newChatRequest(r supplier.Request, maxTokens string) (*chatRequest, error) {
	var in chatInput
	var p chatParameters
	if err := wire.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	ask := &chatRequest{
		Model: r.Model, Temperature: p.Temperature, TopP: p.TopP, Stop: p.Stop, Seed: p.Seed,
	}
	if fixedSampling(r.Model) { // only the default gets here, and such models may refuse even that
		ask.Temperature, ask.TopP = nil, nil
	}
	if maxTokens == fieldMaxCompletionTokens {
		ask.MaxCompletionTokens = p.MaxOutputTokens
	} else {
		ask.MaxTokens = p.MaxOutputTokens
	}
	if in.System != nil {
		ask.Messages = append(ask.Messages, message{Role: "system", Content: *in.System})
	}
	if in.Prompt != nil {
		ask.Messages = append(ask.Messages, message{Role: "user", Content: *in.Prompt})
	}
	ask.Messages = append(ask.Messages, in.Messages...)
	return ask, nil
}

// bytes returns how much text the request carries, for an estimate of its tokens.
func (c *chatRequest) bytes() int {
	n := 0
	for _, m := range c.Messages {
		n += len(m.Content)
	}
	return n
}

func newEmbedRequest(r supplier.Request) (*embedRequest, error) {
	var in embedInput
	var p embedParameters
	if err := wire.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	return &embedRequest{Model: r.Model, Input: in.Texts, Dimensions: p.Dimensions, EncodingFormat: "float"}, nil
}

func (e *embedRequest) bytes() int {
	n := 0
	for _, t := range e.Input {
		n += len(t)
	}
	return n
}
