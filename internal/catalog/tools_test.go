package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

// TestTools reports what is wrong with tools at its own path.
func TestTools(t *testing.T) {
	tool := func(name, schema string) string { return `{"name":"` + name + `","parameters":` + schema + `}` }
	const open = `{"type":"object","properties":{"a":{"type":["string","number"],"oneOf":[{"minLength":1},{"minimum":1}]},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{}}}`
	deep := `{"type":"object","default":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`
	at := func(field, problem string) []fault.Detail {
		return []fault.Detail{{Field: "parameters." + field, Message: problem}}
	}
	const named = "must be at most 64 letters, digits, _ and -, the first a letter or _"
	for _, tt := range []struct {
		name, parameters string
		want             []fault.Detail
	}{
		{"one", `"tools":[{"name":"now"}]`, nil},
		{"several, and a choice", `"tools":[{"name":"now","description":"a"},` + tool("f-2", open) + `],"tool_choice":"f-2","parallel_tool_calls":false`, nil},
		{"none is to be called", `"tools":[{"name":"now"}],"tool_choice":"none"`, nil},
		{"the thinking", `"reasoning":"high","web_search":true`, nil},

		{"a strict one", `"tools":[{"name":"now","strict":true},{"name":"put","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}]`, nil},
		{"a loose schema", `"tools":[` + tool("a", `{"type":"object"}`) + `]`, nil},
		{"a strict tool's loose schema", `"tools":[{"name":"a","strict":true,"parameters":{"type":"object"}}]`, at("tools.0.parameters.additionalProperties", "must be false")},

		{"an empty list", `"tools":[]`, at("tools", "must not be empty")},
		{"an empty name", `"tools":[{"name":""}]`, at("tools.0.name", named)},
		{"a name with a dot", `"tools":[{"name":"a.b"}]`, at("tools.0.name", named)},
		{"a name twice", `"tools":[{"name":"a"},{"name":"b"},{"name":"a"}]`, at("tools.2.name", "is the name of another tool")},
		{"a name with another meaning", `"tools":[{"name":"required"}]`, at("tools.0.name", "can't be required, which tool_choice has another meaning for")},
		{"an unknown choice", `"tools":[{"name":"a"}],"tool_choice":"b"`, at("tool_choice", "must be auto, none, required or the name of a tool")},
		{"a choice of nothing", `"tool_choice":"auto"`, at("tools", "is required with tool_choice")},
		{"several of nothing", `"parallel_tool_calls":true`, at("tools", "is required with parallel_tool_calls")},
		{"arguments that are a list", `"tools":[` + tool("a", `{"type":"array"}`) + `]`, at("tools.0.parameters.type", `must be "object": arguments are an object`)},
		{"another document", `"tools":[` + tool("a", `{"type":"object","properties":{"b":{"items":{"$ref":"https://a.example"}}}}`) + `]`, at("tools.0.parameters.properties.b.items.$ref", "must be a place in this schema, which begins with #: no other schema is fetched")},
		{"a place that isn't there", `"tools":[` + tool("a", `{"type":"object","properties":{"b":{"$ref":"#/$defs/c"}}}`) + `]`, at("tools.0.parameters.properties.b.$ref", "has no such definition")},
		{"a schema that is none", `"tools":[` + tool("a", `{"type":"object","properties":{"b":{"type":"text"}}}`) + `]`, at("tools.0.parameters", "is no JSON Schema: not a JSON Schema: properties.b.type must be one of array, boolean, integer, null, number, object, string")},
		{"a deep schema", `"tools":[` + tool("a", deep) + `]`, nil},
		{"a schema that is too large", `"tools":[` + tool("a", `{"type":"object","title":"`+strings.Repeat("a", 64<<10)+`"}`) + `]`, at("tools.0.parameters", "must have at most 65536 bytes")},
		{"another effort", `"reasoning":"much"`, at("reasoning", "must be one of none, low, medium, high")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustDecode(t, `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{`+tt.parameters+`}}`)
			var got []fault.Detail
			if f := mustDefault(t).Validate(r); f != nil {
				got = f.Details
			}
			if tt.name == "a deep schema" {
				if len(got) != 1 || !strings.HasSuffix(got[0].Message, "is nested more than 20 deep") {
					t.Errorf("got %v", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.parameters, diff)
			}
		})
	}
}

