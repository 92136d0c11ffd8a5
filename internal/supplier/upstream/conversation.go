package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/catalog"
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
	Role       string     `json:"role"`
	Content    Content    `json:"content"`
	ToolCalls  []PastCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	State      Passed     `json:"state"` // a request has it apart
	Number     int        `json:"-"`     // of a message of Talk: its place in the input
}

// PastCall is a call that a model has made.
type PastCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object, or a string of what the model wrote
	Invalid   Passed          `json:"invalid"`
}

// Object returns the arguments as the object that some formats ask for: words that are none are a member of one.
func (c PastCall) Object() json.RawMessage {
	if len(c.Arguments) > 0 && c.Arguments[0] == '{' {
		return c.Arguments
	}
	return slices.Concat([]byte(`{"arguments":`), c.Arguments, []byte(`}`))
}

// Text returns the arguments as the text that other formats ask for.
func (c PastCall) Text() string {
	var text string
	if jsonv2.Unmarshal(c.Arguments, &text) == nil {
		return text
	}
	return string(c.Arguments)
}

// ChatParameters are the parameters of a chat as the catalog has validated them. Numbers are as they were written.
type ChatParameters struct {
	MaxOutputTokens   json.RawMessage `json:"max_output_tokens"`
	Temperature       json.RawMessage `json:"temperature"`
	TopP              json.RawMessage `json:"top_p"`
	Stop              []string        `json:"stop"`
	Seed              json.RawMessage `json:"seed"`
	OutputSchema      json.RawMessage `json:"output_schema"`
	Tools             []catalog.Tool  `json:"tools"`
	ToolChoice        string          `json:"tool_choice"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls"`
	Reasoning         string          `json:"reasoning"`
	WebSearch         bool            `json:"web_search"`
}

// ChatMembers are the names of ChatParameters.
func ChatMembers() []string {
	return []string{
		"max_output_tokens", "temperature", "top_p", "stop", "seed", catalog.OutputSchema, catalog.Tools, catalog.ToolChoice,
		catalog.ParallelCalls, catalog.Reasoning, catalog.WebSearch,
	}
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
		m.Number = i
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

// Words returns the text of a content, or those of its parts, in lines.
func (c Content) Words() string { return strings.Join(c.texts(), "\n") }

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

// HasToolCalls reports whether a conversation, in canonical form, has calls of tools.
func HasToolCalls(r supplier.Request) bool {
	return jsonread.Contains(r.Input, `"tool_calls":[`, r.Base64)
}

// PartTypes returns the types of the parts in a chat's messages; nil if each message is a text, as most are, which a
// canonical input shows without being read through.
func PartTypes(r supplier.Request) []string {
	if !bytes.Contains(r.Input, []byte(`"content":[`)) {
		return nil
	}
	var types []string
	in := jsonread.Sound(r.Input).Passing(r.Base64)
	for m := in.Among("messages"); m.Next(); {
		for in.Open('['); in.More(']'); {
			for member := in.Among("content"); member.Next(); {
				types = appendTypes(types, &in)
			}
		}
	}
	return types
}

// appendTypes reads a content.
func appendTypes(types []string, in *jsonread.Reader) []string {
	if in.Peek() != '[' {
		in.Skip()
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
