package mcp_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/mcp"
)

// TestToolSchemaTakesExamples compiles the schema of every capability's tool, by another validator's
// rules than the service's own, and tries the capability's example on it.
func TestToolSchemaTakesExamples(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range directory.All() {
		schema := compiled(t, c.InputSchema, c.ParametersSchema)
		example, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Example))
		if err != nil {
			t.Fatal(err)
		}
		arguments := example.(map[string]any)
		delete(arguments, "capability")
		if err := schema.Validate(arguments); err != nil {
			t.Errorf("%s: its example: %v", c.Name, err)
		}
		arguments["other"] = 1
		if err := schema.Validate(arguments); err == nil {
			t.Errorf("%s: an unknown member fits", c.Name)
		}
		delete(arguments, "other")
		arguments["input"] = map[string]any{}
		if err := schema.Validate(arguments); err == nil {
			t.Errorf("%s: an empty input fits", c.Name)
		}
	}
}

func compiled(t *testing.T, input, parameters json.RawMessage) *jsonschema.Schema {
	t.Helper()
	raw, err := mcp.ToolSchema(input, parameters)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), `"x-`) {
		t.Errorf("annotations are left: %s", raw)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return s
}

func TestToolSchema(t *testing.T) {
	const rest = `"idempotency_key":{"type":"string","minLength":8,"maxLength":128,"description":` +
		`"Leave it out, but where an earlier call asked for it: the same key and arguments give the same task."}}`
	tests := []struct{ name, input, parameters, want string }{
		{
			"no definitions, parameters that are required",
			`{"type":"object","required":["b"]}`, `{"type":"object","required":["a"]}`,
			`{"type":"object","properties":{"input":{"type":"object","required":["b"]},"parameters":{"type":"object","required":["a"]},` + rest +
				`,"required":["input","parameters"],"additionalProperties":false}`,
		},
		{
			"a shared definition, in the order of writing",
			`{"type":"object","properties":{"z":{"$ref":"#/$defs/d"},"a":{"x-error":"no","enum":["x-"]}},"$defs":{"d":{"minimum":1,"x-media":"image"}}}`,
			`{"type":"object","properties":{"x-own":{"$ref":"#/$defs/d"}},"$defs":{"d":{"x-media":"image","minimum":1}}}`,
			`{"type":"object","properties":{"input":{"type":"object","properties":{"z":{"$ref":"#/$defs/d"},"a":{"enum":["x-"]}}},` +
				`"parameters":{"type":"object","properties":{"x-own":{"$ref":"#/$defs/d"}}},` + rest +
				`,"required":["input"],"additionalProperties":false,"$defs":{"d":{"minimum":1}}}`,
		},
		{
			"two definitions of one name",
			`{"type":"object","allOf":[{"$ref":"#/$defs/d"}],"$defs":{"d":{"minimum":1}}}`,
			`{"type":"object","allOf":[{"$ref":"#/$defs/d"}],"$defs":{"d":{"minimum":2}}}`,
			`{"type":"object","properties":{"input":{"type":"object","allOf":[{"$ref":"#/$defs/d"}]},` +
				`"parameters":{"type":"object","allOf":[{"$ref":"#/$defs/parameters_d"}]},` + rest +
				`,"required":["input"],"additionalProperties":false,"$defs":{"d":{"minimum":1},"parameters_d":{"minimum":2}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mcp.ToolSchema(json.RawMessage(tt.input), json.RawMessage(tt.parameters))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
		})
	}
	for _, wrong := range []string{``, `[]`, `{`, `{"a":1,"a":2}`, `{} {}`, `{"$defs":[]}`} {
		if _, err := mcp.ToolSchema(json.RawMessage(wrong), json.RawMessage(`{}`)); err == nil {
			t.Errorf("schema %q is taken", wrong)
		}
	}
}

// TestToolNames has no two tools of one name, whatever capabilities are called.
func TestToolNames(t *testing.T) {
	var all []api.Capability
	for _, name := range []catalog.Name{"a.b_c", "a_b.c", "a_b_c.d", "task.get", "text.chat"} {
		all = append(all, api.Capability{Name: name})
	}
	want := []string{"a_b_c", "a_b-c", "a_b_c_d", "task-get", "text_chat"}
	if diff := cmp.Diff(want, mcp.ToolNames(all)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
