package upstream_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/upstream"
)

// TestOutline writes schemas as suppliers take them: members as required lists them, bounds as words.
func TestOutline(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{"additionalProperties":false,"type":"object"}`, `{"type":"object","additionalProperties":false}`},
		{
			`{"additionalProperties":false,"properties":{"a\"b":{"const":"x"},"answer":{"maximum":9,"minimum":0.5,"type":"number"},` +
				`"why":{"description":"First.","maxLength":20,"pattern":"^\"","type":["string","null"]}},"required":["why","answer","a\"b"],"type":"object"}`,
			`{"type":"object","required":["why","answer","a\"b"],"additionalProperties":false,"properties":{` +
				`"why":{"type":["string","null"],"description":"First. (pattern \"^\\\"\", maxLength 20)"},` +
				`"answer":{"type":"number","description":"(minimum 0.5, maximum 9)"},"a\"b":{"enum":["x"]}}}`,
		},
		{
			`{"$defs":{"b":{"enum":[1,null],"title":"B"},"a":{"items":{"$ref":"#"},"minItems":1,"type":"array"}},"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}`,
			`{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{"a":{"type":"array","description":"(minItems 1)","items":{"$ref":"#"}},` +
				`"b":{"enum":[1,null],"title":"B"}}}`,
		},
	} {
		got, err := upstream.Outline(json.RawMessage(tt.schema))
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil || !json.Valid(got) {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if _, err := upstream.Outline(json.RawMessage(`{`)); err == nil {
		t.Error("what isn't JSON has no outline")
	}
}
