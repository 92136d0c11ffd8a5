package catalog

import (
	"encoding/json"
	"errors"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"unitask/internal/fault"
	"unitask/internal/jsonread"
)

// Validate checks a decoded request against its capability's schemas. The error is INVALID_REQUEST
// with one row per violation (at most 20), sorted by field; for an unknown capability the one row's
// field is "capability".
func (c *Catalog) Validate(r Request) *fault.Error {
	e, ok := c.byName[r.Capability]
	if !ok {
		return fault.Invalid("capability", "is not a known capability")
	}
	return e.validate(r)
}

func (e *compiled) validate(r Request) *fault.Error {
	parameters := r.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage("{}")
	}
	rows, err := e.input.violations(GroupInput, r.Input, r.Base64)
	if err != nil {
		return fault.From(err)
	}
	more, err := e.parameters.violations(GroupParameters, parameters, nil)
	if err != nil {
		return fault.From(err)
	}
	if rows = append(rows, more...); len(rows) == 0 {
		rows = append(e.conversationRows(r), e.parameterRows(parameters)...)
	}
	if len(rows) > 0 {
		return invalidRows(rows[:min(len(rows), maxRows)])
	}
	return nil
}

// parameterRows returns the rows of parameters that are schemas or tools, in a request that is valid otherwise.
func (e *compiled) parameterRows(parameters json.RawMessage) (rows []fault.Detail) {
	if len(e.special) == 0 || len(parameters) <= len("{}") {
		return nil
	}
	in := jsonread.New(parameters)
	for m := in.Among(e.special...); m.Next(); {
		value := in.Value()
		if slices.Contains(e.tools, m.Name) {
			rows = append(rows, toolRows(m.Name, parameters)...)
		} else {
			rows = append(rows, schemaRows(m.Name, value)...)
		}
	}
	return rows
}

// ValidateOutput checks a task's output against the capability's output schema.
func (c *Catalog) ValidateOutput(name Name, output json.RawMessage) error {
	e, ok := c.byName[name]
	if !ok {
		return fault.Invalid("capability", "is not a known capability")
	}
	rows, err := e.output.violations("output", output, nil)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return invalidRows(rows)
	}
	return nil
}

// violations returns the rows of one value, sorted; their fields begin with prefix. base64 are Request.Base64.
func (s *compiledSchema) violations(prefix string, raw json.RawMessage, base64 [][]byte) ([]fault.Detail, error) {
	if s.fast.Accepts(raw, base64) {
		return nil, nil
	}
	return s.generalViolations(prefix, raw)
}

// generalViolations is violations without the fast lane.
func (s *compiledSchema) generalViolations(prefix string, raw json.RawMessage) ([]fault.Detail, error) {
	var v any
	if err := jsonv2.Unmarshal(raw, &v); err != nil {
		return nil, errors.New(prefix + ": not decoded JSON")
	}
	err := s.schema.Validate(v)
	if err == nil {
		return nil, nil
	}
	violation, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, err
	}
	rep := report{doc: s.doc, prefix: prefix, inputs: s.inputs, parameters: s.parameters}
	rep.add(violation)
	return rep.rows(), nil
}
