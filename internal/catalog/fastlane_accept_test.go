package catalog_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"unitask/internal/catalog"
)

func mustVerdicts(t testing.TB, schema []byte) func(raw []byte) (accepted, valid bool) {
	t.Helper()
	verdicts, err := catalog.Verdicts(schema)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return verdicts
}

// TestFastLaneAcceptsExamples shows that common requests don't need the general road.
func TestFastLaneAcceptsExamples(t *testing.T) {
	for _, c := range mustDefault(t).All() {
		r := mustDecode(t, string(c.Example))
		if accepted, valid := mustVerdicts(t, c.ParametersSchema)(r.Parameters); !accepted || !valid {
			t.Errorf("%s: parameters %s: accepted %v, valid %v", c.Name, r.Parameters, accepted, valid)
		}
		if len(catalog.MediaPointers(c, r.Input)) > 0 {
			continue
		}
		if accepted, valid := mustVerdicts(t, c.InputSchema)(r.Input); !accepted || !valid {
			t.Errorf("%s: input %s: accepted %v, valid %v", c.Name, r.Input, accepted, valid)
		}
	}
}

func TestFastLaneAccepts(t *testing.T) {
	const (
		text  = `{"type":"object","properties":{"a":{"type":"string","minLength":2,"maxLength":3,"pattern":"\\S"}}}`
		tag   = `{"type":"object","properties":{"a":{"type":"string","pattern":"^[^A]{3}$"}}}`
		num   = `{"type":"object","properties":{"a":{"type":"number","minimum":-1,"maximum":0.3},"b":{"type":"integer","maximum":9}}}`
		list  = `{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x","y"],"type":"string"},"minItems":1,"maxItems":2}}}`
		flag  = `{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"additionalProperties":true}`
		ref   = `{"type":"object","properties":{"a":{"$ref":"#/$defs/t","maxLength":2,"description":"d"}},"$defs":{"t":{"$ref":"#/$defs/u"},"u":{"type":"string","minLength":1}}}`
		kinds = `{"type":"object","properties":{"k":{"type":"string"},"t":{"type":"string"},"i":{"$ref":"#/$defs/i","properties":{"kind":{"enum":["png"]}}}},` +
			`"required":["k"],"allOf":[{"if":{"properties":{"k":{"const":"text"}},"required":["k"]},"then":{"required":["t"],"properties":{"i":false}}},` +
			`{"if":{"properties":{"k":{"const":"image"}},"required":["k"]},"then":{"required":["i"],"properties":{"t":false}}}],` +
			`"$defs":{"i":{"type":"object","properties":{"data":{"type":"string","contentEncoding":"base64"},"kind":{"type":"string","maxLength":3}}}}}`
		abc = `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"},"c":{"type":"boolean"}},`
	)
	unknown := func(keyword string) string {
		return `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"boolean"}},` + keyword + `}}}`
	}
	for _, tt := range []struct {
		schema, value string
		accepted      bool
	}{
		{text, `{}`, true},
		{text, `{"a":"éé"}`, true},
		{text, `{"a":"🦊🦊🦊"}`, true},
		{text, `{"a":"é"}`, false},
		{text, `{"a":"abcd"}`, false},
		{text, `{"a":"\n\""}`, true},
		{text, `{"a":"\n\\"}`, true},
		{text, `{"a":"\b\b"}`, true},
		{text, `{"a":"\n\t\f"}`, false},
		{text, `{"a":"\u0041b"}`, false}, // it is valid, but not in canonical form
		{text, `{"a":"a\/"}`, false},
		{text, `{"\u0061":"ab"}`, false},
		{`{"type":"object","properties":{"\\n":{"type":"boolean"}},"additionalProperties":false}`, `{"\n":true}`, false},
		{text, `{"a":" \r"}`, false},
		{text, "{\"a\":\"\u3000\ufeff\"}", false},
		{text, `{"a":"ab","a":"ab"}`, false},
		{text, `{"a":"ab","b":1}`, false},
		{text, `{"a":"ab" }`, false},
		{text, `{"a":"ab"} `, false},
		{text, `{"a":"ab"`, false},
		{text, `{"a":"ab"]`, false},
		{text, `{"a":`, false},
		{text, `{`, false},
		{text, ``, false},
		{text, `[]`, false},
		{text, `{"a":1}`, false},
		{tag, `{"a":"abc"}`, true},
		{tag, `{"a":"\nb"}`, false},
		{tag, `{"a":"Abc"}`, false},
		{num, `{"a":0.3,"b":-4}`, true},
		{num, `{"a":-1.000001}`, false},
		{num, `{"a":0.300000000000001}`, false},
		{num, `{"a":0.30000000000000001}`, false}, // it is valid, but not in canonical form
		{num, `{"b":1.5}`, false},
		{num, `{"b":10}`, false},
		{num, `{"b":"1"}`, false},
		{list, `{"a":["x","y"]}`, true},
		{list, `{"a":[]}`, false},
		{list, `{"a":["x","x","x"]}`, false},
		{list, `{"a":["z"]}`, false},
		{list, `{"a":["x"}`, false},
		{list, `{"a":["x",]}`, false},
		{list, `{"a":["x"`, false},
		{list, `{"a":{}}`, false},
		{flag, `{"a":true}`, true},
		{flag, `{"a":false}`, true},
		{flag, `{}`, false},
		{flag, `{"a":null}`, false},
		{flag, `{"a":truer}`, false},
		{flag, `{"a":true,"b":1}`, false}, // it is valid, but b isn't listed
		{ref, `{"a":"xx"}`, true},
		{ref, `{"a":"xxx"}`, false},
		{ref, `{"a":""}`, false},
		{abc + `"oneOf":[{"required":["a"]},{"required":["b","c"]}]}`, `{"a":true,"c":true}`, true},
		{abc + `"oneOf":[{"required":["a"]},{"required":["b","c"]}]}`, `{"a":true,"b":true,"c":true}`, false},
		{abc + `"oneOf":[{"required":["a"]},{"required":["b","c"]}]}`, `{"b":true}`, false},
		{abc + `"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":true,"b":true}`, true},
		{abc + `"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"c":true}`, false},
		{abc + `"not":{"required":["a","b"]}}`, `{"a":true,"c":true}`, true},
		{abc + `"not":{"required":["a","b"]}}`, `{"a":true,"b":true}`, false},
		{abc + `"dependentRequired":{"a":["b"]}}`, `{"a":true,"b":true}`, true},
		{abc + `"dependentRequired":{"a":["b"]}}`, `{"a":true}`, false},
		{abc + `"dependentRequired":{"a":["b"]}}`, `{"c":true}`, true},
		{kinds, `{"k":"text","t":"a"}`, true},
		{kinds, `{"k":"image","i":{"data":"YQ==","kind":"png"}}`, true},
		{kinds, `{"k":"image","i":{"data":"","kind":"png"}}`, true},
		{kinds, `{"k":"image","i":{"data":"YWJj","kind":"png"}}`, true},
		{kinds, `{"k":"other"}`, true},
		{kinds, `{"t":"a"}`, false},
		{kinds, `{"k":"text"}`, false},
		{kinds, `{"k":"text","t":"a","i":{}}`, false},
		{kinds, `{"k":"image","i":{"data":"YQ","kind":"png"}}`, false},
		{kinds, `{"k":"image","i":{"data":"Y===","kind":"png"}}`, false},
		{kinds, `{"k":"image","i":{"data":"YQ==","kind":"gif"}}`, false},
		{kinds, `{"k":"image","i":{"data":"YW-j","kind":"png"}}`, false},
		{kinds, `{"k":"image","i":{"data":"YQ==","kind":"pngs"}}`, false},
		{kinds, `{"k":"image","i":{"data":"AAAAAAAAAAAAAAAAAAAAAAAA","kind":"png"}}`, true},
		{kinds, `{"k":"image","i":{"data":"AAAAAAAAAAAAAAAAAAAAA\nAA","kind":"png"}}`, false},
		{`{"type":"object","properties":{"a":{"type":["string","array"],"items":{"type":"boolean"},"minItems":1,"maxLength":1}}}`, `{"a":[true,false]}`, true},
		{`{"type":"object","properties":{"a":{"type":["string","array"],"items":{"type":"boolean"},"minItems":1}}}`, `{"a":[]}`, false},
		{`{"type":"object","properties":{"a":{"type":["string","array"],"items":{"type":"boolean"}}}}`, `{"a":["b"]}`, false},
		{`{"type":"object","properties":{"a":{"type":["string","array"],"items":{"type":"boolean"},"enum":["b"]}}}`, `{"a":[true]}`, false},
		{strings.ReplaceAll(kinds, `,"required":["k"]},"then"`, `},"then"`), `{"k":"other"}`, false},
		{strings.Replace(kinds, `"const":"image"`, `"const":1`, 1), `{"k":"text","t":"a"}`, false},
		{strings.Replace(kinds, `"i":false`, `"i":true`, 1), `{"k":"text","t":"a"}`, false},
		{strings.Replace(kinds, `"then":{"required":["t"]`, `"else":false,"then":{"required":["t"]`, 1), `{"k":"text","t":"a"}`, false},
		{strings.Replace(kinds, `"enum":["png"]`, `"enum":["png"],"format":"date"`, 1), `{"k":"image","i":{"kind":"png"}}`, false},
		{abc + `"required":["d"]}`, `{"a":true}`, false},
		{abc + `"oneOf":[{"required":["a"]},{"minProperties":2}]}`, `{"a":true}`, false},
		{abc + `"oneOf":[{"required":["a"],"minProperties":2},{"required":["b"]}]}`, `{"a":true}`, false},
		{unknown(`"minProperties":1`), `{"a":{}}`, false},
		{unknown(`"maxProperties":0`), `{"a":{"b":true}}`, false},
		{unknown(`"propertyNames":{"maxLength":0}`), `{"a":{"b":true}}`, false},
		{unknown(`"patternProperties":{"b":{"const":false}}`), `{"a":{"b":true}}`, false},
		{unknown(`"dependentSchemas":{"b":false}`), `{"a":{"b":true}}`, false},
		{unknown(`"unevaluatedProperties":false`), `{"a":{}}`, false},
		{unknown(`"const":{"b":false}`), `{"a":{"b":true}}`, false},
		{unknown(`"enum":[{"b":false}]`), `{"a":{"b":true}}`, false},
		{unknown(`"allOf":[{"required":["b"]}]`), `{"a":{}}`, false},
		{unknown(`"if":{"required":["b"]},"then":false`), `{"a":{"b":true}}`, false},
		{unknown(`"anyOf":[false]`), `{"a":{}}`, false},
		{unknown(`"not":{}`), `{"a":{}}`, false},
		{`{"type":"object","properties":{"a":{"type":"integer","multipleOf":2}}}`, `{"a":1}`, false},
		{`{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":1}}}`, `{"a":1}`, false},
		{`{"type":"object","properties":{"a":{"type":"integer","enum":[1]}}}`, `{"a":2}`, false},
		{`{"type":"object","properties":{"a":{"type":"string","enum":["b",1]}}}`, `{"a":"c"}`, false},
		{`{"type":"object","properties":{"a":{"type":"string","format":"date"}}}`, `{"a":"b"}`, false},
		{`{"type":"object","properties":{"a":{"type":"string","contentEncoding":"base64"}}}`, `{"a":"b"}`, false},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"boolean"},"uniqueItems":true}}}`, `{"a":[true,true]}`, false},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"boolean"},"contains":{"const":true}}}}`, `{"a":[false]}`, false},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"boolean"},"prefixItems":[false]}}}`, `{"a":[true]}`, false},
		{`{"type":"object","properties":{"a":false}}`, `{"a":true}`, false},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/o","properties":{"b":{"type":"boolean"}}}},"$defs":{"o":{"type":"object","additionalProperties":false}}}`, `{"a":{"b":true}}`, false},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/o","minLength":2}},"$defs":{"o":{"type":"string","minLength":3}}}`, `{"a":"xx"}`, false},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{"a":"xx"}`, false},
		{`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"type":"boolean"}}}`, `{"a":{"b":1}}`, false},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/o"}},"$defs":{"o":{"type":"object","properties":{"b":{"$ref":"#/$defs/o","maxLength":2}},"required":["b"]}}}`, `{"a":{"b":{}}}`, false},
	} {
		accepted, valid := mustVerdicts(t, []byte(tt.schema))([]byte(tt.value))
		if accepted != tt.accepted || accepted && !valid {
			t.Errorf("%s\n%s: accepted %v, want %v, valid %v", tt.schema, tt.value, accepted, tt.accepted, valid)
		}
	}
}

