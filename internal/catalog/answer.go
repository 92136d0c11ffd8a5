package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
)

// OutputSchema is the parameter that gives the JSON Schema of an answer.
const OutputSchema = "output_schema"

// Encoding is the parameter that says how vectors are written.
const Encoding = "encoding"

// schemaAnnotation is the member of a parameter's schema which says that its value is a strict schema itself, or AnyObject.
const schemaAnnotation = "x-schema"

// The bounds of a caller's schema.
const (
	maxSchemaBytes = 64 << 10
	maxSchemaDepth = 10 // schemas within schemas
)

// The keywords of a strict schema, by the form of their values.
var (
	schemaLists = []string{"anyOf"}
	schemaMaps  = []string{"properties", "$defs"}
	schemaPlain = []string{
		"type", "required", "additionalProperties", "enum", "const", "$ref", "title", "description", "default", "examples", "$comment",
		"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minItems", "maxItems",
	}
)

// Answer reads a model's text as JSON of a caller's schema, which the catalog has validated. The result has no white
// space between its parts. Its error doesn't quote the text.
func Answer(schema json.RawMessage, text string) (json.RawMessage, error) {
	compiled, err := compileSchema("answer", schema)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(text)
	if value = slices.Clone(value); value.Compact() != nil {
		return nil, errors.New("the answer isn't JSON")
	}
	rows, err := compiled.generalViolations("data", json.RawMessage(value))
	if err == nil && len(rows) > 0 {
		err = invalidRows(rows)
	}
	return json.RawMessage(value), err
}

// AnyObject is the one schema of an answer that isn't strict: any JSON object.
const AnyObject = `{"type":"object"}`

// IsAnyObject reports whether a schema is AnyObject, however it is written.
func IsAnyObject(schema []byte) bool {
	plain := jsontext.Value(slices.Clone(schema))
	return plain.Canonicalize() == nil && string(plain) == AnyObject
}

// schemaRows returns why the value of a parameter is neither a strict schema nor AnyObject; nil if it is one.
func schemaRows(name string, raw json.RawMessage) []fault.Detail {
	if len(raw) <= maxSchemaBytes && IsAnyObject(raw) {
		return nil
	}
	return rowsOfSchema([]string{name}, raw, "an answer is an object", (*strictness).check)
}

// rowsOfSchema returns why a value among the parameters isn't the schema of an object that may be compiled: by what each
// caller's schema is held to, and by rules.
func rowsOfSchema(at []string, raw json.RawMessage, why string, rules func(s *strictness, v any, at []string, depth int)) []fault.Detail {
	s := strictness{field: slices.Concat([]string{GroupParameters}, at)}
	if len(raw) > maxSchemaBytes {
		s.row(nil, fmt.Sprintf("must have at most %d bytes", maxSchemaBytes))
		return s.rows
	}
	key := sha256.Sum256(append([]byte(why), raw...))
	if soundSchemas.has(key) {
		return nil
	}
	if err := jsonv2.Unmarshal(raw, &s.root); err != nil {
		s.row(nil, "must be an object")
		return s.rows
	}
	if s.root["type"] != "object" {
		s.row([]string{"type"}, `must be "object": `+why)
	}
	rules(&s, s.root, nil, 1)
	s.bounded(s.root)
	if len(s.rows) == 0 {
		if _, err := compileSchema("schema", raw); err != nil {
			s.row(nil, "is no JSON Schema: "+err.Error())
		}
	}
	if len(s.rows) == 0 {
		soundSchemas.add(key)
	}
	return s.rows[:min(len(s.rows), maxRows)]
}

// soundSchemas are callers' schemas without a fault: a program sends the same ones with each request, and judging one
// takes 0.1 ms.
var soundSchemas hashes

// maxHashes bounds the memory of hashes, to some hundred kilobytes.
const maxHashes = 4096

