package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/fault"
	"unitask/internal/jsonread"
	"unitask/internal/supplier"
)

// The types of the parts of a message.
const (
	PartText     = "text"
	PartImage    = "image"
	PartAudio    = "audio"
	PartDocument = "document"
)

const roleSystem = "system"

// ChatInput is the input of a chat as the catalog has validated it.
type ChatInput struct {
	Prompt   *string       `json:"prompt"`
	Messages []ChatMessage `json:"messages"`
	System   string        `json:"system"`
}

// ChatMessage is one message of a ChatInput.
type ChatMessage struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Content is what a message says: a text, or a list of parts.
type Content struct {
	Text  string
	Parts []Part // nil for a text
}

// Part is one of a message's parts.
type Part struct {
	Type  string
	Text  string
	Media string // of a message of Talk, its key in Request.Media; "" of a text
}

// UnmarshalJSON implements json.Unmarshaler. Media are skipped: a request has them apart.
func (c *Content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return jsonv2.Unmarshal(raw, &c.Text)
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Image    Passed `json:"image"`
		Audio    Passed `json:"audio"`
		Document Passed `json:"document"`
	}
	if err := jsonv2.Unmarshal(raw, &parts, jsonv2.RejectUnknownMembers(true)); err != nil {
		return err
	}
	for _, p := range parts {
		c.Parts = append(c.Parts, Part{Type: p.Type, Text: p.Text})
	}
	return nil
}

// Talk returns the messages of the input, or its prompt as one, with the places of their media, and apart from them the
// texts of the system, joined by blank lines: for formats that have one such text.
func (in ChatInput) Talk() (messages []ChatMessage, system string) {
	if in.Prompt != nil {
		messages = append(messages, ChatMessage{Role: "user", Content: Content{Text: *in.Prompt}})
	}
	var said []string
	if in.System != "" {
		said = append(said, in.System)
	}
	for i, m := range in.Messages {
		if m.Role == roleSystem {
			said = append(said, m.Content.texts()...)
			continue
		}
		for j, part := range m.Content.Parts {
			if part.Type != PartText {
				m.Content.Parts[j].Media = MediaPlace(i, j, part.Type)
			}
		}
		messages = append(messages, m)
	}
	return messages, strings.Join(said, "\n\n")
}

// MediaPlace is the key in Request.Media of a part of a message.
func MediaPlace(message, part int, kind string) string {
	return fmt.Sprintf("/messages/%d/content/%d/%s", message, part, kind)
}

func (c Content) texts() []string {
	if c.Parts == nil {
		return []string{c.Text}
	}
	var all []string
	for _, p := range c.Parts {
		if p.Type == PartText {
			all = append(all, p.Text)
		}
	}
	return all
}

// Unsuited is the failure of media of a type that the format doesn't take, which only the fetched bytes show: another
// route may take it.
func Unsuited(kind string) *supplier.Error {
	return Failure(supplier.NotSent, fault.InvalidRequest, errors.New("the format takes no "+kind+" of this type"))
}

// PartTypes returns the types of the parts in a chat's messages; nil if each message is a text, as most are, which a
// canonical input shows without being read through.
func PartTypes(input []byte) []string {
	if !bytes.Contains(input, []byte(`"content":[`)) {
		return nil
	}
	var types []string
	in := jsonread.New(input)
	for m := in.Among("messages"); m.Next(); {
		for in.Open('['); in.More(']'); {
			for member := in.Among("content"); member.Next(); {
				types = appendTypes(types, in.Value())
			}
		}
	}
	return types
}

func appendTypes(types []string, content []byte) []string {
	in := jsonread.New(content)
	if in.Peek() != '[' {
		return types
	}
	for in.Open('['); in.More(']'); {
		for m := in.Among("type"); m.Next(); {
			_, kind := in.Text()
			if !slices.Contains(types, string(kind)) {
				types = append(types, string(kind))
			}
		}
	}
	return types
}
