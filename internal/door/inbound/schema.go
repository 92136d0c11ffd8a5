package inbound

import (
	"bytes"
	"strings"

	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
)

// The words of draft 7 that the service's dialect, 2020-12, has others for.
const (
	formerDialect     = "http://json-schema.org/draft-07/schema" // with an empty fragment too
	formerDefinitions = "definitions"
	definitions       = "$defs"
)

// What is larger or nested deeper is no strict schema, and stays as it is.
const (
	mostSchema  = 64 << 10
	deepestHere = 16
)

// Schema returns a strict JSON Schema in the service's dialect. One of draft 7, as OpenAI's library for JavaScript makes
// them of zod's, differs from it by two words: the name of its dialect, which is left out, and that of its definitions.
// Any other value is returned as it is.
func Schema(raw []byte) []byte {
	if len(raw) > mostSchema || !bytes.Contains(raw, []byte(formerDialect)) {
		return raw
	}
	w := jsonwrite.New(len(raw))
	renewed(w, raw, 0)
	whole, err := w.Bytes()
	if err != nil {
		return raw
	}
	return whole
}

// CopySchema writes a strict schema under a name of the service's if the request has it.
func CopySchema(w *jsonwrite.Writer, values map[string][]byte, name, as string) {
	if value, ok := values[name]; ok {
		w.Name(as)
		w.JSON(Schema(value))
	}
}

// CopyParameters writes the schema of a tool's arguments, which is strict if the tool is.
func CopyParameters(w *jsonwrite.Writer, tool map[string][]byte, name string) {
	const as = "parameters"
	if string(tool["strict"]) == "true" {
		CopySchema(w, tool, name, as)
	} else {
		Copy(w, tool, name, as)
	}
}

// renewed writes a schema that is within so many others.
func renewed(w *jsonwrite.Writer, schema []byte, within int) {
	in := jsonread.Sound(schema)
	if in.Peek() != '{' || within > deepestHere {
		w.JSON(schema)
		return
	}
	w.Begin('{')
	in.Open('{')
	for in.More('}') {
		name, value := string(in.Name()), in.Value()
		said, _ := TextOf(value)
		switch text := string(said); name {
		case "$schema":
			if strings.TrimSuffix(text, "#") != formerDialect {
				member(w, name, value)
			}
		case "$ref":
			if of, ok := strings.CutPrefix(text, "#/"+formerDefinitions+"/"); ok {
				w.Name(name)
				w.String("#/" + definitions + "/" + of)
			} else {
				member(w, name, value)
			}
		case formerDefinitions:
			if !has(schema, definitions) {
				name = definitions
			}
			renewedMembers(w, name, value, within)
		case "properties":
			renewedMembers(w, name, value, within)
		case "items":
			w.Name(name)
			renewed(w, value, within+1)
		case "anyOf":
			renewedEach(w, name, value, within)
		default:
			member(w, name, value)
		}
	}
	w.End('}')
}

// has reports whether an object has a member.
func has(object []byte, name string) (found bool) {
	in := jsonread.Sound(object)
	in.Open('{')
	for in.More('}') {
		found = found || string(in.Name()) == name
		in.Skip()
	}
	return found
}

func member(w *jsonwrite.Writer, name string, value []byte) {
	w.Key(name)
	w.JSON(value)
}

func renewedMembers(w *jsonwrite.Writer, name string, schemas []byte, within int) {
	in := jsonread.Sound(schemas)
	if in.Peek() != '{' {
		member(w, name, schemas)
		return
	}
	w.Name(name)
	w.Begin('{')
	in.Open('{')
	for in.More('}') {
		w.Key(string(in.Name()))
		renewed(w, in.Value(), within+1)
	}
	w.End('}')
}

func renewedEach(w *jsonwrite.Writer, name string, schemas []byte, within int) {
	in := jsonread.Sound(schemas)
	if in.Peek() != '[' {
		member(w, name, schemas)
		return
	}
	w.Name(name)
	w.Begin('[')
	Elements(schemas, func(_ int, one []byte) { renewed(w, one, within+1) })
	w.End(']')
}
