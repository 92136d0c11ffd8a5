package anthropic

import (
	"encoding/base64"
	"slices"

	"unitask/internal/catalog"
	"unitask/internal/door"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

// input writes the conversation.
func (r *request) input(w *jsonwrite.Writer) {
	w.Begin('{')
	system := r.values["system"]
	if text, ok := inbound.TextOf(system); ok && len(text) > 0 {
		inbound.Copy(w, r.values, "system", "system")
	}
	w.Name("messages")
	w.Begin('[')
	if len(system) > 0 && system[0] != '"' && !isEmptyList(system) {
		r.said(w, roleSystem, r.parts(system, "system", blocks(roleSystem)), origin{at: "system", content: "system"})
	}
	if messages, ok := r.values["messages"]; ok {
		r.List(messages, "messages", func(_ int, message []byte, at string) { r.message(w, message, at) })
	} else {
		r.Row("messages", "is required")
	}
	w.End(']')
	w.End('}')
}

func (r *request) message(w *jsonwrite.Writer, message []byte, at string) {
	given := r.Members(message, at, inbound.Rules{"role": inbound.Only(`"user"`, `"assistant"`, `"system"`), "content": taken})
	if given == nil {
		return
	}
	role, ok := inbound.TextOf(given["role"])
	content, has := given["content"]
	if !ok || !has {
		for _, name := range []string{"role", "content"} {
			if _, ok := given[name]; !ok {
				r.Row(inbound.Under(at, name), "is required")
			}
		}
		return
	}
	from := origin{at: at, content: inbound.Under(at, "content")}
	switch {
	case content[0] == '"':
		if string(role) != roleAssistant || !catalog.IsBlank(content) {
			r.said(w, string(role), parts{raw: content}, from)
		}
	case string(role) == roleAssistant:
		r.answered(w, r.parts(content, from.content, blocks(roleAssistant)), from)
	case string(role) == roleSystem:
		r.said(w, roleSystem, r.parts(content, from.content, blocks(roleSystem)), from)
	default:
		all := r.parts(content, from.content, blocks(roleUser))
		for _, result := range all.results {
			r.result(w, result)
		}
		if len(all.parts) > 0 || len(all.results) == 0 {
			r.said(w, roleUser, all, from)
		}
	}
}

// answered writes an answer that is sent back, without the texts of white space that it may have had. One without words
// and calls has no place in the conversation.
func (r *request) answered(w *jsonwrite.Writer, all parts, from origin) {
	all.parts = slices.DeleteFunc(all.parts, func(b block) bool { return b.kind == "text" && catalog.IsBlank(b.members["text"]) })
	if len(all.parts) > 0 || len(all.calls) > 0 {
		r.said(w, roleAssistant, all, from)
	}
}

// parts are the blocks of a content, sorted.
type parts struct {
	raw     []byte // a text, in the place of parts
	parts   []block
	results []block
	calls   []block
	state   []byte
	stateAt string
}

// block is a block that was read.
type block struct {
	kind, at string
	members  map[string][]byte
}

// parts reads the blocks of a content.
func (r *request) parts(content []byte, at string, known map[string]inbound.Rules) (all parts) {
	r.List(content, at, func(_ int, raw []byte, at string) {
		kind, ok := r.Kind(raw, at, "type", false)
		if !ok {
			return
		}
		rules, ok := known[kind]
		if !ok {
			r.Row(inbound.Under(at, "type"), "can't be "+inbound.Under("", kind)+" here")
			return
		}
		b := block{kind, at, r.Members(raw, at, rules)}
		switch kind {
		case "tool_result":
			if len(all.parts) > 0 {
				r.Row(at, "must come before content that is no tool_result")
			}
			all.results = append(all.results, b)
		case "tool_use":
			all.calls = append(all.calls, b)
		case "thinking":
			r.state(&all, b, "signature")
		case "redacted_thinking":
			r.state(&all, b, "data")
		default:
			all.parts = append(all.parts, b)
		}
	})
	return all
}

// state takes the state that the model is to remember.
func (r *request) state(all *parts, b block, name string) {
	said, ok := inbound.TextOf(b.members[name])
	switch {
	case b.members[name] == nil && name == "signature" || ok && len(said) == 0:
	case !ok:
		r.Text(b.members, b.at, name)
	case all.state != nil:
		r.Row(inbound.Under(b.at, name), "can't be a second one of the same message here: those of other services have no meaning here")
	default:
		all.state, all.stateAt = b.members[name], inbound.Under(b.at, name)
	}
}

// said writes a message of the system, a user or the assistant.
func (r *request) said(w *jsonwrite.Writer, role string, all parts, from origin) {
	if all.raw == nil && len(all.parts) == 0 && len(all.calls) == 0 {
		r.Row(from.content, "needs content that is no thought")
		return
	}
	w.Begin('{')
	w.Name("role")
	w.String(role)
	switch {
	case all.raw != nil:
		w.Name("content")
		w.JSON(all.raw)
	case len(all.parts) > 0:
		w.Name("content")
		w.Begin('[')
		for _, b := range all.parts {
			from.parts = append(from.parts, b.at)
			r.part(w, b)
		}
		w.End(']')
	}
	if len(all.calls) > 0 {
		w.Name(catalog.OutputCalls)
		w.Begin('[')
		for _, b := range all.calls {
			from.calls = append(from.calls, b.at)
			r.call(w, b)
		}
		w.End(']')
	}
	if all.state != nil {
		from.state = all.stateAt
		w.Name("state")
		w.JSON(all.state)
	}
	w.End('}')
	r.paths.messages = append(r.paths.messages, from)
}

func (r *request) part(w *jsonwrite.Writer, b block) {
	w.Begin('{')
	w.Name("type")
	w.String(b.kind)
	w.Name(b.kind)
	if b.kind == "text" {
		if r.Text(b.members, b.at, "text"); b.members["text"] != nil {
			w.JSON(b.members["text"])
		} else {
			w.Null()
		}
	} else {
		r.source(w, b)
	}
	w.End('}')
}

// source writes a medium.
func (r *request) source(w *jsonwrite.Writer, b block) {
	at, value := inbound.Under(b.at, "source"), b.members["source"]
	w.Begin('{')
	defer w.End('}')
	if value == nil {
		r.Row(at, "is required")
		return
	}
	kind, ok := r.Kind(value, at, "type", false)
	if !ok {
		return
	}
	rules, known := sources(b.kind)[kind]
	if !known {
		r.Row(inbound.Under(at, "type"), "can't be "+inbound.Under("", kind)+" here")
		return
	}
	given := r.Members(value, at, rules)
	if kind == "url" {
		if address := r.Text(given, at, "url"); address != nil {
			inbound.Copy(w, given, "url", "url")
		}
		return
	}
	data, media := r.Text(given, at, "data"), r.Text(given, at, "media_type")
	w.Name("data")
	switch {
	case kind == "text":
		w.Text(func(to []byte) ([]byte, error) { return base64.StdEncoding.AppendEncode(to, data), nil })
		if media != nil && string(media) != "text/plain" {
			r.Row(inbound.Under(at, "media_type"), "must be text/plain")
		}
	case !door.IsPlain(data):
		w.String(string(data)) // no base64, which the gateway says
	default:
		w.Text(func(to []byte) ([]byte, error) { return append(to, data...), nil })
	}
	w.Name("content_type")
	w.String(string(media))
}

// call writes a call of a tool.
func (r *request) call(w *jsonwrite.Writer, b block) {
	w.Begin('{')
	inbound.Copy(w, b.members, "id", "id")
	inbound.Copy(w, b.members, "name", "name")
	if value := b.members["input"]; len(value) == 0 || value[0] != '{' {
		r.Row(inbound.Under(b.at, "input"), "must be an object")
	}
	inbound.Copy(w, b.members, "input", "arguments")
	w.End('}')
}

// failed stands before the result of a tool that failed: a task has no other word for it.
const failed = "Error: "

// result writes the result of a call.
func (r *request) result(w *jsonwrite.Writer, b block) {
	from := origin{at: b.at, content: inbound.Under(b.at, "content"), result: true}
	isError := r.Flag(b.members, b.at, "is_error")
	content := b.members["content"]
	w.Begin('{')
	w.Name("role")
	w.String(roleTool)
	inbound.Copy(w, b.members, "tool_use_id", "tool_call_id")
	if b.members["tool_use_id"] == nil {
		r.Row(inbound.Under(b.at, "tool_use_id"), "is required")
	}
	w.Name("content")
	switch text, isText := inbound.TextOf(content); {
	case isText && isError:
		w.String(failed + string(text))
	case isText:
		w.JSON(content)
	case content == nil || isEmptyList(content):
		w.String(map[bool]string{true: failed}[isError])
	default:
		w.Begin('[')
		if isError {
			from.parts = append(from.parts, inbound.Under(b.at, "is_error"))
			w.JSON([]byte(`{"type":"text","text":"` + failed + `"}`))
		}
		for _, part := range r.parts(content, from.content, blocks(roleTool)).parts {
			from.parts = append(from.parts, part.at)
			r.part(w, part)
		}
		w.End(']')
	}
	w.End('}')
	r.paths.messages = append(r.paths.messages, from)
}
