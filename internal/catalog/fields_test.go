package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
)

func TestFields(t *testing.T) {
	entry, _ := mustDefault(t).Get("text.chat")
	got := entry.Fields()
	for i := range got {
		got[i].Description = "" // the words are the data's
		for j := range got[i].Members {
			got[i].Members[j].Description = ""
			for k := range got[i].Members[j].Parts {
				got[i].Members[j].Parts[k].Description = ""
			}
			for k := range got[i].Members[j].Members {
				got[i].Members[j].Members[k].Description = ""
			}
		}
	}
	want := []catalog.Field{
		{Name: "prompt", Group: "input", Type: "string", Required: true, Unless: []string{"messages"}, Excludes: []string{"messages"}},
		{Name: "messages", Group: "input", Type: "object", Array: true, Excludes: []string{"prompt"}, Members: []catalog.Field{
			{Name: "role", Group: "input", Type: "string", Enum: []string{"user", "assistant", "system", "tool"}, Required: true},
			{Name: "content", Group: "input", Type: "string", Required: true, Unless: []string{"tool_calls"}, Parts: []catalog.Field{
				{Name: "type", Group: "input", Type: "string", Enum: []string{"text", "image", "audio", "document"}, Required: true},
				{Name: "text", Group: "input", Type: "string"},
				{Name: "image", Group: "input", Type: "object", Media: true, MediaKind: "image"},
				{Name: "audio", Group: "input", Type: "object", Media: true, MediaKind: "audio"},
				{Name: "document", Group: "input", Type: "object", Media: true, MediaKind: "document"},
			}},
			{Name: "tool_calls", Group: "input", Type: "object", Array: true, Returned: true, Members: []catalog.Field{
				{Name: "id", Group: "input", Type: "string", Required: true, Opaque: true},
				{Name: "name", Group: "input", Type: "string", Required: true},
				{Name: "arguments", Group: "input", Type: "string", Required: true},
				{Name: "invalid", Group: "input", Type: "boolean"},
			}},
			{Name: "tool_call_id", Group: "input", Type: "string", Opaque: true, Returned: true},
			{Name: "state", Group: "input", Type: "string", Opaque: true, Returned: true},
		}},
		{Name: "system", Group: "input", Type: "string"},
		{
			Name: "max_output_tokens", Group: "parameters", Type: "integer", Default: json.RawMessage("1024"),
			Minimum: new(1.0), Maximum: new(262144.0),
		},
		{Name: "temperature", Group: "parameters", Type: "number", Minimum: new(0.0), Maximum: new(2.0)},
		{Name: "top_p", Group: "parameters", Type: "number", Minimum: new(0.0), Maximum: new(1.0)},
		{Name: "stop", Group: "parameters", Type: "string", Array: true},
		{Name: "output_schema", Group: "parameters", Type: "object", Schema: true},
		{Name: "tools", Group: "parameters", Type: "object", Array: true, Members: []catalog.Field{
			{Name: "name", Group: "parameters", Type: "string", Required: true},
			{Name: "description", Group: "parameters", Type: "string"},
			{Name: "parameters", Group: "parameters", Type: "object", Schema: true},
			{Name: "strict", Group: "parameters", Type: "boolean"},
		}},
		{Name: "tool_choice", Group: "parameters", Type: "string"},
		{Name: "parallel_tool_calls", Group: "parameters", Type: "boolean"},
		{Name: "reasoning", Group: "parameters", Type: "string", Enum: []string{"none", "low", "medium", "high"}},
		{Name: "web_search", Group: "parameters", Type: "boolean"},
		{Name: "seed", Group: "parameters", Type: "integer", Minimum: new(0.0), Maximum: new(2147483647.0)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFieldsOf(t *testing.T) {
	input := `{
		"$defs": {"pic": {"$ref": "#/$defs/any", "x-media": "image"}, "any": {"type": "object", "description": "shared"}},
		"properties": {
			"z": {"$ref": "#/$defs/pic", "description": "own"},
			"a": {"type": "array", "items": {"$ref": "#/$defs/pic"}, "description": "list"},
			"count": {"enum": [4, 6], "type": ["null", "integer"], "default": 4},
			"any": true,
			"inner": {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"]},
			"b": {"type": "string"}, "c": {"type": "string"}
		},
		"required": ["a"],
		"anyOf": [{"required": ["z"]}, {"required": ["count"]}],
		"not": {"required": ["b", "c"]}
	}`
	want := []catalog.Field{
		{Name: "z", Group: "input", Type: "object", Media: true, MediaKind: "image", Description: "own", Required: true, Unless: []string{"count"}},
		{Name: "a", Group: "input", Type: "object", Media: true, MediaKind: "image", Array: true, Description: "list", Required: true},
		{Name: "count", Group: "input", Type: "integer", Enum: []string{"4", "6"}, Default: json.RawMessage("4")},
		{Name: "any", Group: "input"},
		{Name: "inner", Group: "input", Type: "object", Members: []catalog.Field{
			{Name: "deep", Group: "input", Type: "boolean", Required: true},
		}},
		{Name: "b", Group: "input", Type: "string", Excludes: []string{"c"}},
		{Name: "c", Group: "input", Type: "string", Excludes: []string{"b"}},
	}
	got, err := catalog.FieldsOf(json.RawMessage(input), json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFieldsOfRefuses(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{`, `input schema: jsontext: unexpected EOF`},
		{`{"properties":{"a":{"$ref":"#/$defs/b"}}}`, `input schema: $ref "#/$defs/b" leads nowhere`},
		{`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`, `input schema: $ref "#/$defs/a" leads nowhere`},
	} {
		_, err := catalog.FieldsOf(json.RawMessage(tt.input), json.RawMessage(`{}`))
		if err == nil {
			t.Errorf("%s: accepted", tt.input)
		}
	}
}

// TestFieldsOfRecursiveSchema shows that FieldsOf ends for an object that contains itself.
func TestFieldsOfRecursiveSchema(t *testing.T) {
	input := `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}}}`
	if _, err := catalog.FieldsOf(json.RawMessage(input), json.RawMessage(`{}`)); err != nil {
		t.Error(err)
	}
}
