package anthropic

import (
	"encoding/json"
	"unicode/utf8"

	"unitask/internal/supplier/upstream"
)

// The types of blocks.
const (
	blockText     = "text"
	blockThinking = "thinking"
	blockRedacted = "redacted_thinking"
	blockCall     = "tool_use"
	blockResult   = "tool_result"
	blockSearch   = "server_tool_use"
	blockPages    = "web_search_tool_result"
)

// keptBlock is a block of an answer that calls tools, as its state has it. Thoughts and searches stand there as they
// came; of a text or a call before one of them only its place is kept, and of a text its length: the message has it.
type keptBlock struct {
	Type      string          `json:"type"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	ID        json.RawMessage `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID json.RawMessage `json:"tool_use_id,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	Caller    json.RawMessage `json:"caller,omitempty"`
	Length    int             `json:"length,omitempty"` // bytes of a text
}

func isThought(kind string) bool { return kind == blockThinking || kind == blockRedacted }

func isKept(kind string) bool { return isThought(kind) || kind == blockSearch || kind == blockPages }

// keep returns the state of an answer with these blocks; nil if it has nothing that the message lacks.
func keep(blocks []*growing) json.RawMessage {
	var all []keptBlock
	last := 0 // of those as they came
	for _, b := range blocks {
		k := keptBlock{Type: b.Type}
		switch b.Type {
		case blockText:
			k.Length = b.length
		case blockCall:
		case blockThinking:
			k.Thinking, k.Signature = new(b.thought.String()), &b.Signature
		case blockRedacted:
			k.Data = b.Data
		case blockSearch:
			k.ID, k.Name, k.Input, k.Caller = b.ID, b.Name, b.input(), b.Caller
		case blockPages:
			k.ToolUseID, k.Content, k.Caller = b.ToolUseID, b.Content, b.Caller
		default:
			continue
		}
		all = append(all, k)
		if isKept(b.Type) {
			last = len(all)
		}
	}
	if last == 0 {
		return nil
	}
	raw, err := json.Marshal(all[:last])
	if err != nil {
		return nil // what isn't JSON can't be sent back
	}
	return raw
}

// place is a block of a state: one to send back as it came, or the place of a text or a call.
type place struct {
	Type   string `json:"type"`
	Length int    `json:"length"`
	raw    json.RawMessage
}

// places reads a state, and leaves out thoughts or searches that are of no use; nil if nothing is left.
func places(state json.RawMessage, thoughts, searches bool) []place {
	var blocks []json.RawMessage
	if len(state) == 0 || upstream.Decode(state, &blocks) != nil {
		return nil
	}
	var all []place
	kept := false
	for _, raw := range blocks {
		p := place{raw: raw}
		if upstream.Decode(raw, &p) != nil {
			return nil
		}
		if isThought(p.Type) && !thoughts || isKept(p.Type) && !isThought(p.Type) && !searches {
			continue
		}
		kept = kept || isKept(p.Type)
		all = append(all, p)
	}
	if !kept {
		return nil
	}
	return all
}

// beginsWithThought reports whether the message that a state is of does.
func beginsWithThought(state json.RawMessage) bool {
	all := places(state, true, true)
	return len(all) > 0 && isThought(all[0].Type)
}

// cut cuts a text into the lengths of the places, and the rest. One that the caller has changed may stay whole.
func cut(text string, all []place) []string {
	var pieces []string
	rest := text
	for _, p := range all {
		if p.Type != blockText {
			continue
		}
		if p.Length < 0 || p.Length > len(rest) || p.Length < len(rest) && !utf8.RuneStart(rest[p.Length]) {
			return []string{text}
		}
		pieces, rest = append(pieces, rest[:p.Length]), rest[p.Length:]
	}
	return append(pieces, rest)
}
