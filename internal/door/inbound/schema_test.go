package inbound_test

import (
	"strings"
	"testing"

	"unitask/internal/door/inbound"
)

// TestSchema has schemas of draft 7 become those of the service's dialect, and leaves others alone.
func TestSchema(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	deep := strings.Repeat(`{"items":`, 5000) + `{` + draft7 + `}` + strings.Repeat(`}`, 5000)
	for _, tt := range []struct{ name, schema, want string }{
		{"its name alone", `{` + draft7 + `,"type":"object","properties":{}}`, `{"type":"object","properties":{}}`},
		{"without a fragment, at the end", `{"type":"object","$schema":"http://json-schema.org/draft-07/schema"}`, `{"type":"object"}`},
		{
			"definitions",
			`{` + draft7 + `,"properties":{"definitions":{"$ref":"#/definitions/a"},"$ref":{"items":{"anyOf":[{"$ref":"#/definitions/a"},{"$ref":"#"}]}}},
				"definitions":{"a":{"const":"#/definitions/a"},"b\"":{"$ref":"#/definitions/a"}}}`,
			`{"properties":{"definitions":{"$ref":"#/$defs/a"},"$ref":{"items":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#"}]}}},` +
				`"$defs":{"a":{"const":"#/definitions/a"},"b\"":{"$ref":"#/$defs/a"}}}`,
		},
		{
			"of wrong kinds", `{` + draft7 + `,"properties":[],"definitions":1,"anyOf":{},"items":[],"$ref":{},"a\"":"é"}`,
			`{"properties":[],"$defs":1,"anyOf":{},"items":[],"$ref":{},"a\"":"é"}`,
		},
		{"of both dialects", `{` + draft7 + `,"definitions":{},"\u0024defs":{}}`, `{"definitions":{},"$defs":{}}`},
		{"another dialect", `{"$schema":"http://json-schema.org/draft-04/schema#","definitions":{}}`, ""},
		{"the service's", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{}}`, ""},
		{"no object", `["http://json-schema.org/draft-07/schema"]`, ""},
		{"too deep", deep, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.schema
			}
			if got := string(inbound.Schema([]byte(tt.schema))); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
