package catalog

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/jsonread"
)

// WithExamples returns the capability with examples of a parameter in its schema, of which the service itself takes no
// notice; unchanged if it has no such parameter.
func (c Capability) WithExamples(parameter string, examples []string) Capability {
	properties, _ := membersOf(memberNamed(c.ParametersSchema, "properties"))
	if !slices.ContainsFunc(properties, func(m member) bool { return m.name == parameter }) {
		return c
	}
	patch, err := json.Marshal(map[string]any{"properties": map[string]any{parameter: map[string]any{"examples": examples}}})
	if err != nil {
		return c
	}
	c.ParametersSchema = patched(c.ParametersSchema, patch)
	return c
}

// memberNamed returns the value of an object's member; nil without one.
func memberNamed(object json.RawMessage, name string) json.RawMessage {
	all, _ := membersOf(object)
	for _, m := range all {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// patched returns JSON with a merge patch (RFC 7396) applied: objects are merged, null removes a member, and any other
// value replaces the former one. Members keep their order, new ones follow.
func patched(base, patch json.RawMessage) json.RawMessage {
	changes, object := membersOf(patch)
	if !object {
		return patch
	}
	all, _ := membersOf(base)
	for _, c := range changes {
		at := slices.IndexFunc(all, func(m member) bool { return m.name == c.name })
		switch {
		case string(c.value) == "null":
			all = slices.DeleteFunc(all, func(m member) bool { return m.name == c.name })
		case at < 0:
			all = append(all, member{c.name, patched(nil, c.value)})
		default:
			all[at].value = patched(all[at].value, c.value)
		}
	}
	out := json.RawMessage{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.name) // fails for invalid UTF-8 alone, which JSON from YAML doesn't have
		out = append(append(out, ':'), m.value...)
	}
	return append(out, '}')
}

type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns an object's members in their order; object is false for any other value.
func membersOf(raw json.RawMessage) (all []member, object bool) {
	in := jsonread.New(raw)
	if in.Peek() != '{' {
		return nil, false
	}
	for in.Open('{'); in.More('}'); {
		name := string(in.Name())
		all = append(all, member{name, in.Value()})
	}
	return all, true
}
