package openai

import (
	"encoding/json"
	"errors"
	"slices"

	"unitask/internal/catalog"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier/upstream"
)

// chatMembers are the parameters of a chat that have a counterpart.
var chatMembers = upstream.ChatMembers()

// writeTools writes the tools, and how they may be called. It reports whether it could read them.
func (s settings) writeTools(w *jsonwrite.Writer, api chatAPI, p parameters) bool {
	searches := p.search && api == responses
	if absent(p.tools) && !searches {
		return true
	}
	var tools []catalog.Tool
	if !absent(p.tools) && upstream.Decode(p.tools, &tools) != nil {
		return false
	}
	w.Name("tools")
	w.Begin('[')
	for _, t := range tools {
		if writeTool(w, api, t, t.Strict && len(t.Parameters) > 0 && slices.Contains(s.features, featureSchema)) != nil {
			return false
		}
	}
	if searches {
		w.JSON([]byte(`{"type":"web_search"}`))
	}
	w.End(']')
	writeSet(w, "parallel_tool_calls", p.parallel)
	return absent(p.choice) || writeChoice(w, api, p.choice)
}

// writeTool writes a tool; strict: the server holds its model to the schema, else the gateway alone judges its calls.
func writeTool(w *jsonwrite.Writer, api chatAPI, t catalog.Tool, strict bool) (err error) {
	schema := t.Schema()
	if strict {
		schema, err = upstream.Outline(schema)
	}
	writeTyped(w, api, "function", func() {
		w.Name("name")
		w.String(t.Name)
		if t.Description != "" {
			w.Name("description")
			w.String(t.Description)
		}
		w.Name("parameters")
		w.JSON(schema)
		if strict || api == responses { // whose default is neither
			w.Name("strict")
			w.Bool(strict)
		}
	})
	return err
}

func writeChoice(w *jsonwrite.Writer, api chatAPI, value []byte) bool {
	var choice string
	if json.Unmarshal(value, &choice) != nil {
		return false
	}
	w.Name("tool_choice")
	switch choice {
	case catalog.ToolsAuto, catalog.ToolsNone, catalog.ToolsRequired:
		w.JSON(value)
	default:
		writeTyped(w, api, "function", func() {
			w.Name("name")
			w.String(choice)
		})
	}
	return true
}

// kept is what an answer holds that some servers need to see again with its tool calls: their models' thoughts.
type kept struct {
	Thoughts string            `json:"reasoning_content,omitempty"`
	Details  json.RawMessage   `json:"reasoning_details,omitempty"`
	Items    []json.RawMessage `json:"reasoning_items,omitempty"` // of the Responses API
}

// readKept reads a state; what is in another form wasn't kept here.
func readKept(state json.RawMessage) (k kept) {
	if len(state) > 0 {
		_ = json.Unmarshal(state, &k)
	}
	return k
}

// writeToolMessage writes the assistant's message with tool calls, or the result of one.
func writeToolMessage(w *jsonwrite.Writer, api chatAPI, m message, state json.RawMessage) error {
	if api == responses {
		return writeItems(w, m, readKept(state))
	}
	w.Begin('{')
	w.Name("role")
	w.JSON(m.role)
	w.Name("content")
	if err := writeTexts(w, api, m); err != nil {
		return err
	}
	if m.callID != nil {
		w.Name("tool_call_id")
		w.JSON(m.callID)
	}
	if m.calls != nil {
		k := readKept(state)
		if k.Thoughts != "" {
			w.Name("reasoning_content")
			w.String(k.Thoughts)
		}
		writeSet(w, "reasoning_details", k.Details)
		if err := writeCalls(w, m.calls); err != nil {
			return err
		}
	}
	w.End('}')
	return nil
}

// writeTexts writes a content of texts, null for none.
func writeTexts(w *jsonwrite.Writer, api chatAPI, m message) error {
	switch {
	case m.parts != nil:
		var parts upstream.Content
		if err := json.Unmarshal(m.parts, &parts); err != nil {
			return errors.New(unread)
		}
		w.Begin('[')
		for _, p := range parts.Parts {
			beginText(w, api)
			w.String(p.Text)
			w.End('}')
		}
		w.End(']')
	case m.content == nil || len(m.says) == 0 && m.calls != nil:
		w.Null()
	default:
		w.JSON(m.content)
	}
	return nil
}

func writeCalls(w *jsonwrite.Writer, raw []byte) error {
	calls, err := readCalls(raw)
	w.Name("tool_calls")
	w.Begin('[')
	for _, c := range calls {
		w.Begin('{')
		w.Name("id")
		w.String(c.ID)
		w.Name("type")
		w.String("function")
		w.Name("function")
		w.Begin('{')
		w.Name("name")
		w.String(c.Name)
		w.Name("arguments")
		w.String(c.Text())
		w.End('}')
		w.End('}')
	}
	w.End(']')
	return err
}

func readCalls(raw []byte) (calls []upstream.PastCall, err error) {
	if upstream.Decode(raw, &calls) != nil {
		return nil, errors.New(unread)
	}
	return calls, nil
}
