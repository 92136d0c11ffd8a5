package openai

import (
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

// Embeddings reads the request of embeddings.
func Embeddings(raw []byte) (Call, error) { return read(raw, embeddingMembers, (*request).embeddings) }

func (r *request) embeddings() Call {
	c := Call{Model: string(r.Text(r.values, "", "model")), Base: embedBase}
	input, parameters := jsonwrite.New(1<<10), jsonwrite.New(1<<6)
	input.Begin('{')
	c.oneText = r.texts(input)
	input.End('}')
	parameters.Begin('{')
	inbound.Copy(parameters, r.values, "dimensions", "dimensions")
	switch string(r.values["encoding_format"]) {
	case `"base64"`, `"float"`:
		inbound.Copy(parameters, r.values, "encoding_format", "encoding")
	case "":
	default:
		r.Row("encoding_format", "must be float or base64")
	}
	parameters.End('}')
	c.Body = body(c.Model, input, parameters, nil)
	return c
}

// texts writes what is to be embedded, and reports whether it is one text.
func (r *request) texts(w *jsonwrite.Writer) (one bool) {
	const at = "input"
	value, ok := r.values[at]
	if !ok {
		r.Row(at, "is required")
		return false
	}
	w.Name("texts")
	if value[0] == '"' {
		w.Begin('[')
		w.JSON(value)
		w.End(']')
		return true
	}
	w.JSON(value)
	tokens := false
	isList := inbound.Elements(value, func(_ int, text []byte) { tokens = tokens || text[0] != '"' })
	if !isList || tokens {
		r.Row(at, "must be a text or a list of texts; tokens are not taken")
	}
	return false
}
