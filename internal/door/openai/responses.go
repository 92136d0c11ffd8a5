package openai

import (
	"bytes"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Find returns a task that the caller sees, by its id. Its error is NOT_FOUND, or why it can't be said.
type Find func(id string) (*task.Task, error)

// Responses returns the Reader of requests of responses. find is asked for the tasks that items of theirs come from; nil:
// such references are refused.
func Responses(find Find) Reader {
	return func(raw []byte) (Call, error) {
		var failed error
		c, err := read(raw, responseMembers, func(r *request) Call {
			t := conversation{request: r, find: find, found: map[string]answered{}, named: map[string]bool{}}
			c := t.call()
			failed = t.failed
			return c
		})
		if failed != nil {
			return Call{}, failed
		}
		return c, err
	}
}

// response is the part of a request that its answer repeats, and the places of the request's items, for errors. Its zero
// value is that of a response which is read later.
type response struct {
	asked    map[string][]byte // members that the answer repeats, in JSON
	messages []place           // of the task's messages in the request
	tools    []int             // of the task's tools
}

// repeated are the members of a request that its answer repeats, and the values in their place if the request hasn't them, or if the response is read later: the parameters of a task that ended are erased. "": it hasn't the member.
var repeated = []struct{ name, otherwise string }{
	{"background", ""},
	{"instructions", "null"},
	{"max_output_tokens", "null"},
	{"parallel_tool_calls", "true"},
	{"reasoning", `{"effort":null,"summary":null}`},
	{"temperature", "null"},
	{"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`},
	{"tools", "[]"},
	{"top_p", "null"},
	{"truncation", `"disabled"`},
}

// call translates the request.
func (t *conversation) call() Call {
	r := t.request
	c := Call{Model: string(r.Text(r.values, "", "model")), Base: chatBase, response: &response{asked: map[string][]byte{}}}
	input, parameters := jsonwrite.New(1<<10), jsonwrite.New(1<<8)
	input.Begin('{')
	if !saysNothing(r.values["instructions"]) {
		inbound.Copy(input, r.values, "instructions", "system")
	}
	t.items(input)
	input.End('}')
	parameters.Begin('{')
	for _, name := range []string{"max_output_tokens", "temperature", "top_p"} {
		inbound.Copy(parameters, r.values, name, name)
	}
	inbound.Copy(parameters, r.within("reasoning", reasoningMembers), "effort", catalog.Reasoning)
	c.renamed = r.textFormat(parameters)
	for _, one := range repeated {
		if value, ok := r.values[one.name]; ok {
			c.response.asked[one.name] = bytes.Clone(value)
		}
	}
	r.responseTools(parameters, c.response)
	parameters.End('}')
	c.response.messages = t.places
	c.Stream, c.Background = r.Flag(r.values, "", "stream"), r.Flag(r.values, "", "background")
	if stored := r.values["store"]; c.Background && string(stored) == "false" {
		r.Row("store", "can't be false beside background")
	}
	r.Flag(r.values, "", "store")
	r.within("stream_options", responseStreamMembers)
	r.included()
	c.Body = body(c.Model, input, parameters, r.values[memberMetadata])
	return c
}

// within returns the members of a member that is an object; nil without it.
func (r *request) within(name string, rules inbound.Rules) map[string][]byte {
	value, ok := r.values[name]
	if !ok {
		return nil
	}
	return r.Members(value, name, rules)
}

// includable are what an answer has anyhow, and so may be asked for.
var includable = map[string]bool{"reasoning.encrypted_content": true, "web_search_call.action.sources": true}

const notIncluded = "can't be honoured here; only reasoning.encrypted_content and web_search_call.action.sources are taken"

// included checks which further members the answer is to have.
func (r *request) included() {
	const at = "include"
	value, ok := r.values[at]
	if !ok {
		return
	}
	r.List(value, at, func(_ int, one []byte, at string) {
		if said, _ := inbound.TextOf(one); !includable[string(said)] {
			r.Row(at, notIncluded)
		}
	})
}

// textFormat writes the JSON Schema of the answer, if one is asked for. It returns the name of it that isn't the usual
// one.
func (r *request) textFormat(w *jsonwrite.Writer) []renaming {
	const at = "text.format"
	value, ok := r.within("text", textMembers)["format"]
	if !ok {
		return nil
	}
	kind, ok := r.Kind(value, at, "type", false)
	if !ok {
		return nil
	}
	switch kind {
	case "text":
		r.Members(value, at, plainFormatMembers)
	case "json_schema":
		given := r.Members(value, at, schemaFormatMembers)
		if _, ok := given["schema"]; !ok {
			r.Row(inbound.Under(at, "schema"), "is required")
		}
		inbound.CopySchema(w, given, "schema", catalog.OutputSchema)
	case jsonObject:
		r.Members(value, at, plainFormatMembers)
		return anyObject(w, at)
	default:
		r.Row(inbound.Under(at, "type"), "must be text, json_schema or json_object")
	}
	return nil
}
