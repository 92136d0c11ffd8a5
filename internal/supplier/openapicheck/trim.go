package openapicheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	schemaPrefix = "#/components/schemas/"
	jsonType     = "application/json"
	eventType    = "text/event-stream"
)

// keywords are the schema keywords that are kept. A document's descriptions are left out, and so are members without
// a meaning for validity.
var keywords = []string{
	"$ref", "type", "properties", "required", "items", "additionalProperties", "allOf", "anyOf", "oneOf",
	"enum", "const", "nullable", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}

// Cut selects the parts of a document that Trim keeps.
type Cut struct {
	Operations []string          // such as "POST /chat/completions"
	Events     map[string]string // of an operation, the schema of its streamed events, if the document ties them by words alone
	Required   bool              // a member whose description begins with "Required." is required: discovery documents say so in words alone
	Info       map[string]any    // the replacement for the document's own
}

// Trim returns the parts of an OpenAPI document that the operations reach: their parameters, bodies and
// successful answers, without a word of prose.
func Trim(doc map[string]any, cut Cut) (map[string]any, error) {
	t := trimmer{doc: doc, cut: cut, schemas: map[string]any{}}
	paths := map[string]any{}
	for _, name := range cut.Operations {
		method, path, _ := strings.Cut(name, " ")
		item := object(object(doc["paths"])[path])
		op := object(item[strings.ToLower(method)])
		if op == nil {
			return nil, fmt.Errorf("the document has no operation %s", name)
		}
		kept, _ := paths[path].(map[string]any)
		if kept == nil {
			kept = map[string]any{}
			paths[path] = kept
		}
		parameters := append(slices.Clone(list(item["parameters"])), list(op["parameters"])...)
		kept[strings.ToLower(method)] = t.operation(name, op, parameters)
	}
	if t.err != nil {
		return nil, t.err
	}
	return map[string]any{
		"openapi": doc["openapi"], "info": cut.Info, "servers": t.servers(), "paths": paths,
		"components": map[string]any{"schemas": t.schemas},
	}, nil
}

type trimmer struct {
	doc     map[string]any
	cut     Cut
	schemas map[string]any
	err     error
}

func (t *trimmer) servers() []any {
	var kept []any
	for _, s := range list(t.doc["servers"]) {
		kept = append(kept, map[string]any{"url": object(s)["url"]})
	}
	return kept
}

func (t *trimmer) operation(name string, op map[string]any, parameters []any) map[string]any {
	kept := map[string]any{}
	var of []any
	for _, p := range parameters {
		of = append(of, t.parameter(t.resolve(p)))
	}
	if of != nil {
		kept["parameters"] = of
	}
	if body := t.resolve(op["requestBody"]); body != nil {
		content := t.content(body)
		if t.cut.Required {
			t.bind(name, content)
		}
		kept["requestBody"] = map[string]any{"content": content}
	}
	answers := map[string]any{}
	for status, answer := range object(op["responses"]) {
		if strings.HasPrefix(status, "2") {
			content := t.content(t.resolve(answer))
			if schema, ok := t.cut.Events[name]; ok {
				content[eventType] = map[string]any{"schema": t.schema(map[string]any{"$ref": schemaPrefix + schema})}
			}
			answers[status] = map[string]any{"content": content}
		}
	}
	kept["responses"] = answers
	return kept
}

// bind removes the model from the required members of a body whose path names it.
func (t *trimmer) bind(operation string, content map[string]any) {
	ref, _ := object(object(content[jsonType])["schema"])["$ref"].(string)
	root := object(t.schemas[strings.TrimPrefix(ref, schemaPrefix)])
	if required := list(root["required"]); strings.Contains(operation, "/models/{") && required != nil {
		root["required"] = slices.DeleteFunc(required, func(name any) bool { return name == "model" })
	}
}

func (t *trimmer) parameter(p map[string]any) map[string]any {
	kept := map[string]any{"name": p["name"], "in": p["in"], "schema": t.schema(p["schema"])}
	if p["required"] == true {
		kept["required"] = true
	}
	return kept
}

func (t *trimmer) content(of map[string]any) map[string]any {
	kept := map[string]any{}
	for kind, media := range object(of["content"]) {
		kept[kind] = map[string]any{}
		if schema, ok := object(media)["schema"]; ok {
			kept[kind] = map[string]any{"schema": t.schema(schema)}
		}
	}
	return kept
}

// schema returns the schema without words, and keeps those that it refers to.
func (t *trimmer) schema(s any) any {
	from, ok := s.(map[string]any)
	if !ok {
		return s
	}
	kept := map[string]any{}
	for _, word := range keywords {
		switch v := from[word].(type) {
		case nil:
		case map[string]any:
			if word == "properties" {
				kept[word] = t.members(v)
			} else {
				kept[word] = t.schema(v)
			}
		case []any:
			kept[word] = v
			if strings.HasSuffix(word, "Of") {
				kept[word] = t.each(v)
			}
		default:
			kept[word] = v
		}
	}
	if ref, ok := kept["$ref"].(string); ok {
		t.refer(ref)
	}
	if names := t.requiredInWords(from); names != nil {
		kept["required"] = names
	}
	return kept
}

func (t *trimmer) members(of map[string]any) map[string]any {
	kept := map[string]any{}
	for name, s := range of {
		kept[name] = t.schema(s)
	}
	return kept
}

func (t *trimmer) each(of []any) []any {
	var kept []any
	for _, s := range of {
		kept = append(kept, t.schema(s))
	}
	return kept
}

func (t *trimmer) requiredInWords(of map[string]any) []any {
	var names []any
	properties := object(of["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		words, _ := object(properties[name])["description"].(string)
		if t.cut.Required && strings.HasPrefix(words, "Required.") {
			names = append(names, name)
		}
	}
	return names
}

// refer keeps the schema that a reference names.
func (t *trimmer) refer(ref string) {
	name, ok := strings.CutPrefix(ref, schemaPrefix)
	if _, done := t.schemas[name]; done {
		return
	}
	s, found := object(object(t.doc["components"])["schemas"])[name]
	if !ok || !found {
		t.err = fmt.Errorf("the document has no %s", ref)
		return
	}
	t.schemas[name] = nil // started, should it refer to itself
	t.schemas[name] = t.schema(s)
}

// resolve follows the reference that stands in the place of a parameter, body or answer.
func (t *trimmer) resolve(v any) map[string]any {
	o := object(v)
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	at := t.doc
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = object(at[step])
	}
	if at == nil {
		t.err = fmt.Errorf("the document has no %s", ref)
	}
	return at
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
