package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"unitask/internal/catalog"
	"unitask/internal/catalog/sample"
)

// withOutput is a capability of its own with this output, and more members.
func withOutput(name, output, more string) string {
	return "capabilities:\n  - name: " + name + `
    title: a
    description: b
    modality: text
    mode: sync
    deadline: 30s
    input: {type: object}
    parameters: {type: object}
    example: {capability: ` + name + `, input: {}}
    output: ` + output + "\n" + more
}

const invoice = `{type: object, properties: {total: {type: number, minimum: 0}, lines: {type: array, items: {type: object, properties: {text: {type: string}},
      required: [text], additionalProperties: false}, minItems: 2}, scan: {$ref: '#/$defs/artifact'}}, required: [total, lines, scan], additionalProperties: false}`

// TestSample makes outputs of capabilities that only an overlay knows; each of them is valid.
func TestSample(t *testing.T) {
	for _, tt := range []struct{ name, output, want string }{
		{"extract", invoice, `{"lines":[{"text":"tea"},{"text":"milk"}],"scan":{"artifact":0},"total":1.8359375}`},
		{"a choice", `{type: object, oneOf: [{required: [a]}, {required: [b]}], properties: {a: {const: 1}, b: {const: 2}}}`, `{"a":1}`},
		{"only required members fit", `{type: object, properties: {a: {const: 1}, b: {const: 2}}, required: [a], maxProperties: 1}`, `{"a":1}`},
		{"the second branch fits", `{type: object, anyOf: [{required: [a], properties: {a: {type: string, pattern: 'x\by'}}}, {required: [b]}]}`, `{"b":"tea"}`},
		{"an example of its own", `{type: object, properties: {a: {type: integer}}, examples: [{a: 7}]}`, `{"a":7}`},
		{"an example that is wrong", `{type: object, properties: {a: {const: 1}}, examples: [{a: 7}]}`, `{"a":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mustLoad(t, withOutput("data.make", tt.output, ""))
			entry, _ := c.Get("data.make")
			shape, err := catalog.NewShape(entry.OutputSchema)
			if err != nil {
				t.Fatal(err)
			}
			got, files, err := shape.Sample("source", []string{"tea", "milk"})
			if err != nil || string(got) != tt.want || files != strings.Count(tt.want, `"artifact"`) {
				t.Errorf("got %s with %d files, %v, want %s", got, files, err, tt.want)
			}
			whole, err := json.Marshal(sample.Described(decoded(t, string(got))))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.ValidateOutput("data.make", whole); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDeclaredSample: a sample is checked, shown to callers as an example, and inherited by a tier.
func TestDeclaredSample(t *testing.T) {
	const odd = `{type: object, properties: {code: {type: string, pattern: '^a\b.c$'}, scan: {$ref: '#/$defs/artifact'}}, required: [code]}`
	const tier = "  - {name: code.read.fast, extends: code.read, title: a, description: b}\n"
	declared := withOutput("code.read", odd, "    sample: {code: a-c, scan: {artifact: 0}}\n"+tier)
	for _, name := range []catalog.Name{"code.read", "code.read.fast"} {
		entry := mustGet(t, name, declared)
		shape, err := catalog.NewShape(entry.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		got, files, err := shape.Sample("source", nil)
		if err != nil || string(got) != `{"code":"a-c","scan":{"artifact":0}}` || files != 1 {
			t.Errorf("%s: got %s with %d files, %v", name, got, files, err)
		}
		var shown struct {
			Examples []struct{ Scan struct{ Sha256 string } }
		}
		if err := json.Unmarshal(entry.OutputSchema, &shown); err != nil || len(shown.Examples) != 1 || len(shown.Examples[0].Scan.Sha256) != 64 {
			t.Errorf("shown: %+v, %v", shown, err)
		}
	}
	for name, tt := range map[string]struct{ overlay, want string }{
		"that doesn't fit": {
			strings.Replace(declared, "code: a-c", "code: b-c", 1),
			"line 12: code.read: sample: output.code must match the pattern ^a\\b.c$; write a whole output that fits",
		},
		"missing":             {withOutput("code.read", odd, ""), "line 11: code.read: output: no example of it can be made for test keys: code: no text is found for a pattern; write a whole output under sample"},
		"of a built-in one":   {"capabilities:\n  - {name: text.chat.large, extends: text.chat, title: a, description: b, sample: {text: a}}\n", "text.chat.large: sample: the sandbox does the work of text.chat itself; leave it out"},
		"of what takes none":  {withOutput("a.b", "{type: object, not: {}}", ""), "a.b: output: no example of it can be made"},
		"broken by a tier":    {strings.Replace(declared, "description: b}", "description: b, output: {properties: {scan: {required: [more]}}}}", 1), "code.read.fast: sample: output.scan.more is required"},
		"that is no document": {strings.Replace(declared, "{code: a-c, scan: {artifact: 0}}", "5", 1), "sample: output must be an object"},
	} {
		_, err := catalog.Load([]byte(tt.overlay))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.want)
		}
	}
}

func TestFitsUsual(t *testing.T) {
	for _, tt := range []struct {
		name   catalog.Name
		schema string
		want   bool
	}{
		{"notes.sort", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`, true},
		{"notes.sort", `{"type":"object","properties":{"text":{"enum":["short"]}}}`, true},
		{"notes.sort", `{"type":"object","properties":{"text":{"enum":["long"]}}}`, false},
		{"notes.sort", `{"type":"object","required":["images"]}`, false},
		{"notes.sort", `{"type":"object","properties":{"title":{}}}`, false},
		{"notes.sort", `{"type":"object","examples":[{"text":"a"}]}`, false},
		{"image.enhance", `{"type":"object","required":["images"]}`, true},
		{"image.enhance", `{"type":"object","required":["text"]}`, false},
		{"video.loop", `{"type":"object","required":["videos"]}`, true},
		{"audio.clean", `{"type":"object","required":["audio"]}`, true},
	} {
		shape, err := catalog.NewShape([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := shape.FitsUsual(tt.name, "short"); got != tt.want {
			t.Errorf("%s %s: got %t", tt.name, tt.schema, got)
		}
	}
}

// TestSamplesFit: of any schema a sample is made that fits, or none; and for most that are strict, one is.
func TestSamplesFit(t *testing.T) {
	made, drawn := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			schema := drawStrict(t, 3)
			shape, err := catalog.NewShape([]byte(text(schema)))
			if err != nil {
				t.Fatalf("%s: %v", text(schema), err)
			}
			drawn++
			got, _, err := shape.Sample("source", []string{"a text"})
			if err != nil {
				continue
			}
			made++
			verdict, err := catalog.Verdicts([]byte(text(schema)))
			if err != nil {
				t.Fatal(err)
			}
			if _, valid := verdict(got); !valid {
				t.Fatalf("%s of %s", got, text(schema))
			}
		}
	})
	if made*100 < drawn*95 {
		t.Errorf("of %d schemas only %d have a sample", drawn, made)
	}
}