// hashes is a set that is emptied when it is full. It is safe for concurrent use.
type hashes struct {
	mu  sync.RWMutex
	all map[[sha256.Size]byte]struct{}
}

func (h *hashes) has(key [sha256.Size]byte) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	_, ok := h.all[key]
	return ok
}

func (h *hashes) add(key [sha256.Size]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil || len(h.all) >= maxHashes {
		h.all = map[[sha256.Size]byte]struct{}{}
	}
	h.all[key] = struct{}{}
}

// bounded checks the work that a schema causes which is right otherwise.
func (s *strictness) bounded(root any) {
	if len(s.rows) > 0 {
		return
	}
	if why := excess(root); why != "" {
		s.row(nil, why)
	}
}

// strictness collects what is not strict in a schema: a strict one lists each member of each object, requires it, and
// allows no other, so that any supplier can hold its model to it.
type strictness struct {
	field []string // of the whole schema
	root  map[string]any
	rows  []fault.Detail
}

func (s *strictness) row(at []string, problem string) {
	s.rows = append(s.rows, fault.Detail{Field: fieldPath(slices.Concat(s.field, at)...), Message: problem})
}

// check looks at one schema at a path within the whole.
func (s *strictness) check(v any, at []string, depth int) {
	schema, ok := v.(map[string]any)
	switch {
	case len(s.rows) >= maxRows:
		return
	case !ok:
		s.row(at, "must be a schema, which is an object")
		return
	case depth > maxSchemaDepth:
		s.row(at, fmt.Sprintf("is nested more than %d deep", maxSchemaDepth))
		return
	}
	for _, word := range slices.Sorted(maps.Keys(schema)) {
		s.keyword(word, schema[word], append(slices.Clip(at), word), depth)
	}
	if isObject(schema) {
		s.object(schema, at)
	}
	if schema["type"] == "array" && schema["items"] == nil {
		s.row(append(slices.Clip(at), "items"), "is required: it says what the array holds")
	}
}

func (s *strictness) keyword(word string, value any, at []string, depth int) {
	switch {
	case word == "items":
		s.check(value, at, depth+1)
	case word == "$ref":
		s.reference(value, at)
	case word == "$schema" && len(at) == 1:
		if value != "https://json-schema.org/draft/2020-12/schema" {
			s.row(at, "must be https://json-schema.org/draft/2020-12/schema, or absent")
		}
	case slices.Contains(schemaLists, word):
		list, _ := value.([]any)
		if len(list) == 0 {
			s.row(at, "must be a list of schemas")
		}
		for i, one := range list {
			s.check(one, append(slices.Clip(at), fmt.Sprint(i)), depth+1)
		}
	case slices.Contains(schemaMaps, word):
		members, ok := value.(map[string]any)
		if !ok {
			s.row(at, "must be an object of schemas")
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			s.check(members[name], append(slices.Clip(at), name), depth+1)
		}
	case !slices.Contains(schemaPlain, word):
		s.row(at, "can't be part of a strict schema")
	}
}

// reference allows those within the schema.
func (s *strictness) reference(value any, at []string) {
	ref, _ := value.(string)
	name, local := strings.CutPrefix(ref, definitionPrefix)
	definitions, _ := s.root["$defs"].(map[string]any)
	switch {
	case ref == "#":
	case !local:
		s.row(at, "must be # or "+definitionPrefix+"NAME: no other schema is fetched")
	case definitions[name] == nil:
		s.row(at, "has no such definition")
	}
}

func isObject(schema map[string]any) bool {
	list, _ := schema["type"].([]any)
	return schema["type"] == "object" || slices.Contains(list, any("object")) || schema["properties"] != nil
}

func (s *strictness) object(schema map[string]any, at []string) {
	if schema["additionalProperties"] != false {
		s.row(append(slices.Clip(at), "additionalProperties"), "must be false")
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			s.row(append(slices.Clip(at), "required"), "must list "+segment(name)+`; a member that may be missing has the type ["…", "null"]`)
		}
	}
}
