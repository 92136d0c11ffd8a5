package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"unitask/internal/catalog/fastlane"
)

// compiled is a capability with its schemas compiled.
type compiled struct {
	Capability
	input, parameters, output *compiledSchema
	special                   []string // parameters whose values are strict schemas or tools
	tools                     []string // those of them that are tools
	conversations             []string // inputs that are conversations
}

// compiledSchema is a schema for both roads, and its document, which holds its annotations.
type compiledSchema struct {
	schema *jsonschema.Schema
	doc    any
	fast   *fastlane.Schema
	// inputs and parameters are the members of the capability's request, for hints.
	inputs, parameters []string
}

// compile compiles the declaration; its errors carry source and line.
func (d declaration) compile(definitions map[string]schema) (*compiled, error) {
	deadline, err := d.validate()
	if err != nil {
		return nil, d.wrap(d.Name.line, err)
	}
	e := &compiled{Capability: Capability{
		Name: d.Name.value, Extends: d.Extends.value, Title: d.Title, Description: d.Description, Modality: d.Modality,
		Mode: d.Mode, Example: d.Example.json, PersonInputs: d.PersonInputs, Deadline: deadline,
	}}
	for _, part := range []struct {
		name    string
		written schema
		served  *json.RawMessage
		target  **compiledSchema
	}{
		{"input", d.Input, &e.InputSchema, &e.input},
		{"parameters", d.Parameters, &e.ParametersSchema, &e.parameters},
		{"output", d.Output, &e.OutputSchema, &e.output},
	} {
		if part.written.line == 0 {
			return nil, d.wrap(d.Name.line, fmt.Errorf("%s: a schema is required", part.name))
		}
		if *part.served, err = inline(part.written.json, definitions); err == nil {
			*part.target, err = compileSchema(string(d.Name.value)+"/"+part.name, *part.served)
		}
		if err == nil {
			err = checkValues((*part.target).doc)
		}
		if err != nil {
			return nil, d.wrap(part.written.line, fmt.Errorf("%s: %w", part.name, err))
		}
	}
	if err := d.addSample(e); err != nil {
		return nil, err
	}
	return e, d.derive(e)
}

// addSample shows the declared sample in the output schema. Without one, it sees to it that the sandbox can make one.
func (d declaration) addSample(e *compiled) error {
	declared := d.Sample.line > 0
	switch builtIn := slices.Contains(builtIns(), e.Base()); {
	case builtIn && declared:
		return d.wrap(d.Sample.line, fmt.Errorf("sample: the sandbox does the work of %s itself; leave it out", e.Base()))
	case builtIn:
		return nil
	case declared:
		schema, err := withSample(e.OutputSchema, d.Sample.json)
		if err != nil {
			return d.wrap(d.Sample.line, fmt.Errorf("sample: %w; write a whole output that fits", err))
		}
		e.OutputSchema = schema
		return nil
	}
	shape, err := NewShape(e.OutputSchema)
	if err == nil && !shape.FitsUsual(e.Base(), "sample") {
		_, _, err = shape.Sample("", nil)
	}
	if err != nil {
		return d.wrap(d.Output.line, fmt.Errorf("output: no example of it can be made for test keys: %w; write a whole output under sample", err))
	}
	return nil
}

// derive sets the fields that follow from the schemas, and checks the parts against one another.
func (d declaration) derive(e *compiled) error {
	fields, err := FieldsOf(e.InputSchema, e.ParametersSchema)
	if err != nil {
		return d.wrap(d.Input.line, err)
	}
	e.MediaInputs = inputPatterns(fields, func(f Field) bool { return f.Media })
	e.MediaKinds = map[string]string{}
	for _, kind := range []string{"image", "audio", "video", "document", "file"} {
		for _, pattern := range inputPatterns(fields, func(f Field) bool { return f.MediaKind == kind }) {
			e.MediaKinds[pattern] = kind
		}
	}
	e.WordlessInputs = inputPatterns(fields, func(f Field) bool { return len(f.Enum) > 0 || f.Opaque })
	if e.OutputMedia, e.OutputText, err = outputKinds(e.OutputSchema); err != nil {
		return d.wrap(d.Output.line, err)
	}
	if output, ok := e.output.doc.(map[string]any); ok && output["additionalProperties"] == false {
		properties, _ := output["properties"].(map[string]any)
		_, has := properties["finish_reason"]
		e.NoFinishReason = !has
	}
	e.Defaults, e.Maxima = map[string]json.RawMessage{}, map[string]float64{}
	for _, f := range fields {
		if f.Maximum != nil && !f.Array {
			e.Maxima[f.Name] = *f.Maximum
		}
		if f.Group == GroupParameters && len(f.Default) > 0 {
			e.Defaults[f.Name] = f.Default
		}
	}
	e.setMembers(fields)
	e.conversations, e.tools = e.input.annotated(conversationAnnotation), e.parameters.annotated(toolsAnnotation)
	e.special = slices.Concat(e.parameters.annotated(schemaAnnotation), e.tools)
	if len(e.Defaults) > 0 {
		if e.Filled, err = json.Marshal(e.Defaults); err != nil {
			return d.wrap(d.Parameters.line, err)
		}
	}
	for _, person := range e.PersonInputs {
		if !slices.Contains(e.input.inputs, person) || !slices.Contains(e.input.inputs, Authorization) {
			return d.wrap(d.Input.line, fmt.Errorf("person input %q: the input needs that member and %q", person, Authorization))
		}
	}
	return d.checkExample(e)
}

// setMembers gives the schemas of a request the names of its members.
func (e *compiled) setMembers(fields []Field) {
	for _, f := range fields {
		if f.Group == GroupInput {
			e.input.inputs = append(e.input.inputs, f.Name)
		} else {
			e.input.parameters = append(e.input.parameters, f.Name)
		}
	}
	e.parameters.inputs, e.parameters.parameters = e.input.inputs, e.input.parameters
}

func (d declaration) checkExample(e *compiled) error {
	if d.Example.line == 0 {
		return d.wrap(d.Name.line, fmt.Errorf("example: a full request body is required"))
	}
	r, f := Decode(e.Example, Limits{})
	if f == nil && r.Capability != e.Name {
		return d.wrap(d.Example.line, fmt.Errorf("example: its capability must be %q", e.Name))
	}
	if f == nil {
		f = e.validate(r)
	}
	if f == nil {
		f = e.CheckAuthorization(r.Input)
	}
	switch {
	case f != nil && d.borrowed:
		return d.wrap(d.Example.line, fmt.Errorf("the example of %s doesn't fit: %w; write an example", e.Extends, f))
	case f != nil:
		return d.wrap(d.Example.line, fmt.Errorf("example: %w", f))
	}
	return d.checkDefaults(e, r)
}

// checkDefaults refuses a parameter's default that the schema doesn't take: each request without it would break it.
func (d declaration) checkDefaults(e *compiled, r Request) error {
	for _, name := range slices.Sorted(maps.Keys(e.Defaults)) {
		given := map[string]json.RawMessage{}
		err := json.Unmarshal(r.Parameters, &given)
		given[name] = e.Defaults[name]
		one := r
		if err == nil {
			one.Parameters, err = json.Marshal(given)
		}
		if err != nil {
			return d.wrap(d.Parameters.line, err)
		}
		if f := e.validate(one); f != nil {
			return d.wrap(d.Parameters.line, fmt.Errorf("parameters: the default of %s doesn't fit: %w; write another default", name, f))
		}
	}
	return nil
}

func (d declaration) wrap(line int, err error) error {
	return fmt.Errorf("%s: line %d: %s: %w", d.source, line, d.Name.value, err)
}
