package sample_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog/sample"
)

func decoded(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValue(t *testing.T) {
	texts := []string{"hello there", "bye"}
	for _, tt := range []struct{ schema, want string }{
		{`true`, `"hello there"`},
		{`{}`, `"hello there"`},
		{`{"const":{"a":[1,null]}}`, `{"a":[1,null]}`},
		{`{"enum":["only"]}`, `"only"`},
		{`{"type":"null"}`, `null`},
		{`{"type":["null","string"],"maxLength":5}`, `"hello"`},
		{`{"type":"string","minLength":13}`, `"hello therexx"`},
		{`{"type":"string","pattern":"^[A-Z]{2}-\\d{3}(x|y)?z+$"}`, `"AA-000z"`},
		{`{"type":"string","pattern":"there$"}`, `"hello there"`},
		{`{"type":"string","pattern":"\\S"}`, `"hello there"`},
		{`{"type":"string","format":"date"}`, `"2030-01-01"`},
		{`{"type":"string","contentEncoding":"base64"}`, `"aGVsbG8gdGhlcmU="`},
		{`{"type":"integer","minimum":7,"maximum":7}`, `7`},
		{`{"exclusiveMinimum":1,"exclusiveMaximum":3,"type":"integer"}`, `2`},
		{`{"type":"number","multipleOf":5,"minimum":1,"exclusiveMaximum":10}`, `5`},
		{`{"multipleOf":0.1,"minimum":0.25,"maximum":0.35}`, `0.3`},
		{`{"multipleOf":2,"maximum":-1,"minimum":-3}`, `-2`},
		{`{"type":"array","items":{"type":"string"},"minItems":3}`, `["hello there","bye","hello there 2"]`},
		{`{"type":"array","maxItems":0}`, `[]`},
		{`{"type":"array","items":false}`, `[]`},
		{`{"prefixItems":[{"const":1},{"const":2}],"items":{"const":3},"minItems":3}`, `[1,2,3]`},
		{`{"type":"array","contains":{"const":4}}`, `[4]`},
		{`{"properties":{"b":{"const":2},"a":{"const":1},"c":false},"required":["d"]}`, `{"a":1,"b":2,"d":"hello there"}`},
		{`{"required":["n"],"additionalProperties":{"const":0}}`, `{"n":0}`},
		{`{"$ref":"#/$defs/x","minimum":4,"$defs":{"x":{"type":"integer","minimum":1,"maximum":4}}}`, `4`},
		{`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"const":1}}}`, `1`},
		{`{"allOf":[{"type":"object","required":["a"]},{"properties":{"a":{"minimum":2}}}],"properties":{"a":{"type":"integer","maximum":2}}}`, `{"a":2}`},
		{`{"allOf":[{"enum":[1,2]},{"enum":[2,3]}]}`, `2`},
		{`{"oneOf":[{"const":1},{"const":2}]}`, `1`},
		{`{"type":"object","properties":{"next":{"$ref":"#"}}}`, `{"next":{"next":{"next":{"next":{"next":{"next":{}}}}}}}`},
		{`{"type":"array","items":{"$ref":"#"}}`, `[[[[[[[]]]]]]]`},
	} {
		v, err := sample.Value(decoded(t, tt.schema), sample.Options{Source: "s", Texts: texts})
		got, encodes := json.Marshal(v)
		if err != nil || encodes != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, %v, want %s", tt.schema, got, err, encodes, tt.want)
		}
	}
}

func TestNoValue(t *testing.T) {
	for _, schema := range []string{
		`false`, `{"enum":[]}`, `{"$ref":"#/$defs/x"}`, `{"$ref":"other.json"}`, `{"type":"integer","minimum":2,"maximum":1}`,
		`{"properties":{"a":false},"required":["a"]}`, `{"items":false,"minItems":1}`, `{"allOf":[false]}`, `{"$ref":"#"}`,
		`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`, `{"type":"string","pattern":"a\\bb"}`, `{"type":"string","pattern":"("}`,
		`{"type":"string","minLength":99999999}`, `{"items":{"minItems":9999,"type":"array"},"minItems":9999}`,
		`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`,
	} {
		if v, err := sample.Value(decoded(t, schema), sample.Options{}); err == nil {
			t.Errorf("%s: got %v", schema, v)
		}
	}
}

