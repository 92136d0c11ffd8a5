package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/catalog/sample"
)

// Shape is a schema of an output for which values are made, by the sandbox and to see that it can. It is immutable and
// safe for concurrent use.
type Shape struct {
	compiled *compiledSchema
	doc      map[string]any
}

// NewShape compiles an output schema as the directory shows it, or one that a caller gave for an answer.
func NewShape(schema json.RawMessage) (*Shape, error) {
	compiled, err := compileSchema("shape", schema)
	if err != nil {
		return nil, err
	}
	doc, err := document(schema)
	return &Shape{compiled, doc}, err
}

// Sample returns an output that fits: the schema's first example, else one that is made of its keywords. Strings that
// the schema leaves free are the given texts, and all else that is left to choose follows from the source. The i-th of
// its files stands in it as {"artifact":i}.
func (s *Shape) Sample(source string, texts []string) (output json.RawMessage, files int, err error) {
	if examples, _ := s.doc["examples"].([]any); len(examples) > 0 && s.fits(examples[0]) == nil {
		return written(examples[0])
	}
	for _, o := range []sample.Options{{}, {Sparse: true}, {Branch: 1}, {Branch: 1, Sparse: true}} {
		o.Source, o.Texts = source, texts
		v, problem := sample.Value(s.doc, o)
		if problem == nil {
			problem = s.fits(v)
		}
		if problem == nil {
			return written(v)
		}
		if err == nil {
			err = problem
		}
	}
	return nil, 0, err
}

// written is an output with places for its files.
func written(v any) (json.RawMessage, int, error) {
	v, files := sample.Places(v)
	raw, err := json.Marshal(v)
	return raw, files, err
}

// fits returns why a value isn't valid; nil if it is.
func (s *Shape) fits(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	rows, err := s.compiled.generalViolations("output", raw)
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%s %s", rows[0].Field, rows[0].Message)
	}
	return err
}

// FitsUsual reports whether the usual result of a capability's family is such an output: files, or this text. It isn't
// if the schema lists other members than the result's, or has an example.
func (s *Shape) FitsUsual(name Name, text string) bool {
	family, _, _ := strings.Cut(string(name), ".")
	file := sample.Artifact(0)
	kind, output := "text", map[string]any{"text": text, "finish_reason": "stop"}
	switch family {
	case "image":
		kind, output = "images", map[string]any{"images": []any{file}}
	case "video":
		kind, output = "videos", map[string]any{"videos": []any{file}}
	case "audio":
		kind, output = "audio", map[string]any{"audio": file}
	}
	members, lists := s.doc["properties"].(map[string]any)
	if _, has := members[kind]; lists && !has || s.doc["examples"] != nil {
		return false
	}
	if s.fits(output) == nil {
		return true
	}
	_, reasoned := output["finish_reason"]
	delete(output, "finish_reason")
	return reasoned && s.fits(output) == nil
}

// withSample returns an output schema with the declared sample among its examples. A place {artifact: 0} of the sample
// becomes the description of a file.
func withSample(schema, declared json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := jsonv2.Unmarshal(declared, &v); err != nil {
		return nil, err
	}
	v = sample.Described(v)
	s, err := NewShape(schema)
	if err != nil {
		return nil, err
	}
	if err := s.fits(v); err != nil {
		return nil, err
	}
	examples, err := json.Marshal(map[string]any{"examples": []any{v}})
	if err != nil {
		return nil, err
	}
	return patched(schema, examples), nil
}
