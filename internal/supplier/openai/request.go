package openai

import (
	"errors"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// chatRequest is a chat in the supplier's format.
type chatRequest struct {
	body  upstream.Written
	bytes int // of the text that it carries, for an estimate of its tokens
}

// ask writes the request for r, which the catalog has validated, in the form of api; live: for a stream. Strings and
// numbers pass as they were written. An unknown member is an error, so that no member is dropped.
func (s settings) ask(r supplier.Request, api chatAPI, live bool) (chatRequest, error) {
	const more = 192 // bytes: names, brackets and a stream's members
	size := len(r.Model) + len(r.Input) + len(r.Parameters) + more
	for _, m := range r.Media {
		size -= len(m.Base64)
	}
	w := jsonwrite.New(max(size, more))
	w.Begin('{')
	w.Name("model")
	w.String(r.Model)
	w.Name(api.conversation())
	p, known := readParameters(r)
	said, err := writeMessages(w, r, api, asksObject(r, p))
	if err != nil {
		return chatRequest{}, err
	}
	if api == responses {
		known = known && s.writeResponseParameters(w, p, r.Model)
	} else {
		known = known && s.writeParameters(w, p, r.Model)
	}
	if !known {
		return chatRequest{}, errors.New(unread)
	}
	if live {
		w.Name("stream")
		w.Bool(true)
	}
	if live && s.streamUsage && api == completions {
		w.Name("stream_options")
		w.JSON([]byte(`{"include_usage":true}`))
	}
	w.End('}')
	body, err := w.Pieces()
	return chatRequest{body, said}, err
}

// writeMessages returns how many bytes of text the input's members hold, which are all that have a counterpart
// (see refuses), and those of the instruction to answer with an object, if it is to be there.
func writeMessages(w *jsonwrite.Writer, r supplier.Request, api chatAPI, object bool) (said int, err error) {
	var messages, prompt, system, instructs []byte
	in := jsonread.Sound(r.Input).Passing(r.Base64)
	for m := in.Only("messages", "prompt", "system"); m.Next(); {
		var says []byte
		switch m.Name {
		case "messages":
			messages = in.Value()
		case "prompt":
			prompt, says = textIn(&in)
		case "system":
			system, says = textIn(&in)
			instructs = says
		}
		said += len(says)
	}
	w.Begin('[')
	if object {
		said += len(upstream.AskObject)
		system = withObject(instructs)
	}
	if system != nil {
		writeMessage(w, []byte(`"system"`), system)
	}
	if prompt != nil {
		writeMessage(w, []byte(`"user"`), prompt)
	}
	more := 0
	if !absent(messages) {
		more, err = copyMessages(w, r, api, messages)
	}
	w.End(']')
	if err == nil && !in.Done() {
		err = errors.New(unread)
	}
	return said + more, err
}

// textIn reads a string; nil for null, which an operator's schema may take for an absent one.
func textIn(in *jsonread.Reader) (raw, says []byte) {
	if in.Peek() == 'n' {
		in.Skip()
		return nil, nil
	}
	return in.Text()
}

func absent(value []byte) bool { return len(value) == 0 || string(value) == "null" }

func copyMessages(w *jsonwrite.Writer, r supplier.Request, api chatAPI, messages []byte) (said int, err error) {
	in := jsonread.Sound(messages).Passing(r.Base64)
	in.Open('[')
	for i := 0; err == nil && in.More(']'); i++ {
		m := readMessage(&in)
		switch {
		case m.role == nil || m.content == nil && m.parts == nil && m.calls == nil:
			in.Fail()
		case m.calls != nil || m.callID != nil:
			err = writeToolMessage(w, api, m, r.States[i])
			said += len(m.says) + len(m.parts) + len(m.calls)
		case m.parts != nil && api == responses && string(m.role) == `"assistant"`:
			err = writeWords(w, m)
			said += len(m.parts)
		case m.parts != nil:
			said, err = copyParts(w, r, api, i, m, said)
		default:
			writeMessage(w, m.role, m.content)
			said += len(m.says)
		}
	}
	if err == nil && !in.Done() {
		err = errors.New(unread)
	}
	return said, err
}

// message is one of the input's, its strings as they are written.
type message struct {
	role, content, says []byte
	parts               []byte // in the place of content
	calls, callID       []byte
}

func readMessage(in *jsonread.Reader) (said message) {
	for m := in.Only("content", "role", "state", "tool_call_id", catalog.OutputCalls); m.Next(); {
		switch {
		case m.Name == "role":
			said.role, _ = in.Text()
		case m.Name == "state":
			in.Skip() // it comes as one of Request.States
		case m.Name == "tool_call_id":
			said.callID, _ = in.Text()
		case m.Name == catalog.OutputCalls:
			said.calls = in.Value()
		case in.Peek() == '[':
			said.parts = in.Value()
		default:
			said.content, said.says = in.Text()
		}
	}
	return said
}

func writeMessage(w *jsonwrite.Writer, role, content []byte) {
	w.Begin('{')
	w.Name("role")
	w.JSON(role)
	w.Name("content")
	w.JSON(content)
	w.End('}')
}

// parameters are those of a chat, as they are written; nil: absent.
type parameters struct {
	most, temperature, topP, stop, seed, schema []byte
	tools, choice, parallel, reasoning          []byte
	search                                      bool
}

// readParameters reports whether it knows them all; they are all that this kind honours (see refuses).
func readParameters(r supplier.Request) (p parameters, known bool) {
	in := jsonread.Sound(r.Parameters)
	for m := in.Only(chatMembers...); m.Next(); {
		switch m.Name {
		case "max_output_tokens":
			p.most = in.Value()
		case "temperature":
			p.temperature = in.Value()
		case "top_p":
			p.topP = in.Value()
		case "stop":
			p.stop = in.Value()
		case "seed":
			p.seed = in.Value()
		case catalog.OutputSchema:
			p.schema = in.Value()
		case catalog.Tools:
			p.tools = in.Value()
		case catalog.ToolChoice:
			p.choice = in.Value()
		case catalog.ParallelCalls:
			p.parallel = in.Value()
		case catalog.Reasoning:
			p.reasoning = in.Value()
		case catalog.WebSearch:
			p.search = string(in.Value()) == "true"
		}
	}
	if fixedSampling(r.Model) { // only the default gets here, and such models may refuse even that
		p.temperature, p.topP = nil, nil
	}
	return p, in.Done() && (absent(p.stop) || isTexts(p.stop))
}

// effort returns how much a model is to think; nil if it isn't asked, as one that can't think isn't asked not to.
func (p *parameters) effort(model string) []byte {
	if absent(p.reasoning) || string(p.reasoning) == `"none"` && thoughtless(model) {
		return nil
	}
	return p.reasoning
}

// writeParameters reports whether it could read them.
func (s settings) writeParameters(w *jsonwrite.Writer, p parameters, model string) bool {
	writeSet(w, s.maxTokens, p.most)
	writeSet(w, "temperature", p.temperature)
	writeSet(w, "top_p", p.topP)
	writeSet(w, "stop", p.stop)
	writeSet(w, "seed", p.seed)
	writeSet(w, "reasoning_effort", p.effort(model))
	if p.search {
		w.Name("web_search_options")
		w.JSON([]byte("{}"))
	}
	return writeSchema(w, completions, p.schema) && s.writeTools(w, completions, p)
}

// writeSchema asks for an answer of the schema, if there is one.
func writeSchema(w *jsonwrite.Writer, api chatAPI, schema []byte) bool {
	if absent(schema) {
		return true
	}
	outline, err := upstream.Outline(schema)
	if api == responses {
		w.Name("text")
		w.Begin('{')
		w.Name("format")
	} else {
		w.Name("response_format")
	}
	if catalog.IsAnyObject(schema) {
		w.JSON([]byte(`{"type":"json_object"}`))
	} else {
		writeTyped(w, api, "json_schema", func() {
			w.Name("name")
			w.String("answer")
			w.Name("strict")
			w.Bool(true)
			w.Name("schema")
			w.JSON(outline)
		})
	}
	if api == responses {
		w.End('}')
	}
	return err == nil
}

// writeSet writes a member that says something.
func writeSet(w *jsonwrite.Writer, name string, value []byte) {
	switch string(value) {
	case "", "null", `""`, "[]", "{}":
		return
	}
	w.Name(name)
	w.JSON(value)
}

func isTexts(value []byte) bool {
	in := jsonread.Sound(value)
	for in.Open('['); in.More(']'); {
		in.Text()
	}
	return in.Done()
}
