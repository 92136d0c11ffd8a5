package openai

import (
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

// Chat reads the request of a chat completion.
func Chat(raw []byte) (Call, error) { return read(raw, chatMembers, (*request).chat) }

func (r *request) chat() Call {
	c := Call{Model: string(r.Text(r.values, "", "model")), Base: chatBase}
	input, parameters := jsonwrite.New(1<<10), jsonwrite.New(1<<8)
	input.Begin('{')
	r.messages(input)
	input.End('}')
	parameters.Begin('{')
	c.maxTokens = r.maxTokens(parameters)
	for _, name := range []string{"temperature", "top_p", "seed"} {
		inbound.Copy(parameters, r.values, name, name)
	}
	r.stop(parameters)
	inbound.Copy(parameters, r.values, "reasoning_effort", catalog.Reasoning)
	c.renamed = r.format(parameters)
	r.tools(parameters)
	inbound.Copy(parameters, r.values, "parallel_tool_calls", catalog.ParallelCalls)
	parameters.End('}')
	c.Stream = r.Flag(r.values, "", "stream")
	c.IncludeUsage = r.streamOptions(c.Stream)
	c.Body = body(c.Model, input, parameters, r.values[memberMetadata])
	c.silent = r.silent
	return c
}

// maxTokens writes the bound of the answer, and returns its name in the request.
func (r *request) maxTokens(w *jsonwrite.Writer) string {
	const former, name = "max_tokens", "max_completion_tokens"
	if _, both := r.values[name]; both {
		if _, both = r.values[former]; both {
			r.Row(former, "must not be given together with "+name)
			return name
		}
		inbound.Copy(w, r.values, name, "max_output_tokens")
		return name
	}
	inbound.Copy(w, r.values, former, "max_output_tokens")
	return former
}

// stop writes the texts that end an answer: one, or a list.
func (r *request) stop(w *jsonwrite.Writer) {
	value, ok := r.values["stop"]
	if !ok {
		return
	}
	w.Name("stop")
	if value[0] == '[' {
		w.JSON(value)
		return
	}
	w.Begin('[')
	w.JSON(value)
	w.End(']')
}

// jsonObject is the form of an answer that is any JSON object.
const jsonObject = "json_object"

// anyObject writes the schema of such an answer, which the member at a path asks for.
func anyObject(w *jsonwrite.Writer, at string) []renaming {
	w.Name(catalog.OutputSchema)
	w.JSON([]byte(catalog.AnyObject))
	return []renaming{{from: catalog.GroupParameters + "." + catalog.OutputSchema, to: at}}
}

// format writes the JSON Schema of the answer, if one is asked for. It returns the name of it that isn't the usual one.
func (r *request) format(w *jsonwrite.Writer) []renaming {
	const at, inner = "response_format", "json_schema"
	value, ok := r.values[at]
	if !ok {
		return nil
	}
	given := r.Members(value, at, formatMembers)
	if given == nil {
		return nil
	}
	kind := string(r.Text(given, at, "type"))
	if given[inner] != nil && kind == jsonObject {
		r.Row(inbound.Under(at, inner), "is only taken beside the type json_schema")
	}
	switch kind {
	case "text", "":
		return nil
	case inner:
	case jsonObject:
		return anyObject(w, at)
	default:
		r.Row(inbound.Under(at, "type"), "must be text, json_schema or json_object")
		return nil
	}
	held, ok := given[inner]
	if !ok {
		r.Row(inbound.Under(at, inner), "is required")
		return nil
	}
	members := r.Members(held, inbound.Under(at, inner), schemaMembers)
	if members == nil {
		return nil
	}
	if _, ok := members["schema"]; !ok {
		r.Row(inbound.Under(inbound.Under(at, inner), "schema"), "is required")
	}
	inbound.CopySchema(w, members, "schema", catalog.OutputSchema)
	return nil
}

func (r *request) streamOptions(stream bool) (includeUsage bool) {
	const at = "stream_options"
	value, ok := r.values[at]
	if !ok {
		return false
	}
	if !stream {
		r.Row(at, "is only taken with stream")
	}
	return r.Flag(r.Members(value, at, streamMembers), at, "include_usage")
}

// messages writes the conversation, message by message.
func (r *request) messages(w *jsonwrite.Writer) {
	value, ok := r.values["messages"]
	if !ok {
		r.Row("messages", "is required")
		return
	}
	w.Name("messages")
	w.Begin('[')
	r.List(value, "messages", func(i int, message []byte, at string) {
		if !r.message(w, message, at) {
			r.silent = append(r.silent, i)
		}
	})
	w.End(']')
}

// message writes a message, and reports whether it has a place in the conversation: an answer that says nothing, as it
// is sent back, has none, nor have empty directions.
func (r *request) message(w *jsonwrite.Writer, message []byte, at string) bool {
	role, ok := r.Kind(message, at, "role", false)
	if !ok {
		return true
	}
	members, known := roles[role]
	if !known {
		r.Row(inbound.Under(at, "role"), "must be one of developer, system, user, assistant and tool")
		return true
	}
	given := r.Members(message, at, members)
	if role != "user" && role != "tool" && given["tool_calls"] == nil && saysNothing(given["content"]) {
		return false
	}
	w.Begin('{')
	w.Name("role")
	if role == "developer" {
		role = "system"
	}
	w.String(role)
	if content, ok := given["content"]; ok {
		w.Name("content")
		r.content(w, content, inbound.Under(at, "content"))
	}
	if calls, ok := given["tool_calls"]; ok {
		w.Name(catalog.OutputCalls)
		r.calls(w, calls, inbound.Under(at, "tool_calls"))
	}
	inbound.Copy(w, given, "tool_call_id", "tool_call_id")
	inbound.Copy(w, given, memberState, memberState)
	w.End('}')
	return true
}
