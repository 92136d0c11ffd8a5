package openai

import (
	"encoding/json"
	"errors"

	"unitask/internal/jsonwrite"
	"unitask/internal/supplier/upstream"
)

// writeResponseParameters reports whether it could read them. The server is to keep nothing: what its model needs again
// of its thoughts comes encrypted, if tools may be called.
func (s settings) writeResponseParameters(w *jsonwrite.Writer, p parameters, model string) bool {
	writeSet(w, "max_output_tokens", p.most)
	writeSet(w, "temperature", p.temperature)
	writeSet(w, "top_p", p.topP)
	effort := p.effort(model)
	thinks := effort != nil && string(effort) != `"none"`
	if effort != nil {
		w.Name("reasoning")
		w.Begin('{')
		w.Name("effort")
		w.JSON(effort)
		if thinks && s.summaries {
			w.Name("summary")
			w.String("auto")
		}
		w.End('}')
	}
	if !absent(p.tools) && (thinks || effort == nil && reasons(model)) {
		w.Name("include")
		w.JSON([]byte(`["reasoning.encrypted_content"]`))
	}
	if p.search {
		w.Name("max_tool_calls")
		w.Int(mostSearches)
	}
	w.Name("store")
	w.Bool(false)
	return writeSchema(w, responses, p.schema) && s.writeTools(w, responses, p)
}

// writeItems writes the assistant's message with tool calls as items: the thoughts that came with them, what it said,
// and the calls. Or it writes the result of one.
func writeItems(w *jsonwrite.Writer, m message, k kept) error {
	if m.calls == nil {
		w.Begin('{')
		w.Name("type")
		w.String("function_call_output")
		w.Name("call_id")
		w.JSON(m.callID)
		w.Name("output")
		err := writeTexts(w, responses, m)
		w.End('}')
		return err
	}
	for _, item := range k.Items {
		w.JSON(item)
	}
	if err := writeWords(w, m); err != nil {
		return err
	}
	calls, err := readCalls(m.calls)
	for _, c := range calls {
		w.Begin('{')
		w.Name("type")
		w.String("function_call")
		w.Name("call_id")
		w.String(c.ID)
		w.Name("name")
		w.String(c.Name)
		w.Name("arguments")
		w.String(c.Text())
		w.End('}')
	}
	return err
}

// writeWords writes what the assistant said, if it said anything. The format has no parts for it, but for those that a
// server made.
func writeWords(w *jsonwrite.Writer, m message) error {
	said := m.content
	if m.parts != nil {
		var content upstream.Content
		err := json.Unmarshal(m.parts, &content)
		if err == nil {
			said, err = json.Marshal(content.Words())
		}
		if err != nil {
			return errors.New(unread)
		}
	}
	if m.parts != nil || len(m.says) > 0 {
		writeMessage(w, m.role, said)
	}
	return nil
}
