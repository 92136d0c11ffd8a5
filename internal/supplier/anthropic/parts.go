package anthropic

import (
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// sentBlock is one part of a message: a text, or media with their source.
type sentBlock struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitzero"`
	Source *source `json:"source,omitempty"`
}

// source is the bytes of an image or a document: a text as it is, others in base64.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      any    `json:"data"`
}

// addMessages writes messages in the format. One that is a text stays one.
func (c *chatRequest) addMessages(r supplier.Request, talk []upstream.ChatMessage) error {
	for _, m := range talk {
		if m.Content.Parts == nil {
			c.said += len(m.Content.Text)
			c.Messages = append(c.Messages, message{m.Role, m.Content.Text})
			continue
		}
		blocks := make([]sentBlock, 0, len(m.Content.Parts))
		for _, p := range m.Content.Parts {
			b, err := newBlock(r, p)
			if err != nil {
				return err
			}
			c.said += len(b.Text)
			blocks = append(blocks, b)
		}
		c.Messages = append(c.Messages, message{m.Role, blocks})
	}
	return nil
}

func newBlock(r supplier.Request, p upstream.Part) (sentBlock, error) {
	switch p.Type {
	case upstream.PartText:
		return sentBlock{Type: "text", Text: p.Text}, nil
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
