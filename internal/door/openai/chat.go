package openai

import (
	"strconv"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
)

// Chat reads the request of a chat completion.
func Chat(raw []byte) (Call, error) { return read(raw, chatMembers, (*request).chat) }

func (r *request) chat() Call {
	c := Call{Model: string(r.text(r.values, "", "model")), Base: chatBase}
	input, parameters := jsonwrite.New(1<<10), jsonwrite.New(1<<8)
	input.Begin('{')
	r.messages(input)
	input.End('}')
	parameters.Begin('{')
	c.maxTokens = r.maxTokens(parameters)
	for _, name := range []string{"temperature", "top_p", "seed"} {
		copied(parameters, r.values, name, name)
	}
	r.stop(parameters)
	copied(parameters, r.values, "reasoning_effort", catalog.Reasoning)
	c.renamed = r.format(parameters)
	r.tools(parameters)
	copied(parameters, r.values, "parallel_tool_calls", catalog.ParallelCalls)
	parameters.End('}')
	c.Stream = r.flag(r.values, "", "stream")
	c.IncludeUsage = r.streamOptions(c.Stream)
	c.Body = body(c.Model, input, parameters, r.values[memberMetadata])
	return c
}

// maxTokens writes the bound of the answer, and returns its name in the request.
func (r *request) maxTokens(w *jsonwrite.Writer) string {
	const former, name = "max_tokens", "max_completion_tokens"
	if _, both := r.values[name]; both {
		if _, both = r.values[former]; both {
			r.row(former, "must not be given together with "+name)
			return name
		}
		copied(w, r.values, name, "max_output_tokens")
		return name
	}
	copied(w, r.values, former, "max_output_tokens")
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
	given := r.members(value, at, formatMembers)
	if given == nil {
		return nil
	}
	kind := string(r.text(given, at, "type"))
	if given[inner] != nil && kind != inner {
		r.row(under(at, inner), "is only taken beside the type json_schema")
	}
	switch kind {
	case "text", "":
		return nil
	case inner:
	case jsonObject:
		return anyObject(w, at)
	default:
		r.row(under(at, "type"), "must be text, json_schema or json_object")
		return nil
	}
	held, ok := given[inner]
	if !ok {
		r.row(under(at, inner), "is required")
		return nil
	}
	members := r.members(held, under(at, inner), schemaMembers)
	if members == nil {
		return nil
	}
	if _, ok := members["schema"]; !ok {
		r.row(under(under(at, inner), "schema"), "is required")
	}
	copied(w, members, "schema", catalog.OutputSchema)
	return nil
}

func (r *request) streamOptions(stream bool) (includeUsage bool) {
	const at = "stream_options"
	value, ok := r.values[at]
	if !ok {
		return false
	}
	if !stream {
		r.row(at, "is only taken with stream")
	}
	return r.flag(r.members(value, at, streamMembers), at, "include_usage")
}

// messages writes the conversation, message by message.
func (r *request) messages(w *jsonwrite.Writer) {
	value, ok := r.values["messages"]
	if !ok {
		r.row("messages", "is required")
		return
	}
	w.Name("messages")
	w.Begin('[')
	isList := elements(value, func(i int, message []byte) {
		r.message(w, message, "messages["+strconv.Itoa(i)+"]")
	})
	w.End(']')
	if !isList {
		r.row("messages", "must be a list")
	}
}

func (r *request) message(w *jsonwrite.Writer, message []byte, at string) {
	role, ok := r.kind(message, at, "role")
	if !ok {
		return
	}
	members, known := roles[role]
	if !known {
		r.row(under(at, "role"), "must be one of developer, system, user, assistant and tool")
		return
	}
	given := r.members(message, at, members)
	w.Begin('{')
	w.Name("role")
	if role == "developer" {
		role = "system"
	}
	w.String(role)
	if content, ok := given["content"]; ok {
		w.Name("content")
		r.content(w, content, under(at, "content"))
	}
	if calls, ok := given["tool_calls"]; ok {
		w.Name(catalog.OutputCalls)
		r.calls(w, calls, under(at, "tool_calls"))
	}
	copied(w, given, "tool_call_id", "tool_call_id")
	copied(w, given, memberState, memberState)
	w.End('}')
}

// kind returns the member of an object that decides which others it may have.
func (r *request) kind(object []byte, at, name string) (kind string, ok bool) {
	if object[0] != '{' {
		r.row(at, "must be an object")
		return "", false
	}
	values := map[string][]byte{}
	in := jsonread.Sound(object)
	in.Open('{')
	for in.More('}') {
		if string(in.Name()) == name {
			values[name] = in.Value()
		} else {
			in.Skip()
		}
	}
	said := r.text(values, at, name)
	return string(said), said != nil
}