// TestFastLaneRecursiveSchema compiles a schema that refers to itself.
func TestFastLaneRecursiveSchema(t *testing.T) {
	verdicts := mustVerdicts(t, []byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},
		"$defs":{"a":{"type":"object","properties":{"l":{"$ref":"#/$defs/a"},"r":{"$ref":"#/$defs/a"}},"additionalProperties":false}}}`))
	for _, depth := range []int{0, 1, 9, 100, 999, 1000, 1001, 2000} {
		value := `{"a":` + strings.Repeat(`{"l":`, depth) + "{}" + strings.Repeat("}", depth+1)
		if accepted, valid := verdicts([]byte(value)); accepted && !valid || !accepted && depth < 10 {
			t.Fatalf("depth %d: accepted %v, valid %v", depth, accepted, valid)
		}
	}
}

// TestFastLaneBuiltInSchemas tries random values, valid or nearly, with all built-in schemas: each value that the
// fast lane accepts is valid.
func TestFastLaneBuiltInSchemas(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range mustDefault(t).All() {
		for part, schema := range map[string][]byte{"input": c.InputSchema, "parameters": c.ParametersSchema, "output": c.OutputSchema} {
			var doc map[string]any
			if err := json.Unmarshal(schema, &doc); err != nil {
				t.Fatal(err)
			}
			verdicts, w := mustVerdicts(t, schema), valueWriter{random, doc}
			accepted := 0
			for range 800 {
				value := w.value(nil, doc)
				is, valid := verdicts(value)
				if is {
					accepted++
				}
				if is && !valid {
					t.Fatalf("%s %s: %s is accepted", c.Name, part, value)
				}
			}
			if part == "parameters" && accepted < 20 {
				t.Errorf("%s: %d of 800 parameters are accepted", c.Name, accepted)
			}
		}
	}
}

// valueWriter writes random values that a schema may or may not accept.
type valueWriter struct {
	random *rand.Rand
	doc    map[string]any
}

func (w valueWriter) odd(n int) bool { return w.random.IntN(n) == 0 }

func pick[T any](w valueWriter, from ...T) T { return from[w.random.IntN(len(from))] }

func (w valueWriter) value(b []byte, v any) []byte {
	schema := w.resolve(v)
	if w.odd(40) {
		return append(b, pick(w, `null`, `true`, `{}`, `[]`, `""`, `1e400`, ``, ` `, "\xff", `"\ud800"`)...)
	}
	switch schema["type"] {
	case "object":
		return w.object(b, schema)
	case "array":
		return w.array(b, schema)
	case "string":
		return w.text(b, schema)
	case "boolean":
		return append(b, pick(w, "true", "false")...)
	default:
		return w.number(b, schema)
	}
}

func (w valueWriter) resolve(v any) map[string]any {
	schema, _ := v.(map[string]any)
	ref, refers := schema["$ref"].(string)
	if !refers {
		return schema
	}
	defs, _ := w.doc["$defs"].(map[string]any)
	whole := maps.Clone(w.resolve(defs[strings.TrimPrefix(ref, "#/$defs/")]))
	maps.Copy(whole, schema)
	return whole
}

func (w valueWriter) object(b []byte, schema map[string]any) []byte {
	properties, _ := schema["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	if len(names) > 0 && w.odd(30) {
		names = append(names, pick(w, names...), "more")
	}
	b = append(b, '{')
	started := false
	for _, name := range names {
		if w.odd(2) || len(names) > 8 && w.odd(2) {
			continue
		}
		if started {
			b = append(b, ',')
		}
		started = true
		b = append(append(append(b, '"'), name...), `":`...)
		b = w.value(b, properties[name])
	}
	return append(b, '}')
}

