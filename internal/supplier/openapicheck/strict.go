package openapicheck

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// strict closes the objects of schemas to the members that they list. A location in a document is closed: a schema
// that is one part of another is not, for the other parts list members too. A choice of exactly one is taken for a
// choice of any.
type strict struct {
	schemas map[string]any // by name, to look through references
}

// location makes strict the schema of a value: of a body, a member, an element.
func (s strict) location(v any) any {
	schema, ok := s.inPlace(v).(map[string]any)
	if !ok {
		return v
	}
	if s.listed(schema, nil) {
		schema["unevaluatedProperties"] = false
	}
	return schema
}

// inPlace makes strict the schemas of the members and elements of a schema.
func (s strict) inPlace(v any) any {
	schema, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for name, member := range object(schema["properties"]) {
		object(schema["properties"])[name] = s.location(member)
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if below, ok := schema[word].(map[string]any); ok {
			schema[word] = s.location(below)
		}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		for i, part := range list(schema[word]) {
			list(schema[word])[i] = s.inPlace(part)
		}
	}
	if choice, ok := schema["oneOf"]; ok { // open branches overlap
		delete(schema, "oneOf")
		schema["allOf"] = append(list(schema["allOf"]), map[string]any{"anyOf": choice})
	}
	if schema["type"] == "object" && !s.listed(schema, nil) && schema["additionalProperties"] == nil && schema["allOf"] == nil {
		schema["additionalProperties"] = true // of no members in particular: of any
	}
	return nullable(schema)
}

// nullable translates OpenAPI 3.0's nullable into JSON Schema.
func nullable(schema map[string]any) map[string]any {
	may := schema["nullable"]
	delete(schema, "nullable")
	if may != true {
		return schema
	}
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
}

// listed reports whether a schema, or a part of it, lists members.
func (s strict) listed(schema map[string]any, seen []string) bool {
	if _, ok := schema["properties"]; ok {
		return true
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range list(schema[word]) {
			if s.listed(object(part), seen) {
				return true
			}
		}
	}
	ref, ok := schema["$ref"].(string)
	if !ok || slices.Contains(seen, ref) {
		return false
	}
	return s.listed(object(s.schemas[strings.TrimPrefix(ref, schemaPrefix)]), append(seen, ref))
}

// formats are those of OpenAPI that JSON Schema doesn't know and that bound a value.
func formats() []jsonschema.Format {
	return []jsonschema.Format{
		{Name: "int32", Validate: bits(31)},
		{Name: "int64", Validate: bits(63)},
		{Name: "byte", Validate: func(v any) error {
			if text, ok := v.(string); ok {
				_, err := base64.StdEncoding.DecodeString(text)
				return err
			}
			return nil
		}},
	}
}

// bits returns a check that a number is below two to the n, either way.
func bits(n uint) func(any) error {
	return func(v any) error {
		written, ok := v.(json.Number)
		if !ok {
			return nil
		}
		number, ok := new(big.Rat).SetString(written.String())
		if !ok || number.Num().CmpAbs(new(big.Int).Mul(number.Denom(), new(big.Int).Lsh(big.NewInt(1), n))) >= 0 {
			return errors.New("out of range")
		}
		return nil
	}
}