// drawStrict draws the schema of an object as callers give it for an answer.
func drawStrict(t *rapid.T, depth int) map[string]any {
	properties := map[string]any{}
	for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(0, 3).Draw(t, "members")] {
		properties[name] = drawMember(t, depth-1)
	}
	names := []any{}
	for name := range properties {
		names = append(names, name)
	}
	return map[string]any{"type": "object", "properties": properties, "required": names, "additionalProperties": false}
}

func drawMember(t *rapid.T, depth int) map[string]any {
	low := rapid.IntRange(-5, 5).Draw(t, "low")
	most := 6
	if depth == 0 {
		most = 3
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return map[string]any{"type": "string", "minLength": low + 5, "maxLength": low + 7}
	case 1:
		return map[string]any{"type": []any{"integer", "null"}, "exclusiveMinimum": low, "maximum": low + 1}
	case 2:
		return map[string]any{"type": "number", "minimum": low, "exclusiveMaximum": low + 1, "multipleOf": 0.1}
	case 3:
		return map[string]any{"type": "string", "enum": []any{"x", "y"}}
	case 4:
		return map[string]any{"type": "array", "items": drawMember(t, depth-1), "minItems": low + 5, "maxItems": low + 5}
	case 5:
		return map[string]any{"anyOf": []any{drawMember(t, depth-1), map[string]any{"type": "null"}}}
	default:
		return drawStrict(t, depth)
	}
}

func TestSampleIsStable(t *testing.T) {
	entry := mustGet(t, "data.make", withOutput("data.make", invoice, ""))
	shape, err := catalog.NewShape(entry.OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	one, _, _ := shape.Sample("one", []string{"tea"})
	again, _, _ := shape.Sample("one", []string{"tea"})
	other, _, _ := shape.Sample("other", []string{"tea"})
	if diff := cmp.Diff(string(one), string(again)); diff != "" || string(one) == string(other) {
		t.Errorf("%s of another source; of one (-want +got):\n%s", other, diff)
	}
}
