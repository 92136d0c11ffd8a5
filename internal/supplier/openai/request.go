package openai

import (
	"encoding/json"
	"errors"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// chatRequest is a chat in the supplier's format.
type chatRequest struct {
	body  json.RawMessage
	bytes int // of the text that it carries, for an estimate of its tokens
}

// ask writes the request for r, which the catalog has validated; live: for a stream. Strings and numbers pass as they
// were written. An unknown member is an error, so that no member is dropped.
func (s settings) ask(r supplier.Request, live bool) (chatRequest, error) {
	const more = 192 // bytes: names, brackets and a stream's members
	w := jsonwrite.New(len(r.Model) + len(r.Input) + len(r.Parameters) + more)
	w.Begin('{')
	w.Name("model")
	w.String(r.Model)
	w.Name("messages")
	said, err := writeMessages(w, r)
	if err == nil && !s.writeParameters(w, r) {
		err = errors.New(unread)
	}
	if err != nil {
		return chatRequest{}, err
	}
	if live {
		w.Name("stream")
		w.Bool(true)
	}
	if live && s.streamUsage {
		w.Name("stream_options")
		w.JSON([]byte(`{"include_usage":true}`))
	}
	w.End('}')
	body, err := w.Bytes()
	return chatRequest{body, said}, err
}

// writeMessages returns how many bytes of text the input's members hold, which are all that have a counterpart
// (see refuses).
func writeMessages(w *jsonwrite.Writer, r supplier.Request) (said int, err error) {
	var messages, prompt, system []byte
	in := jsonread.New(r.Input)
	for m := in.Only("messages", "prompt", "system"); m.Next(); {
		var says []byte
		switch m.Name {
		case "messages":
			messages = in.Value()
		case "prompt":
			prompt, says = textIn(&in)
		case "system":
			system, says = textIn(&in)
		}
		said += len(says)
	}
	w.Begin('[')
	if system != nil {
		writeMessage(w, []byte(`"system"`), system)
	}
	if prompt != nil {
		writeMessage(w, []byte(`"user"`), prompt)
	}
	more := 0
	if !absent(messages) {
		more, err = copyMessages(w, r, messages)
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

func copyMessages(w *jsonwrite.Writer, r supplier.Request, messages []byte) (said int, err error) {
	in := jsonread.New(messages)
	in.Open('[')
	for i := 0; err == nil && in.More(']'); i++ {
		m := readMessage(&in)
		switch {
		case m.role == nil || m.content == nil && m.parts == nil && m.calls == nil:
			in.Fail()
		case m.calls != nil || m.callID != nil:
			err = writeToolMessage(w, m, r.States[i])
			said += len(m.says) + len(m.parts) + len(m.calls)
		case m.parts != nil:
			said, err = copyParts(w, r, i, m.role, m.parts, said)
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

// writeParameters reports whether it knows them all; they are all that this kind honours (see refuses).
func (s settings) writeParameters(w *jsonwrite.Writer, r supplier.Request) bool {
	var most, temperature, topP, stop, seed, schema []byte
	var more chatExtras
	in := jsonread.New(r.Parameters)
	for m := in.Only(chatMembers...); m.Next(); {
		switch m.Name {
		case "max_output_tokens":
			most = in.Value()
		case "temperature":
			temperature = in.Value()
		case "top_p":
			topP = in.Value()
		case "stop":
			stop = in.Value()
		case "seed":
			seed = in.Value()
		case catalog.OutputSchema:
			schema = in.Value()
		default:
			more.read(m.Name, &in)
		}
	}
	if fixedSampling(r.Model) { // only the default gets here, and such models may refuse even that
		temperature, topP = nil, nil
	}
	writeSet(w, s.maxTokens, most)
	writeSet(w, "temperature", temperature)
	writeSet(w, "top_p", topP)
	writeSet(w, "stop", stop)
	writeSet(w, "seed", seed)
	return in.Done() && (absent(stop) || isTexts(stop)) && writeSchema(w, schema) && more.write(w, r.Model)
}

// writeSchema asks for an answer of the schema, if there is one.
func writeSchema(w *jsonwrite.Writer, schema []byte) bool {
	if absent(schema) {
		return true
	}
	outline, err := upstream.Outline(schema)
	w.Name("response_format")
	w.Begin('{')
	w.Name("type")
	w.String("json_schema")
	w.Name("json_schema")
	w.Begin('{')
	w.Name("name")
	w.String("answer")
	w.Name("strict")
	w.Bool(true)
	w.Name("schema")
	w.JSON(outline)
	w.End('}')
	w.End('}')
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
	in := jsonread.New(value)
	for in.Open('['); in.More(']'); {
		in.Text()
	}
	return in.Done()
}