func (w valueWriter) array(b []byte, schema map[string]any) []byte {
	b = append(b, '[')
	most, _ := schema["maxItems"].(float64)
	for i := range w.random.IntN(int(min(most, 9)) + 2) {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.value(b, schema["items"])
	}
	return append(b, ']')
}

func (w valueWriter) text(b []byte, schema map[string]any) []byte {
	if words, ok := schema["enum"].([]any); ok && !w.odd(10) {
		return fmt.Appendf(b, "%q", pick(w, words...))
	}
	b = append(b, '"')
	switch most, _ := schema["maxLength"].(float64); {
	case most > 0 && most <= 300 && w.odd(4):
		b = append(b, strings.Repeat(pick(w, "é", "x", `\n`, "🦊"), int(most)+w.random.IntN(3)-1)...)
	default:
		b = append(b, pick(w, "", "a", "en", "pt-BR", "1024x1024", "63x64", "Alto 2", "https://example.com/a.png", "art_0123456789", "AAAA", "AAA",
			"image/png", " ", `\n`, `\t \"`, "\u3000", "\ufeff", "\u00a0x", `\u0041`, `\/`, "🦊", "\u007f", `\\`, `\b`)...)
	}
	return append(b, '"')
}

func (w valueWriter) number(b []byte, schema map[string]any) []byte {
	least, _ := schema["minimum"].(float64)
	most, ok := schema["maximum"].(float64)
	if !ok {
		most = 1 << 40
	}
	n := pick(w, least, most, least-1, most+1, least+0.5, (least+most)/2, least-1e-7, most+1e-9)
	return append(append(b, strconv.FormatFloat(n, 'f', -1, 64)...), pick(w, "", "", "", "", "", "", ".0", "e0", "0", "00000000000000001")...)
}

func FuzzFastLaneAccepts(f *testing.F) {
	var schemas [][]byte
	for _, c := range mustDefault(f).All() {
		schemas = append(schemas, c.InputSchema, c.ParametersSchema, c.OutputSchema)
		r := mustDecode(f, string(c.Example))
		f.Add(len(schemas)-3, []byte(r.Input))
		f.Add(len(schemas)-2, []byte(r.Parameters))
	}
	var verdicts []func([]byte) (bool, bool)
	for _, s := range schemas {
		verdicts = append(verdicts, mustVerdicts(f, s))
	}
	f.Fuzz(func(t *testing.T, n int, raw []byte) {
		if accepted, valid := verdicts[uint(n)%uint(len(verdicts))](raw); accepted && !valid {
			t.Fatalf("%s is accepted by %s", raw, schemas[uint(n)%uint(len(schemas))])
		}
	})
}
