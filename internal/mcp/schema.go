package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	definitions      = "$defs"
	definitionPrefix = "#/" + definitions + "/"
	annotationPrefix = "x-" // of keywords that JSON Schema doesn't know
)

const keySchema = `{"type":"string","minLength":8,"maxLength":128,"description":` +
	`"Leave it out, but where an earlier call asked for it: the same key and arguments give the same task."}`

// toolSchema joins the schemas of input and parameters to the one of a tool's arguments: an object that holds both,
// with the definitions of both at its root, the place that every client reads.
func toolSchema(input, parameters json.RawMessage) ([]byte, error) {
	in, err := readSchema(input)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	par, err := readSchema(parameters)
	if err != nil {
		return nil, fmt.Errorf("parameters schema: %w", err)
	}
	if in.disagrees(par) {
		par.rename = func(name string) string { return "parameters_" + name }
	}
	properties := object{
		{argInput, in.body()}, {argParameters, par.body()}, {argKey, jsontext.Value(keySchema)},
	}
	required := `["input"]`
	if len(par.members.get("required")) > len("[]") {
		required = `["input","parameters"]`
	}
	out := object{
		{"type", jsontext.Value(`"object"`)},
		{"properties", properties.value()},
		{"required", jsontext.Value(required)},
		{"additionalProperties", jsontext.Value("false")},
	}
	defs := in.define(nil)
	if defs = par.define(defs); len(defs) > 0 {
		out = append(out, member{definitions, defs.value()})
	}
	return out.value(), nil
}

// part is one of the two schemas.
type part struct {
	members object // without the definitions
	defs    object
	rename  func(string) string
}

func readSchema(raw []byte) (part, error) {
	all, err := readObject(raw)
	p := part{rename: func(name string) string { return name }}
	if err != nil {
		return p, err
	}
	for _, m := range all {
		if m.name != definitions {
			p.members = append(p.members, m)
		} else if p.defs, err = readObject(m.value); err != nil {
			return p, err
		}
	}
	return p, nil
}

// disagrees reports whether two parts mean something else by one name.
func (p part) disagrees(other part) bool {
	for _, m := range p.defs {
		if there := other.defs.get(m.name); there != nil && !bytes.Equal(canonical(m.value), canonical(there)) {
			return true
		}
	}
	return false
}

func canonical(v jsontext.Value) jsontext.Value {
	c := v.Clone()
	if c.Canonicalize() != nil {
		return v
	}
	return c
}

func (p part) body() jsontext.Value { return p.rewrite(p.members.value(), false) }

// define adds the part's definitions to those that are there.
func (p part) define(all object) object {
	for _, m := range p.defs {
		all = all.with(p.rename(m.name), p.rewrite(m.value, false))
	}
	return all
}

// rewrite renames the references in a schema and drops annotations that only the service knows.
// names says that the members of v are names of the schema's own, not keywords.
func (p part) rewrite(v jsontext.Value, names bool) jsontext.Value {
	switch v.Kind() {
	case '{':
		return p.rewriteObject(v, names)
	case '[':
		var items []jsontext.Value
		if json.Unmarshal(v, &items) != nil {
			return v
		}
		for i := range items {
			items[i] = p.rewrite(items[i], false)
		}
		return append(append(jsontext.Value("["), bytes.Join(asBytes(items), []byte(","))...), ']')
	default:
		return v
	}
}

func (p part) rewriteObject(v jsontext.Value, names bool) jsontext.Value {
	all, err := readObject(v)
	if err != nil {
		return v
	}
	var out object
	for _, m := range all {
		if names {
			out = append(out, member{m.name, p.rewrite(m.value, false)})
			continue
		}
		switch {
		case strings.HasPrefix(m.name, annotationPrefix):
			continue
		case m.name == "$ref":
			m.value = p.reference(m.value)
		case m.name == "enum" || m.name == "const" || m.name == "default" || m.name == "examples": // values, not schemas
		default:
			m.value = p.rewrite(m.value, strings.HasSuffix(strings.ToLower(m.name), "properties") || strings.HasPrefix(m.name, "dependent"))
		}
		out = append(out, m)
	}
	return out.value()
}

func (p part) reference(v jsontext.Value) jsontext.Value {
	var ref string
	if json.Unmarshal(v, &ref) != nil {
		return v
	}
	name, ok := strings.CutPrefix(ref, definitionPrefix)
	if !ok {
		return v
	}
	out, err := jsontext.AppendQuote(nil, definitionPrefix+p.rename(name))
	if err != nil {
		return v
	}
	return out
}

func asBytes(values []jsontext.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
