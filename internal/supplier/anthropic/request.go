package anthropic

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// defaultMaxTokens bounds the output if the request doesn't, as the directory does by default.
const defaultMaxTokens = `1024`

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
	Thinking      *thinking       `json:"thinking,omitempty"`
	Tools         []tool          `json:"tools,omitempty"`
	ToolChoice    *toolChoice     `json:"tool_choice,omitempty"`
	Stream        bool            `json:"stream,omitzero"`

	said     int  // bytes of text
	searches bool // the web
}

// outputConfig says how much the model works at its answer, or asks for one of a JSON Schema.
type outputConfig struct {
	Effort string        `json:"effort,omitzero"`
	Format *outputFormat `json:"format,omitempty"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

func newChatRequest(r supplier.Request) (*chatRequest, error) {
	if err := checkCapability(r); err != nil {
		return nil, err
	}
	var in upstream.ChatInput
	var p upstream.ChatParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	talk, system := in.Talk()
	if p.AnyObject() { // a schema in the format allows no member that it doesn't list
		system = upstream.WithObject(system)
	}
	ask := &chatRequest{
		Model: r.Model, MaxTokens: p.MaxOutputTokens, System: system, said: len(system),
		Temperature: unlessDefault(p.Temperature), TopP: unlessDefault(p.TopP), StopSequences: p.Stop,
	}
	if len(ask.MaxTokens) == 0 {
		ask.MaxTokens = json.RawMessage(defaultMaxTokens)
	}
	g := generationOf(r.Model)
	thoughts := ask.think(g, p.Reasoning, forgotten(talk, r.States))
	ask.offer(p, talk)
	if err := ask.addMessages(r, talk, thoughts); err != nil {
		return nil, err
	}
	if thoughts && len(r.States) > 0 && g.bindsThoughts() {
		ask.forgive()
	}
	if len(p.OutputSchema) == 0 || p.AnyObject() {
		return ask, nil
	}
	schema, err := upstream.Outline(p.OutputSchema)
	ask.output().Format = &outputFormat{Type: "json_schema", Schema: schema}
	return ask, err
}

func (c *chatRequest) output() *outputConfig {
	if c.OutputConfig == nil {
		c.OutputConfig = &outputConfig{}
	}
	return c.OutputConfig
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
