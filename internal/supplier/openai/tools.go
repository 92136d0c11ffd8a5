package openai

import (
	"encoding/json"
	"errors"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier/upstream"
)

// chatMembers are the parameters of a chat that have a counterpart.
var chatMembers = upstream.ChatMembers()

// chatExtras are the parameters that most chats don't have.
type chatExtras struct {
	tools, choice, parallel, reasoning []byte
	search                             bool
}

// read reads the value of the parameter of this name.
func (e *chatExtras) read(name string, in *jsonread.Reader) {
	value := in.Value()
	switch name {
	case catalog.Tools:
		e.tools = value
	case catalog.ToolChoice:
		e.choice = value
	case catalog.ParallelCalls:
		e.parallel = value
	case catalog.Reasoning:
		e.reasoning = value
	case catalog.WebSearch:
		e.search = string(value) == "true"
	}
}

// write reports whether it could read them.
func (e *chatExtras) write(w *jsonwrite.Writer, model string) bool {
	if !absent(e.reasoning) && (string(e.reasoning) != `"none"` || !thoughtless(model)) {
		w.Name("reasoning_effort")
		w.JSON(e.reasoning)
	}
	if e.search {
		w.Name("web_search_options")
		w.JSON([]byte("{}"))
	}
	if absent(e.tools) {
		return true
	}
	var tools []catalog.Tool
	if upstream.Decode(e.tools, &tools) != nil {
		return false
	}
	w.Name("tools")
	w.Begin('[')
	for _, t := range tools {
		writeFunction(w, func() {
			w.Name("name")
			w.String(t.Name)
			if t.Description != "" {
				w.Name("description")
				w.String(t.Description)
			}
			w.Name("parameters")
			w.JSON(t.Schema())
		})
	}
	w.End(']')
	if !absent(e.parallel) {
		w.Name("parallel_tool_calls")
		w.JSON(e.parallel)
	}
	return absent(e.choice) || writeChoice(w, e.choice)
}

func writeChoice(w *jsonwrite.Writer, value []byte) bool {
	var choice string
	if json.Unmarshal(value, &choice) != nil {
		return false
	}
	w.Name("tool_choice")
	switch choice {
	case catalog.ToolsAuto, catalog.ToolsNone, catalog.ToolsRequired:
		w.JSON(value)
	default:
		writeFunction(w, func() {
			w.Name("name")
			w.String(choice)
		})
	}
	return true
}

// writeFunction writes an object of type function.
func writeFunction(w *jsonwrite.Writer, members func()) {
	writeMember(w, "function", members)
}

// kept is what an answer's message holds that some servers need to see again with its tool calls: their models' thoughts.
type kept struct {
	Thoughts string          `json:"reasoning_content,omitempty"`
	Details  json.RawMessage `json:"reasoning_details,omitempty"`
}

// writeToolMessage writes the assistant's message with tool calls, or the result of one.
func writeToolMessage(w *jsonwrite.Writer, m message, state json.RawMessage) error {
	w.Begin('{')
	w.Name("role")
	w.JSON(m.role)
	w.Name("content")
	if err := writeTexts(w, m); err != nil {
		return err
	}
	if m.callID != nil {
		w.Name("tool_call_id")
		w.JSON(m.callID)
	}
	if m.calls != nil {
		var k kept
		if len(state) > 0 {
			_ = json.Unmarshal(state, &k) // nothing is kept in another form
		}
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
func writeTexts(w *jsonwrite.Writer, m message) error {
	switch {
	case m.parts != nil:
		var parts upstream.Content
		if err := json.Unmarshal(m.parts, &parts); err != nil {
			return errors.New(unread)
		}
		w.Begin('[')
		for _, p := range parts.Parts {
			writeText(w, p.Text)
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
	var calls []upstream.PastCall
	if upstream.Decode(raw, &calls) != nil {
		return errors.New(unread)
	}
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
	return nil
}