// TestOptions: a sparse value has only the required members, and a branch is taken in each choice.
func TestOptions(t *testing.T) {
	schema := decoded(t, `{"properties":{"a":{"anyOf":[{"const":1},{"const":2}]},"b":{"type":"array"},"c":{"type":"array"}},"required":["a","c"]}`)
	for want, o := range map[string]sample.Options{
		`{"a":1,"b":["sample"],"c":["sample 2"]}`: {},
		`{"a":1,"c":[]}`:  {Sparse: true},
		`{"a":2,"c":[]}`:  {Sparse: true, Branch: 1},
		`{"a":1,"c":[] }`: {Sparse: true, Branch: 2},
	} {
		v, err := sample.Value(schema, o)
		if diff := cmp.Diff(decoded(t, want), v); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// TestChoices: what is left to choose follows from the source.
func TestChoices(t *testing.T) {
	schema := decoded(t, `{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8]},"b":{"type":"number"},"c":{"type":"boolean"},"d":{"type":"integer","minimum":100}}}`)
	values := map[string]bool{}
	for _, source := range []string{"one", "two", "three", "one"} {
		v, err := sample.Value(schema, sample.Options{Source: source})
		raw, encodes := json.Marshal(v)
		if err != nil || encodes != nil {
			t.Fatal(err, encodes)
		}
		values[string(raw)] = true
	}
	if len(values) != 3 {
		t.Errorf("of three sources: %v", values)
	}
}

func TestPlaces(t *testing.T) {
	cover, more := sample.Artifact(0), sample.Artifact(1)
	whole := map[string]any{"pages": []any{map[string]any{"cover": more}, "text"}, "cover": cover}
	got, files := sample.Places(whole)
	want := decoded(t, `{"cover":{"artifact":0},"pages":[{"cover":{"artifact":1}},"text"]}`)
	if diff := cmp.Diff(want, got); diff != "" || files != 2 {
		t.Errorf("%d files (-want +got):\n%s", files, diff)
	}
	if diff := cmp.Diff(map[string]any{"cover": cover, "pages": []any{map[string]any{"cover": more}, "text"}}, sample.Described(want)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	made, err := sample.Value(decoded(t, `{"properties":{"x":{"$ref":"#/$defs/artifact"},"y":{"items":{"$ref":"#/$defs/artifact"}}}}`), sample.Options{})
	if _, files := sample.Places(made); err != nil || files != 2 {
		t.Errorf("%d files of %v, %v", files, made, err)
	}
}

// FuzzValue: any schema has one value for one source, or no value, and neither takes long.
func FuzzValue(f *testing.F) {
	f.Add(`{"type":"array","items":{"$ref":"#"},"minItems":2}`, uint8(0))
	f.Add(`{"allOf":[{"properties":{"a":{"pattern":"a{9}"}}}],"required":["a"]}`, uint8(3))
	f.Add(`{"type":"number","minimum":1e308,"maximum":-1e308,"multipleOf":1e-300}`, uint8(1))
	f.Fuzz(func(t *testing.T, schema string, how uint8) {
		var v any
		if json.Unmarshal([]byte(schema), &v) != nil {
			return
		}
		o := sample.Options{Source: schema, Texts: []string{strings.Repeat("é", 300)}, Sparse: how&1 == 1, Branch: int(how >> 1)}
		one, err := sample.Value(v, o)
		other, again := sample.Value(v, o)
		if (err == nil) != (again == nil) || !cmp.Equal(one, other) {
			t.Fatalf("got %v, %v and %v, %v", one, err, other, again)
		}
		if err == nil {
			if _, err := json.Marshal(one); err != nil {
				t.Fatal(err)
			}
		}
	})
}
