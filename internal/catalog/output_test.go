package catalog_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"unitask/internal/catalog"
)

// outputs returns a directory with one more capability, of this output schema.
func outputs(t *testing.T, name, schema string) *catalog.Catalog {
	t.Helper()
	return mustLoad(t, `capabilities:
  - name: `+name+`
    title: A
    description: B.
    modality: text
    mode: sync
    deadline: 5m
    input: {type: object, additionalProperties: false, properties: {prompt: {type: string}}}
    parameters: {type: object, additionalProperties: false}
    output: `+schema+`
    example: {capability: `+name+`, input: {prompt: hello}}
`)
}

// TestCheckOutput validates outputs in parts: those that don't need JSON have the general road's result, and the
// others call JSON.
func TestCheckOutput(t *testing.T) {
	type parts struct {
		text, finish string // "-" if absent
		vectors      [][]float32
	}
	const no = "-"
	for _, tt := range []struct {
		name, capability, schema string
		output                   parts
		json                     bool // is called
		want                     string
	}{
		{"a text", "text.chat", "", parts{"a\n\"\xff", "stop", nil}, false, ""},
		{"an empty text", "text.chat", "", parts{"", "length", nil}, false, ""},
		{"no reason", "text.chat", "", parts{"a", "", nil}, true, "output.finish_reason is required"},
		{"another reason", "text.chat", "", parts{"a", "tired", nil}, true, "output.finish_reason must be one of stop, length, tool_calls, content_filter"},
		{"no text", "text.chat", "", parts{no, "stop", nil}, true, "output.text is required"},
		{"vectors for a text", "text.chat", "", parts{no, "", [][]float32{{1}}}, true, "is not a known member"},
		{"vectors", "text.embed", "", parts{no, "", [][]float32{{1, -2.5}, {0}}}, false, ""},
		{"an empty vector", "text.embed", "", parts{no, "", [][]float32{{1}, {}}}, true, "output.embeddings.1 must not be empty"},
		{"no number", "text.embed", "", parts{no, "", [][]float32{{1, float32(math.NaN())}}}, false, "no number"},
		{"an infinite number", "text.embed", "", parts{no, "", [][]float32{{float32(math.Inf(-1))}}}, false, "no number"},
		{"a transcript", "audio.transcribe", "", parts{"a", "stop", nil}, false, ""},
		{"a member that no result has", "text.odd", "{type: object, required: [data], properties: {data: {type: string}}}", parts{"a", "stop", nil}, true, "output.data is required"},
		{"a short text", "text.odd", "{type: object, required: [text], properties: {text: {type: string, minLength: 2}}}", parts{"a", "", nil}, true, "output.text must have at least 2 characters"},
		{"a text long enough", "text.odd", "{type: object, required: [text], properties: {text: {type: string, minLength: 2}}}", parts{"ab", "", nil}, true, ""},
		{"a text that matches", "text.odd", "{type: object, properties: {text: {type: string, pattern: '^a'}}}", parts{"b", "", nil}, true, "output.text must match the pattern ^a"},
		{"whole numbers", "text.odd", "{type: object, properties: {embeddings: {type: array, items: {type: array, items: {type: integer}}}}}", parts{no, "", [][]float32{{1.5}}}, true, "must be an integer"},
		{"an open schema", "text.odd", "{type: object}", parts{"a", "stop", nil}, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mustDefault(t)
			if tt.schema != "" {
				c = outputs(t, tt.capability, tt.schema)
			}
			asked := false
			o := catalog.Output{FinishReason: tt.output.finish, Embeddings: tt.output.vectors}
			members := map[string]any{}
			if tt.output.text != no {
				o.Text, members["text"] = &tt.output.text, tt.output.text
			}
			if o.FinishReason != "" {
				members["finish_reason"] = o.FinishReason
			}
			if o.Embeddings != nil {
				members["embeddings"] = o.Embeddings
			}
			o.JSON = func() (json.RawMessage, error) { asked = true; return json.Marshal(members) }
			err := c.CheckOutput(catalog.Name(tt.capability), o)
			if (err == nil) != (tt.want == "") || (err != nil && !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if asked != tt.json {
				t.Errorf("JSON was made: %v, want %v", asked, tt.json)
			}
		})
	}
}

// TestUnfillable names the schemas that no supplier's result can fit.
func TestUnfillable(t *testing.T) {
	c := mustDefault(t)
	for _, e := range c.All() {
		if problem := e.Unfillable(); problem != "" {
			t.Errorf("%s %s", e.Name, problem)
		}
	}
	const data = "{type: object, additionalProperties: false, required: [data], properties: {data: {type: string}}}"
	for _, tt := range []struct{ name, schema, want string }{
		{"text.odd", data, "asks for data, which no result fills"},
		{"text.chat", data, "asks for data, which no result fills"},
		{"text.odd", "{type: object, required: [text, data], properties: {text: {type: string}, data: {type: string}}}", "asks for data, which no result fills"},
		{"text.odd", "{type: object, required: [images, text]}", "asks for images, which no result fills"},
		{"text.odd", "{type: object, additionalProperties: false, properties: {answer: {type: string}}}", "has no text, which every result fills"},
		{"text.chat", "{type: object, required: [images], properties: {images: {type: array}}}", "asks for images, which no result fills"},
		{"text.odd", "{type: object, required: [results], properties: {results: {type: array}}}", "asks for results, which no result fills"},
		{"text.rerank", "{type: object, required: [results], properties: {results: {type: array}}}", ""},
		{"text.odd", "{type: object, required: [images], properties: {images: {type: array}}}", ""},
		{"text.odd", "{type: object, required: [text], properties: {text: {type: string}}}", ""},
		{"text.odd", "{type: object}", ""},
	} {
		e, _ := outputs(t, tt.name, tt.schema).Get(catalog.Name(tt.name))
		if got := e.Unfillable(); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.schema, got, tt.want)
		}
	}
}

// BenchmarkCheckChat measures the check of a synchronous task's output.
func BenchmarkCheckChat(b *testing.B) {
	c := mustDefault(b)
	text := strings.Repeat("a word ", 200)
	b.ReportAllocs()
	for b.Loop() {
		o := catalog.Output{Text: &text, FinishReason: "stop", JSON: func() (json.RawMessage, error) { panic("is needed") }}
		if err := c.CheckOutput("text.chat", o); err != nil {
			b.Fatal(err)
		}
	}
}
