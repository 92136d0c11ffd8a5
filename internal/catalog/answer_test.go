package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":["integer","null"],"minimum":0}},` +
	`"required":["name","age"],"additionalProperties":false}`

// TestStrictSchema tells which schemas of callers are strict, and of the others where they aren't.
func TestStrictSchema(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":`, 10) + `{"type":"string"}` + strings.Repeat(`}}`, 10)
	for _, tt := range []struct {
		name, schema string
		want         []fault.Detail // fields below parameters.output_schema
	}{
		{"flat", person, nil},
		{"any object", `{ "type": "object" }`, nil},
		{
			"any object, said at length", `{"type":"object","additionalProperties":true}`,
			[]fault.Detail{{Field: ".additionalProperties", Message: "must be false"}},
		},
		{"no members", `{"type":"object","additionalProperties":false}`, nil},
		{"nested", `{"type":"object","required":["list"],"additionalProperties":false,"properties":{"list":{"type":"array","items":` + person + `}}}`, nil},
		{"itself", `{"type":"object","required":["next"],"additionalProperties":false,"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}`, nil},
		{"definitions", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["a"],"additionalProperties":false,` +
			`"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"enum":["x","y"],"description":"A letter."}}}`, nil},
		{"a list", `{"type":"array","items":{"type":"string"}}`, []fault.Detail{{Field: ".type", Message: `must be "object": an answer is an object`}}},
		{"nothing", `{}`, []fault.Detail{{Field: ".type", Message: `must be "object": an answer is an object`}}},
		{
			"open", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			[]fault.Detail{{Field: ".additionalProperties", Message: "must be false"}},
		},
		{
			"a member that may be missing", `{"type":"object","additionalProperties":false,"properties":{"a.b":{"type":"string"}}}`,
			[]fault.Detail{{Field: ".required", Message: `must list "a.b"; a member that may be missing has the type ["…", "null"]`}},
		},
		{
			"an inner one that is open", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"object"}}}`,
			[]fault.Detail{{Field: ".properties.a.additionalProperties", Message: "must be false"}},
		},
		{
			"another document", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"$ref":"https://a.example/s.json"}}}`,
			[]fault.Detail{{Field: ".properties.a.$ref", Message: "must be # or #/$defs/NAME: no other schema is fetched"}},
		},
		{
			"a file", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
			[]fault.Detail{{Field: ".properties.a.$ref", Message: "must be # or #/$defs/NAME: no other schema is fetched"}},
		},
		{
			"no definition", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/b"}}}`,
			[]fault.Detail{{Field: ".properties.a.$ref", Message: "has no such definition"}},
		},
		{
			"another dialect", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","additionalProperties":false}`,
			[]fault.Detail{{Field: ".$schema", Message: "must be https://json-schema.org/draft/2020-12/schema, or absent"}},
		},
		{
			"a keyword of no strict schema", `{"type":"object","additionalProperties":false,"patternProperties":{"^a":{}}}`,
			[]fault.Detail{{Field: ".patternProperties", Message: "can't be part of a strict schema"}},
		},
		{
			"a list of anything", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"array"}}}`,
			[]fault.Detail{{Field: ".properties.a.items", Message: "is required: it says what the array holds"}},
		},
		{
			"a schema that is none", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":true}}`,
			[]fault.Detail{{Field: ".properties.a", Message: "must be a schema, which is an object"}},
		},
		{
			"a wrong type", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"text"}}}`,
			[]fault.Detail{{Field: "", Message: "is no JSON Schema: "}},
		},
		{
			"a pattern that can't be", `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"string","pattern":"(?=a)"}}}`,
			[]fault.Detail{{Field: "", Message: "is no JSON Schema: "}},
		},
		{"too deep", deep, []fault.Detail{{Field: strings.Repeat(".properties.a", 10), Message: "is nested more than 10 deep"}}},
		{
			"too long", `{"type":"object","additionalProperties":false,"description":"` + strings.Repeat("a", 64<<10) + `"}`,
			[]fault.Detail{{Field: "", Message: "must have at most 65536 bytes"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mustDefault(t)
			r, f := catalog.Decode([]byte(`{"capability":"text.chat","input":{"prompt":"x"},"parameters":{"output_schema":`+tt.schema+`}}`), catalog.Limits{})
			if f != nil {
				t.Fatal(f)
			}
			var got []fault.Detail
			if f = c.Validate(r); f != nil {
				got = f.Details
			}
			for i := range tt.want {
				tt.want[i].Field = "parameters.output_schema" + tt.want[i].Field
				if i < len(got) && strings.HasSuffix(tt.want[i].Message, ": ") && strings.HasPrefix(got[i].Message, tt.want[i].Message) {
					tt.want[i].Message = got[i].Message
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnswer reads texts as JSON of a schema.
func TestAnswer(t *testing.T) {
	for _, tt := range []struct{ schema, text, want, problem string }{
		{person, ` {"name": "Ann", "age": null }`, `{"name":"Ann","age":null}`, ""},
		{person, `{"name":"Ann","age":-1}`, "", "data.age must be at least 0"},
		{person, `{"name":"Ann"}`, "", "data.age is required"},
		{person, `{"name":"Ann","age":1,"x":2}`, "", "data.x is not a known member"},
		{person, `{"name":"Ann","age":1,"age":2}`, "", "not decoded JSON"},
		{person, `{"name":"Ann","age":1} and more`, "", "isn't JSON"},
		{person, "```json\n{}\n```", "", "isn't JSON"},
		{person, `[]`, "", "data must be an object"},
		{person, ``, "", "isn't JSON"},
		{catalog.AnyObject, `{"list": [1, {}], "x": null}`, `{"list":[1,{}],"x":null}`, ""},
		{catalog.AnyObject, `[{}]`, "", "data must be an object"},
		{catalog.AnyObject, `{} {}`, "", "isn't JSON"},
		{catalog.AnyObject, `null`, "", "data must be an object"},
	} {
		got, err := catalog.Answer(json.RawMessage(tt.schema), tt.text)
		if tt.problem == "" && (err != nil || string(got) != tt.want) || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%s: %s, %v; want %s%s", tt.text, got, err, tt.want, tt.problem)
		}
	}
}

// FuzzStrictSchema: whatever a caller gives for a schema is refused, or bounds an answer: it compiles, and it accepts no
// member that it doesn't list, unless it is the one of any object.
func FuzzStrictSchema(f *testing.F) {
	f.Add(person)
	f.Add(`{"type":"object","additionalProperties":false,"$defs":{"a":{"$ref":"#"}},"properties":{"b":{"$ref":"#/$defs/a"}},"required":["b"]}`)
	f.Add(`{"type":["object","null"],"properties":{}}`)
	c, err := catalog.Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		r, refused := catalog.Decode(fmt.Appendf(nil, `{"capability":"text.chat","input":{"prompt":"x"},"parameters":{"output_schema":%s}}`, schema), catalog.Limits{Depth: 64})
		if refused != nil || len(r.Parameters) < len(`{"output_schema":{}}`) || c.Validate(r) != nil {
			return
		}
		var parameters struct {
			Schema json.RawMessage `json:"output_schema"`
		}
		if err := json.Unmarshal(r.Parameters, &parameters); err != nil || parameters.Schema == nil || catalog.IsAnyObject(parameters.Schema) {
			return // a body of other members, or any object is asked for
		}
		if _, err := catalog.Answer(parameters.Schema, `{"a member that the schema lacks":1}`); err == nil && !strings.Contains(schema, "a member") {
			t.Errorf("%s accepts any member", schema)
		}
	})
}

// TestSchemasAreJudgedAgain: a schema that was found sound is so at once, by its own rules alone, and for as many others
// as are sent meanwhile; one with a fault stays refused.
func TestSchemasAreJudgedAgain(t *testing.T) {
	loose := `{"type":"object","properties":{"a":{"type":"string"}}}` // no answer's schema, which lists all under required
	for round := range 3 {
		for parameters, sound := range map[string]bool{
			`{"tools":[{"name":"a","parameters":` + loose + `}]}`:   true,
			`{"output_schema":` + loose + `}`:                       false,
			`{"tools":[{"name":"a","parameters":{"type":"list"}}]}`: false,
		} {
			r := mustDecode(t, `{"capability":"text.chat","input":{"prompt":"a"},"parameters":`+parameters+`}`)
			if f := mustDefault(t).Validate(r); (f == nil) != sound {
				t.Errorf("%s: %v, want sound %v", parameters, f, sound)
			}
		}
		for i := range catalog.MaxHashes / 2 {
			catalog.Judge(fmt.Sprintf(`{"type":"object","description":"%d %d"}`, round, i))
		}
	}
	if n := catalog.SoundSchemas(); n == 0 || n > catalog.MaxHashes {
		t.Errorf("%d schemas are remembered", n)
	}
}