// TestArguments reads calls as models write them: what doesn't fit is left as it is, and said to.
func TestArguments(t *testing.T) {
	tools := catalog.ToolsOf([]byte(`{"tools":[{"name":"now"},{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}]}`))
	for _, tt := range []struct {
		tool, text, want string
		fits             bool
	}{
		{"f", `{ "a" : 1, "b": [ 2 ] }`, `{"a":1,"b":[2]}`, true},
		{"now", ``, `{}`, true},
		{"now", `{}`, `{}`, true},
		{"now", `{"a":1}`, `{"a":1}`, false},
		{"f", ``, `{}`, false},
		{"f", `{"a":"1"}`, `{"a":"1"}`, false},
		{"g", `{"a":1}`, `{"a":1}`, false},
		{"f", `{"a":1`, `"{\"a\":1"`, false},
		{"f", `[1]`, `"[1]"`, false},
		{"f", `null`, `"null"`, false},
		{"f", `{"a":1,"a":2}`, `"{\"a\":1,\"a\":2}"`, false},
		{"f", `{"a":1e999}`, `"{\"a\":1e999}"`, false},
		{"f", "{\"\xaa\":0}", "\"{\\\"\ufffd\\\":0}\"", false},
		{"f", "\xff", "\"\ufffd\"", false},
	} {
		arguments, fits := catalog.Arguments(tools, tt.tool, tt.text)
		if string(arguments) != tt.want || fits != tt.fits {
			t.Errorf("%s of %s: %s, %t, want %s, %t", tt.tool, tt.text, arguments, fits, tt.want, tt.fits)
		}
	}
}

// FuzzArguments reads whatever a model writes: the result is JSON, and what fits is an object of the tool's schema.
func FuzzArguments(f *testing.F) {
	for _, text := range []string{``, `{}`, `{"a":1}`, ` { "a" : 1 } `, `{"a":1e400}`, `{"a":1,"a":2}`, `[1]`, "\xff", `{"a":`, `"\ud800"`} {
		f.Add(text)
	}
	tools := catalog.ToolsOf([]byte(`{"tools":[{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}}]}`))
	f.Fuzz(func(t *testing.T, text string) {
		arguments, fits := catalog.Arguments(tools, "f", text)
		if !json.Valid(arguments) || !utf8.Valid(arguments) {
			t.Fatalf("%q becomes %q", text, arguments)
		}
		var object map[string]json.Number
		if fits && json.Unmarshal(arguments, &object) != nil {
			t.Errorf("%s fits", arguments)
		}
	})
}

// FuzzTools validates parameters with whatever tools: without a panic, and each refusal is about them.
func FuzzTools(f *testing.F) {
	for _, tools := range []string{
		`[{"name":"a"}]`, `[{"name":"a"},{"name":"a"}]`, `[{"name":"a","parameters":{"type":"object","properties":{"b":{"$ref":"#"}}}}]`,
		`[{"name":"a","parameters":{"type":"object","$ref":"https://a.example"}}]`, `[{"parameters":1}]`, `{}`,
	} {
		f.Add(tools)
	}
	directory, err := catalog.Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, tools string) {
		r, refused := catalog.Decode([]byte(`{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"tools":`+tools+`}}`), catalog.Limits{})
		if refused != nil || len(r.Parameters) > 1<<16 {
			return
		}
		refused = directory.Validate(r)
		if refused == nil {
			for _, tool := range catalog.ToolsOf(r.Parameters) {
				catalog.Arguments([]catalog.Tool{tool}, tool.Name, `{"b":1}`)
			}
			return
		}
		for _, d := range refused.Details {
			if !strings.HasPrefix(d.Field, "parameters.") {
				t.Errorf("%s: %s %s", tools, d.Field, d.Message)
			}
		}
	})
}
