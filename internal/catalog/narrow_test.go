package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"unitask/internal/catalog"
)

func TestPatched(t *testing.T) {
	for _, tt := range []struct{ base, patch, want string }{
		{`{"b":1,"a":{"d":1,"c":2}}`, `{"a":{"c":null,"e":{"f":null,"g":[null]}},"z":0}`, `{"b":1,"a":{"d":1,"e":{"g":[null]}},"z":0}`},
		{`{"a":[1,2]}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":[3]}`, `{"a":[3]}`},
		{`{"a\"":1}`, `{"a\"":2}`, `{"a\"":2}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1}`, `5`, `5`},
		{`[1]`, `{"a":null}`, `{}`},
	} {
		if got := string(catalog.Patched([]byte(tt.base), []byte(tt.patch))); got != tt.want {
			t.Errorf("%s with %s: got %s, want %s", tt.base, tt.patch, got, tt.want)
		}
	}
}

// names is an object's schema that takes the members a and b alone.
const names = `"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false`

func TestNarrows(t *testing.T) {
	for _, tt := range []struct{ was, is, want string }{
		{`true`, `{"type":"string"}`, ""},
		{`{"type":"string"}`, `false`, ""},
		{`{"type":"string"}`, `true`, "body must stay as it is"},
		{`{"type":["number","null"]}`, `{"type":"integer","title":"t","default":1,"minimum":1}`, ""},
		{`{"type":"integer"}`, `{"type":"number"}`, "type can't have number"},
		{`{"enum":["a",1,null]}`, `{"enum":[1,null]}`, ""},
		{`{"enum":["a"]}`, `{"enum":["a","integer"]}`, "enum can't have integer"},
		{`{"minLength":2,"maxLength":4}`, `{"minLength":3,"maxLength":4}`, ""},
		{`{"minLength":2}`, `{"minLength":1}`, "minLength is below the former 2"},
		{`{"maxItems":2}`, `{}`, "maxItems can't be removed"},
		{`{"pattern":"a"}`, `{"pattern":"b"}`, "pattern must stay as it is"},
		{`{"not":{"maximum":3}}`, `{"not":{"maximum":2}}`, "not must stay as it is"},
		{`{"items":{"maximum":3}}`, `{"items":{"maximum":4}}`, "items.maximum is above the former 3"},
		{`{"prefixItems":[true]}`, `{"prefixItems":[true],"items":false}`, ""},
		{`{"items":false}`, `{"items":false,"prefixItems":[true]}`, "prefixItems can't be added"},
		{`{"contains":{}}`, `{"contains":{},"minContains":0}`, "minContains can't be added"},
		{`{"$ref":"#/$defs/x"}`, `{"$ref":"#/$defs/x","maximum":3}`, ""},
		{`{"$ref":"#/$defs/x"}`, `{"$ref":"#/$defs/x","$defs":{"x":true}}`, "$defs can't be added"},
		{`{"required":["a"]}`, `{"required":["b","a"]}`, ""},
		{`{"required":["a","b"]}`, `{"required":["a"]}`, "required must go on to have b"},
		{`{` + names + `}`, `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"additionalProperties":false}`, ""},
		{`{` + names + `}`, `{"type":"object","properties":{"c":{}},"additionalProperties":false}`, "properties.c is new"},
		{`{` + names + `}`, strings.Replace(`{`+names+`}`, ",\"additionalProperties\":false", "", 1), "additionalProperties can't be removed"},
		{`{"properties":{"a":{"type":"string"}}}`, `{"properties":{}}`, "properties.a can't be removed: it would be taken as one that isn't listed"},
		{
			`{"patternProperties":{"a":true},"additionalProperties":false,"properties":{"a":false}}`,
			`{"patternProperties":{"a":true},"additionalProperties":false,"properties":{}}`, "properties.a can't be removed: it",
		},
		{`{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`, ""},
		{`{"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"},"properties":{"a":{}}}`, "properties can't be added"},
		{`{"unevaluatedProperties":false}`, `{"unevaluatedProperties":false,"allOf":[{"properties":{"a":true}}]}`, "body must stay as it is: it has unevaluated"},
		{
			`{` + names + `,"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"anyOf":[{"required":["a"]}]}`, "",
		},
		{
			`{` + names + `,"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{` + names + `,"oneOf":[{"required":["a"]}]}`,
			"oneOf must keep the branch of b, which is a member",
		},
		{
			`{` + names + `,"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{},"additionalProperties":false,"oneOf":[]}`,
			"oneOf must keep its branches",
		},
		{
			`{"properties":{"a":true,"b":true},"additionalProperties":false,"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"properties":{"a":true},"additionalProperties":false,"oneOf":[{"required":["a"]}]}`, "oneOf must keep its branches",
		},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"oneOf":[{"required":["a"]}]}`, "oneOf must keep its branches"},
		{`{"anyOf":[{"maximum":1},{"minimum":2}]}`, `{"anyOf":[{"maximum":1},{"minimum":1}]}`, "anyOf has a new branch"},
	} {
		t.Run(tt.want+" "+tt.is, func(t *testing.T) {
			got := ""
			if err := catalog.Narrows(decoded(t, tt.was), decoded(t, tt.is)); err != nil {
				got = err.Error()
			}
			if (tt.want == "") != (got == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNarrowerTakesLess draws schemas and changes of them: a value that the changed one takes, the former one takes
// too, or the change is refused.
func TestNarrowerTakesLess(t *testing.T) {
	narrower := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 20 { // most changes aren't narrower
			was := drawSchema(t, 2)
			if is := drawChange(t, was); catalog.Narrows(was, is) == nil && takesLess(t, was, is) {
				narrower++
			}
		}
	})
	if narrower < 100 {
		t.Errorf("only %d changes were narrower", narrower)
	}
}

// takesLess fails if a schema takes a value that the former one doesn't; false if one of them is no schema.
func takesLess(t *rapid.T, was, is any) bool {
	before, err := verdicts(was)
	after, err2 := verdicts(is)
	if err != nil || err2 != nil {
		return false // a choice without branches, for example
	}
	for range 10 {
		value := drawValue(t, 2)
		raw := fmt.Appendf(nil, `{"v":%s}`, value)
		if _, takes := after(raw); takes {
			if _, took := before(raw); !took {
				t.Fatalf("%s takes %s, which %s doesn't", text(is), value, text(was))
			}
		}
	}
	return true
}

// verdicts compiles an object with one member of the schema.
func verdicts(schema any) (func(raw []byte) (accepted, valid bool), error) {
	return catalog.Verdicts(fmt.Appendf(nil, `{"type":"object","properties":{"v":%s}}`, text(schema)))
}

func text(schema any) string {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err) // drawn from JSON alone
	}
	return string(raw)
}

var small = rapid.IntRange(0, 3)

// drawSchema draws a schema of a few keywords, as decoded JSON.
func drawSchema(t *rapid.T, depth int) any {
	s := map[string]any{}
	for _, keyword := range rapid.SliceOfNDistinct(rapid.SampledFrom(keywords), 0, 4, rapid.ID).Draw(t, "keywords") {
		s[keyword] = drawKeyword(t, keyword, depth)
	}
	return s
}

var keywords = []string{
	"type", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "items", "properties", "additionalProperties",
	"required", "oneOf", "anyOf", "not", "prefixItems", "contains", "minContains", "patternProperties", "unevaluatedProperties", "description",
}

func drawKeyword(t *rapid.T, keyword string, depth int) any {
	inner := func() any {
		if depth == 0 {
			return rapid.Bool().Draw(t, "boolean")
		}
		return drawSchema(t, depth-1)
	}
	members := rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, "members")
	switch keyword {
	case "type":
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"object", "array", "string", "integer", "number"}), 1, 3, rapid.ID).Draw(t, "types")
	case "enum":
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"a", "aa", 1.0, 2.0}), 1, 3, rapid.ID).Draw(t, "values")
	case "items", "contains", "not":
		return inner()
	case "additionalProperties", "unevaluatedProperties":
		return rapid.Bool().Draw(t, "more")
	case "properties", "patternProperties":
		of := map[string]any{}
		for _, name := range members {
			of[name.(string)] = inner()
		}
		return of
	case "required":
		return members
	case "oneOf", "anyOf":
		var branches []any
		for _, name := range members {
			branches = append(branches, map[string]any{"required": []any{name}})
		}
		return branches
	case "prefixItems":
		return []any{inner()}
	case "description":
		return "a"
	default:
		return float64(small.Draw(t, "n"))
	}
}

// drawChange draws a schema that differs from another one in some of its keywords, at any depth.
func drawChange(t *rapid.T, was any) any {
	before, ok := was.(map[string]any)
	if !ok {
		return rapid.Bool().Draw(t, "boolean")
	}
	is := map[string]any{}
	for keyword, value := range before {
		is[keyword] = value
	}
	for _, keyword := range rapid.SliceOfNDistinct(rapid.SampledFrom(keywords), 1, 3, rapid.ID).Draw(t, "changed") {
		value, has := before[keyword]
		switch members, object := value.(map[string]any); {
		case has && rapid.Bool().Draw(t, "removed"):
			delete(is, keyword)
		case object && keyword == "properties":
			inside := map[string]any{}
			for name, schema := range members {
				if !rapid.Bool().Draw(t, "kept") {
					continue
				}
				inside[name] = drawChange(t, schema)
			}
			is[keyword] = inside
		case object:
			is[keyword] = drawChange(t, value)
		default:
			is[keyword] = drawKeyword(t, keyword, 1)
		}
	}
	return is
}

// drawValue draws JSON that the keywords above tell apart.
func drawValue(t *rapid.T, depth int) string {
	most := 4
	if depth == 0 {
		most = 2
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return fmt.Sprint(small.Draw(t, "number"))
	case 1:
		return rapid.SampledFrom([]string{`""`, `"a"`, `"aa"`, `"aaa"`}).Draw(t, "string")
	case 2:
		return "0.5"
	case 3:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		for _, name := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, "has") {
				members = append(members, fmt.Sprintf("%q:%s", name, drawValue(t, depth-1)))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}
