package upstream

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/jsonwrite"
)

// outlined are the keywords of a strict schema that every supplier's format takes, beside those for other schemas.
var outlined = []string{"type", "required", "additionalProperties", "enum", "$ref", "title"}

// told are the keywords that some formats refuse. The gateway holds the answer to them; the model is told of them in
// the description.
var told = []string{
	"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
}

// Outline returns a caller's strict JSON Schema as suppliers' formats take it: without bounds, which its descriptions
// state instead, and with the members of each object in the order of its "required". The order is that in which a
// model writes them, and an object has lost it in canonical form.
func Outline(schema json.RawMessage) (json.RawMessage, error) {
	var root any
	if jsonv2.Unmarshal(schema, &root) != nil {
		return nil, errors.New("the output schema isn't JSON")
	}
	w := jsonwrite.New(len(schema))
	outline(w, root)
	return w.Bytes()
}

func outline(w *jsonwrite.Writer, v any) {
	schema, _ := v.(map[string]any) // the catalog has seen that it is one
	w.Begin('{')
	for _, word := range outlined {
		if value, ok := schema[word]; ok {
			w.Name(word)
			w.Any(value)
		}
	}
	if value, ok := schema["const"]; ok && schema["enum"] == nil {
		w.Name("enum")
		w.Any([]any{value})
	}
	if text := description(schema); text != "" {
		w.Name("description")
		w.String(text)
	}
	if items, ok := schema["items"]; ok {
		w.Name("items")
		outline(w, items)
	}
	if list, ok := schema["anyOf"].([]any); ok {
		w.Name("anyOf")
		w.Begin('[')
		for _, one := range list {
			outline(w, one)
		}
		w.End(']')
	}
	outlineMembers(w, "properties", schema["properties"], schema["required"])
	outlineMembers(w, "$defs", schema["$defs"], nil)
	w.End('}')
}

// outlineMembers writes schemas by name, those that order lists first.
func outlineMembers(w *jsonwrite.Writer, word string, v, order any) {
	members, ok := v.(map[string]any)
	if !ok {
		return
	}
	var names []string
	for name := range members {
		names = append(names, name)
	}
	list, _ := order.([]any)
	place := func(name string) int {
		if i := slices.Index(list, any(name)); i >= 0 {
			return i
		}
		return len(list)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	w.Name(word)
	w.Begin('{')
	for _, name := range names {
		w.Key(name)
		outline(w, members[name])
	}
	w.End('}')
}

// description returns a schema's own, and the bounds that it states.
func description(schema map[string]any) string {
	text, _ := schema["description"].(string)
	var bounds []string
	for _, word := range told {
		if value, ok := schema[word]; ok {
			raw, err := json.Marshal(value)
			if err != nil {
				continue // it was read from JSON
			}
			bounds = append(bounds, word+" "+string(raw))
		}
	}
	if len(bounds) == 0 {
		return text
	}
	return strings.TrimSpace(text + " (" + strings.Join(bounds, ", ") + ")")
}
