package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"unitask/internal/catalog/fastlane"
	"unitask/internal/jsonread"
)

const definitionPrefix = "#/$defs/"

// inline copies into a schema the shared definitions it refers to, those they refer to included.
func inline(written json.RawMessage, shared map[string]schema) (json.RawMessage, error) {
	doc, err := document(written)
	if err != nil {
		return nil, err
	}
	own, _ := doc["$defs"].(map[string]any)
	missing := map[string]json.RawMessage{}
	queue := references(doc, nil)
	for len(queue) > 0 {
		ref := queue[0]
		queue = queue[1:]
		name, local := strings.CutPrefix(ref, definitionPrefix)
		if !local || strings.Contains(name, "/") {
			return nil, fmt.Errorf("$ref %q must have the form %sNAME", ref, definitionPrefix)
		}
		if own[name] != nil || missing[name] != nil {
			continue
		}
		definition, ok := shared[name]
		if !ok {
			return nil, fmt.Errorf("$ref %q: there is no such definition", ref)
		}
		missing[name] = definition.json
		inner, err := document(definition.json)
		if err != nil {
			return nil, err
		}
		queue = references(inner, queue)
	}
	return withDefinitions(written, own, missing)
}

// withDefinitions appends $defs to the schema's text, so that its members keep their order.
func withDefinitions(written json.RawMessage, own map[string]any, missing map[string]json.RawMessage) (json.RawMessage, error) {
	if len(missing) == 0 {
		return written, nil
	}
	if own != nil {
		return nil, errors.New("a schema with $defs of its own can't use shared definitions as well")
	}
	var b strings.Builder
	b.Write(written[:len(written)-1])
	if len(written) > len("{}") {
		b.WriteByte(',')
	}
	b.WriteString(`"$defs":{`)
	for i, name := range slices.Sorted(maps.Keys(missing)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, missing[name])
	}
	b.WriteString("}}")
	return json.RawMessage(b.String()), nil
}

func document(raw json.RawMessage) (map[string]any, error) {
	var v any
	if err := jsonv2.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a schema must be an object")
	}
	return doc, nil
}

func references(v any, refs []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if ref, ok := v[key].(string); ok && key == "$ref" {
				refs = append(refs, ref)
				continue
			}
			refs = references(v[key], refs)
		}
	case []any:
		for _, item := range v {
			refs = references(item, refs)
		}
	}
	return refs
}

// compileSchema compiles a self-contained schema. Formats and base64 are checked, not just noted.
func compileSchema(id string, raw json.RawMessage) (*compiledSchema, error) {
	doc, err := document(raw)
	if err != nil {
		return nil, err
	}
	if doc["type"] != "object" {
		return nil, errors.New("the schema's type must be object")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.AssertContent()
	c.RegisterContentEncoding(&jsonschema.Decoder{Name: "base64", Decode: checkBase64})
	c.UseRegexpEngine(compilePattern)
	c.UseLoader(noLoader{})
	url := "catalog://" + id
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, schemaProblem(err)
	}
	return &compiledSchema{schema: schema, doc: doc, fast: fastlane.Compile(schema)}, nil
}

// checkValues returns an error for a member of a schema that has no value, which YAML makes of the second half of a text
// with a comma within braces. JSON Schema would take it for a keyword that it doesn't know.
func checkValues(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch value := v[name]; {
			case name == "const", name == "default", name == "enum", name == "examples":
			case value == nil:
				return fmt.Errorf("%q has no value; a text with a comma takes quotes", name)
			default:
				if err := checkValues(value); err != nil {
					return err
				}
			}
		}
	case []any:
		for _, item := range v {
			if err := checkValues(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// annotated returns the properties of an object whose schemas have the annotation.
func (s *compiledSchema) annotated(annotation string) (names []string) {
	doc, _ := s.doc.(map[string]any)
	properties, _ := doc["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if property, _ := properties[name].(map[string]any); property[annotation] != nil {
			names = append(names, name)
		}
	}
	return names
}

// schemaProblem makes one line of the validator's tree about an invalid schema.
func schemaProblem(err error) error {
	invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err)
	if !ok {
		return err
	}
	tree, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err)
	if !ok {
		return err
	}
	leaf := deepest(tree)
	return fmt.Errorf("not a JSON Schema: %s %s", fieldPath(leaf.InstanceLocation...), phrase(leaf.ErrorKind))
}

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema must be self-contained", url)
}

// checkBase64 accepts padded standard base64 without line breaks. It doesn't decode: inputs are
// large, and the bytes' consumer decodes them once.
func checkBase64(s string) ([]byte, error) {
	if !jsonread.IsBase64(s) {
		return nil, errors.New("not base64")
	}
	return nil, nil
}

// notBlank is the pattern of a text with a character other than white space.
const notBlank = `\S`

// compilePattern compiles a schema's regular expression in Go's syntax. White space in notBlank is
// Unicode's, as in the ECMAScript syntax of JSON Schema.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if pattern == notBlank {
		return notBlankPattern{}, nil
	}
	return regexp.Compile(pattern)
}

type notBlankPattern struct{}

func (notBlankPattern) String() string { return notBlank }

func (p notBlankPattern) MatchString(s string) bool { return p.Match([]byte(s)) }

// Match and MatchPart are for the fast lane.
func (notBlankPattern) Match(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && r != '\ufeff' })
}

func (p notBlankPattern) MatchPart(part []byte) bool { return p.Match(part) }
