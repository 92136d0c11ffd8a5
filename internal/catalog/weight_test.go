package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"unitask/internal/catalog"
)

// TestExcessiveSchemas: schemas that a validator would be busy with are refused, as tools' and as answers'; those that
// refer to themselves once for each part of a value aren't.
func TestExcessiveSchemas(t *testing.T) {
	var defs []string
	for i := range 30 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[%s,%s]}`, i, next, next))
	}
	defs = append(defs, `"d30":{"type":"null"}`)
	strict := func(members, defs string) string {
		return `{"type":"object","properties":{"b":` + members + `},"required":["b"],"additionalProperties":false,"$defs":{` + defs + `}}`
	}
	node := `"n":{"type":"object","properties":{"left":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]},"right":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]},` +
		`"all":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["left","right","all"],"additionalProperties":false}`
	twice := `"n":{"anyOf":[{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"additionalProperties":false},` +
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"additionalProperties":false}]}`
	for _, tt := range []struct{ name, schema, want string }{
		{"a tree", strict(`{"$ref":"#/$defs/n"}`, node), ""},
		{"itself", strict(`{"anyOf":[{"$ref":"#"},{"type":"null"}]}`, `"x":{"type":"null"}`), ""},
		{"a pattern", strict(`{"type":"string","pattern":"^[a-z]{1,64}$"}`, ""), ""},
		{"a web of references", strict(`{"$ref":"#/$defs/d0"}`, strings.Join(defs, ",")), "grows to more than 5000 schemas when its references are followed"},
		{"two of itself", strict(`{"$ref":"#/$defs/n"}`, twice), "refers to itself twice for the same part of a value"},
		{"long patterns", strict(`{"type":"string","pattern":"`+strings.Repeat("(a{900})", 600)+`"}`, ""), "must have at most 4096 bytes of patterns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for field, parameters := range map[string]string{
				"output_schema":      `"output_schema":` + tt.schema,
				"tools.0.parameters": `"tools":[{"name":"a","parameters":` + tt.schema + `}]`,
			} {
				r := mustDecode(t, `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{`+parameters+`}}`)
				f := mustDefault(t).Validate(r)
				switch {
				case tt.want == "" && f != nil:
					t.Errorf("%s: %v", field, f)
				case tt.want != "" && (f == nil || f.Details[0].Field != "parameters."+field || f.Details[0].Message != tt.want):
					t.Errorf("%s: %v, want %s", field, f, tt.want)
				}
			}
		})
	}
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"$anchor":"x"},"b":{"$ref":"#x"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/%24defs/x"}},"$defs":{"x":{}}}`,
		`{"type":"object","properties":{"a":{"$id":"x","$ref":"#/$defs/y","$defs":{"y":{}}}},"$defs":{"y":{}}}`,
	} {
		r := mustDecode(t, `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"tools":[{"name":"a","parameters":`+schema+`}]}}`)
		if mustDefault(t).Validate(r) == nil {
			t.Errorf("%s is taken, and can't be followed", schema)
		}
	}
	r := mustDecode(t, `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"tools":[{"name":"a","parameters":`+
		`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://a.example/x","type":"object","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"string"}}}}]}}`)
	if f := mustDefault(t).Validate(r); f != nil {
		t.Errorf("a schema as generators write it: %v", f)
	}
	deep := strings.Repeat(`{"left":null,"right":null,"all":[`, 40) + strings.Repeat(`]}`, 40)
	tools := catalog.ToolsOf([]byte(`{"tools":[{"name":"a","parameters":` + strict(`{"$ref":"#/$defs/n"}`, node) + `}]}`))
	if _, fits := catalog.Arguments(tools, "a", `{"b":`+deep+`}`); !fits {
		t.Error("a deep value of a tree doesn't fit")
	}
}
