package openapicheck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// carried are the headers that belong to no operation: those of HTTP itself, and those that carry the key.
var carried = []string{
	"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "user-agent", "x-api-key", "x-goog-api-key",
}

// Sent is a request as the document knows it.
type Sent struct {
	Operation string
	// Members are the members of its body, sorted: "query alt", "header prefer", and members of the body such as
	// "messages[].role".
	Members []string
}

// Request holds a request with its body against the operation that its method and path name. The error names the
// unlisted and the missing members.
func (d *Document) Request(r *http.Request, body []byte) (Sent, error) {
	o := d.find(r.Method, r.URL.EscapedPath())
	if o == nil {
		return Sent{}, fmt.Errorf("%s %s: the document has no such operation", r.Method, r.URL.Path)
	}
	said := map[string]bool{}
	problems := o.steered(r, said, list(object(d.raw["info"])[commonParameters]))
	problems = append(problems, o.body(r.Header.Get("Content-Type"), body, said))
	sent := Sent{Operation: o.name, Members: slices.Sorted(maps.Keys(said))}
	if err := errors.Join(problems...); err != nil {
		return sent, fmt.Errorf("%s: %w", o.name, err)
	}
	return sent, nil
}

func (d *Document) find(method, path string) *operation {
	for _, o := range d.operations {
		if o.method == method && o.path.MatchString(path) {
			return o
		}
	}
	return nil
}

// steered checks the query and the headers. common are parameters of all operations.
func (o *operation) steered(r *http.Request, said map[string]bool, common []any) []error {
	given := map[string]string{}
	for name, values := range r.URL.Query() {
		given["query "+name] = strings.Join(values, ",")
	}
	for name, values := range r.Header {
		if name = strings.ToLower(name); !slices.Contains(carried, name) {
			given["header "+name] = strings.Join(values, ",")
		}
	}
	var problems []error
	for name, value := range given {
		said[name] = true
		p, known := o.parameters[name]
		switch {
		case known:
			problems = append(problems, p.check(name, p.scalar(value)))
		case !slices.Contains(common, any(name)):
			problems = append(problems, fmt.Errorf("%s: the operation has no such parameter", name))
		}
	}
	for _, name := range o.required {
		if _, ok := given[name]; !ok {
			problems = append(problems, fmt.Errorf("%s is required", name))
		}
	}
	return problems
}

func (o *operation) body(contentType string, body []byte, said map[string]bool) error {
	if o.bodies == nil {
		if len(body) > 0 {
			return errors.New("the operation takes no body")
		}
		return nil
	}
	kind, params, err := mime.ParseMediaType(contentType)
	p, known := o.bodies[kind]
	if err != nil || !known {
		return fmt.Errorf("the operation takes no body of type %q", contentType)
	}
	var value any
	if kind == jsonType {
		value, err = jsonschema.UnmarshalJSON(bytes.NewReader(body))
	} else {
		value, err = p.form(body, params["boundary"])
	}
	if err != nil {
		return fmt.Errorf("the body is unreadable: %w", err)
	}
	note(said, "", value)
	return p.check("the body", value)
}

// note gathers the members of a value, those of its elements under one name.
func note(said map[string]bool, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			note(said, strings.TrimPrefix(at+"."+name, "."), member)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for _, element := range v {
			note(said, at+"[]", element)
		}
		if len(v) > 0 {
			return
		}
	}
	said[at] = true
}

// form reads a form as the object that its schema describes: a file as a string, a part called "name[]" as an element
// of the member name, if the schema has no other.
func (p *location) form(body []byte, boundary string) (any, error) {
	value, members := map[string]any{}, object(object(p.described())["properties"])
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return value, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		name := part.FormName()
		plain, several := strings.CutSuffix(name, "[]")
		if _, own := members[name]; own || !several {
			plain, several = name, false
		}
		member := location{raw: members[plain], defs: p.defs}
		var v any = "bytes"
		if part.FileName() == "" {
			v = member.scalar(string(text))
		}
		before, again := value[plain]
		switch {
		case several:
			value[plain] = append(list(before), v)
		case again:
			return nil, fmt.Errorf("%s is there twice", plain)
		default:
			value[plain] = v
		}
	}
}

// scalar returns the value that a text stands for: a number or a boolean if the schema has such and no text.
func (p *location) scalar(text string) any {
	types := p.types(p.raw, nil)
	if slices.Contains(types, "string") {
		return text
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return text
	}
	return v
}

// types returns the types that a schema allows, in any of its parts.
func (p *location) types(v any, seen []string) []string {
	schema := object(v)
	var types []string
	switch t := schema["type"].(type) {
	case string:
		types = append(types, t)
	case []any:
		for _, each := range t {
			types = append(types, fmt.Sprint(each))
		}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range list(schema[word]) {
			types = append(types, p.types(part, seen)...)
		}
	}
	if ref, ok := schema["$ref"].(string); ok && !slices.Contains(seen, ref) {
		types = append(types, p.types(p.defs[strings.TrimPrefix(ref, schemaPrefix)], append(seen, ref))...)
	}
	return types
}

// described returns the schema, looked through a reference.
func (p *location) described() any {
	if ref, ok := object(p.raw)["$ref"].(string); ok {
		return p.defs[strings.TrimPrefix(ref, schemaPrefix)]
	}
	return p.raw
}
