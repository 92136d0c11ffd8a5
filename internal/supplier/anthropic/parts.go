package anthropic

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// sentBlock is one part of a message: a text, media with their source, a call of a tool or its result.
type sentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitzero"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitzero"`
	Name      string          `json:"name,omitzero"`
	Input     json.RawMessage `json:"input,omitzero"`
	ToolUseID string          `json:"tool_use_id,omitzero"`
	Content   any             `json:"content,omitzero"` // of a result: a text or blocks of them
}

// source is the bytes of an image or a document: a text as it is, others in base64.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      any    `json:"data"`
}

// addMessages writes messages in the format. One that is a text stays one. The results of tools, and what the user says
// right after them, are one message. thoughts: those in states are of use.
func (c *chatRequest) addMessages(r supplier.Request, talk []upstream.ChatMessage, thoughts bool) error {
	results := false // are in the last message
	for _, m := range talk {
		joins := results && m.Role != roleAssistant
		results = joins || m.Role == roleTool
		if !results && m.ToolCalls == nil && m.Content.Parts == nil {
			c.said += len(m.Content.Text)
			c.Messages = append(c.Messages, message{m.Role, m.Content.Text})
			continue
		}
		blocks, err := c.blocks(r, m, thoughts)
		switch {
		case err != nil:
			return err
		case joins:
			last := &c.Messages[len(c.Messages)-1]
			last.Content = append(last.Content.([]any), blocks...)
		case m.Role == roleTool:
			c.Messages = append(c.Messages, message{roleUser, blocks})
		default:
			c.Messages = append(c.Messages, message{m.Role, blocks})
		}
	}
	return nil
}

func (c *chatRequest) blocks(r supplier.Request, m upstream.ChatMessage, thoughts bool) ([]any, error) {
	switch {
	case m.Role == roleTool:
		return []any{c.result(m)}, nil
	case m.ToolCalls != nil:
		return c.turn(m, places(r.States[m.Number], thoughts, c.searches)), nil
	case m.Content.Parts == nil:
		c.said += len(m.Content.Text)
		return []any{sentBlock{Type: blockText, Text: m.Content.Text}}, nil
	}
	blocks := make([]any, 0, len(m.Content.Parts))
	for _, p := range m.Content.Parts {
		b, err := newBlock(r, p)
		if err != nil {
			return nil, err
		}
		c.said += len(b.Text)
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func newBlock(r supplier.Request, p upstream.Part) (sentBlock, error) {
	switch p.Type {
	case upstream.PartText:
		return sentBlock{Type: blockText, Text: p.Text}, nil
	case upstream.PartImage, upstream.PartDocument:
	default:
		return sentBlock{}, upstream.Unsuited(p.Type)
	}
	m := r.Media[p.Media]
	data, err := upstream.ReadMedia(m)
	if err != nil {
		return sentBlock{}, err
	}
	s := &source{Type: "base64", MediaType: m.ContentType, Data: data}
	if p.Type == upstream.PartDocument && m.ContentType != "application/pdf" {
		s = &source{Type: "text", MediaType: "text/plain", Data: string(data)}
	}
	return sentBlock{Type: p.Type, Source: s}, nil
}
