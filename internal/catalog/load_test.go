package catalog_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

const rewrite = `
definitions:
  tone: {type: string, description: How it sounds., enum: [calm, lively], default: calm}
capabilities:
  - name: text.rewrite
    title: Rewrite
    description: Says it again.
    modality: text
    mode: sync
    deadline: 30s
    person_inputs: [portrait]
    input:
      type: object
      properties:
        text: {$ref: '#/$defs/text', description: What to rewrite., maxLength: 10}
        portrait: {$ref: '#/$defs/image'}
        authorization: {$ref: '#/$defs/authorization'}
      required: [text]
      additionalProperties: false
    parameters:
      type: object
      properties:
        tone: {$ref: '#/$defs/tone'}
        strength: {type: number, multipleOf: 0.25, exclusiveMinimum: 0, exclusiveMaximum: 1}
      additionalProperties: false
    output:
      type: object
      properties: {text: {type: string}}
      required: [text]
    example:
      capability: text.rewrite
      input: {text: hello}
      parameters: {tone: lively}
`

func mustLoad(t *testing.T, overlays ...string) *catalog.Catalog {
	t.Helper()
	var raw [][]byte
	for _, o := range overlays {
		raw = append(raw, []byte(o))
	}
	c, err := catalog.Load(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// builtIns returns the number of built-in capabilities.
func builtIns(t *testing.T) int { return len(mustDefault(t).All()) }

// TestOverlayAddsACapability decodes, validates and fingerprints a request of a capability from YAML.
func TestOverlayAddsACapability(t *testing.T) {
	c := mustLoad(t, rewrite)
	got, ok := c.Get("text.rewrite")
	if !ok || len(c.All()) != builtIns(t)+1 {
		t.Fatalf("found %t among %d", ok, len(c.All()))
	}
	got.InputSchema, got.OutputSchema = nil, nil // read below
	want := catalog.Capability{
		Name: "text.rewrite", Title: "Rewrite", Description: "Says it again.", Modality: "text", Mode: catalog.Sync,
		ParametersSchema: json.RawMessage(`{"type":"object","properties":{"tone":{"$ref":"#/$defs/tone"},` +
			`"strength":{"type":"number","multipleOf":0.25,"exclusiveMinimum":0,"exclusiveMaximum":1}},"additionalProperties":false,` +
			`"$defs":{"tone":{"type":"string","description":"How it sounds.","enum":["calm","lively"],"default":"calm"}}}`),
		Example:        json.RawMessage(`{"capability":"text.rewrite","input":{"text":"hello"},"parameters":{"tone":"lively"}}`),
		PersonInputs:   []string{"portrait"},
		MediaInputs:    []string{"/portrait", "/authorization/evidence/*"},
		WordlessInputs: []string{"/authorization/person"},
		OutputText:     true,
		MediaKinds:     map[string]string{"/portrait": "image", "/authorization/evidence/*": "file"},
		Deadline:       30 * time.Second,
		Defaults:       map[string]json.RawMessage{"tone": json.RawMessage(`"calm"`)},
		Maxima:         map[string]float64{},
		Filled:         json.RawMessage(`{"tone":"calm"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	r := mustDecode(t, `{"capability":"text.rewrite","input":{"text":"much too long"},"parameters":{"tone":"loud","strength":0.3}}`)
	wantRows := []fault.Detail{
		{Field: "input.text", Message: "must have at most 10 characters"},
		{Field: "parameters.strength", Message: "must be a multiple of 0.25"},
		{Field: "parameters.tone", Message: "must be one of calm, lively"},
	}
	if diff := cmp.Diff(wantRows, details(c.Validate(r))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	r = mustDecode(t, `{"capability":"text.rewrite","input":{"text":"hi","portrait":`+imageURL+`}}`)
	if f := c.Validate(r); f != nil {
		t.Error(f)
	}
	if f := want.CheckAuthorization(r.Input); f == nil || f.Code != fault.AuthorizationRequired {
		t.Errorf("got %v, want AUTHORIZATION_REQUIRED", f)
	}
	if err := c.ValidateOutput("text.rewrite", json.RawMessage(`{}`)); err == nil {
		t.Error("an empty output was accepted")
	}
}

func TestLaterOverlayReplaces(t *testing.T) {
	c := mustLoad(t, rewrite, strings.Replace(rewrite, "title: Rewrite", "title: Again", 1))
	if got, _ := c.Get("text.rewrite"); got.Title != "Again" || len(c.All()) != builtIns(t)+1 {
		t.Errorf("title %q among %d", got.Title, len(c.All()))
	}
}

// TestAliases loads an overlay with YAML anchors and aliases.
func TestAliases(t *testing.T) {
	overlay := strings.Replace(rewrite, "deadline: 30s", "deadline: &d 30s", 1)
	overlay = strings.Replace(overlay, "output:\n      type: object\n      properties: {text: {type: string}}",
		"output:\n      type: object\n      properties: {text: &t {type: string}, more: *t}", 1)
	got, _ := mustLoad(t, overlay).Get("text.rewrite")
	want := `{"type":"object","properties":{"text":{"type":"string"},"more":{"type":"string"}},"required":["text"]}`
	if diff := cmp.Diff(want, string(got.OutputSchema)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOverlayReplacesADefinition narrows a shared part, which reaches the built-in capabilities.
func TestOverlayReplacesADefinition(t *testing.T) {
	c := mustLoad(t, "definitions:\n  image_count: {type: integer, description: Just one., minimum: 1, maximum: 1}\n")
	r := mustDecode(t, `{"capability":"image.generate","input":{"prompt":"a"},"parameters":{"n":2}}`)
	want := []fault.Detail{{Field: "parameters.n", Message: "must be at most 1"}}
	if diff := cmp.Diff(want, details(c.Validate(r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEmptyOverlay(t *testing.T) {
	for _, overlay := range []string{"", "# nothing\n", "capabilities: []\n"} {
		if got := len(mustLoad(t, overlay).All()); got != builtIns(t) {
			t.Errorf("%q: %d capabilities", overlay, got)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	swap := func(old, with string) string {
		if !strings.Contains(rewrite, old) {
			t.Fatalf("%q isn't in the overlay", old)
		}
		return strings.Replace(rewrite, old, with, 1)
	}
	for _, tt := range []struct{ name, overlay, want string }{
		{"syntax", "capabilities: [", "line 1: "},
		{"unknown member", swap("    title:", "    titel:"), `line 6: unknown field "titel"`},
		{"duplicate member", swap("    title: Rewrite", "    title: Rewrite\n    title: Again"), "line 7: "},
		{"wrong type", swap("deadline: 30s", "deadline: [soon]"), "line 10: "},
		{"no name", "capabilities:\n  - title: a\n", "capability 1 has no name"},
		{"twice", rewrite + rewrite[strings.Index(rewrite, "  - name"):], `line 34: capability "text.rewrite" is on line 5 too`},
		{"bad name", swap("name: text.rewrite", "name: Rewrite"), "line 5: Rewrite: the name must be dotted lower-case words"},
		{"no title", swap("title: Rewrite", "title: ''"), "line 5: text.rewrite: title and description are required"},
		{"bad modality", swap("modality: text", "modality: Text"), "modality must be"},
		{"bad mode", swap("mode: sync", "mode: later"), "mode must be sync or async"},
		{"no deadline", swap("    deadline: 30s\n", ""), "deadline must be a positive duration"},
		{"bad deadline", swap("deadline: 30s", "deadline: soon"), "deadline must be a positive duration"},
		{"no schema", swap("    output:", "    # output:\n    x:"), `unknown field "x"`},
		{"not a schema", swap("type: number, multipleOf: 0.25", "type: numeral"), "line 21: text.rewrite: parameters: not a JSON Schema: properties.strength.type must be one of array, "},
		{"not an object", swap("    output:\n      type: object", "    output:\n      type: array"), "line 27: text.rewrite: output: the schema's type must be object"},
		{"unknown definition", swap("#/$defs/tone", "#/$defs/tune"), `line 21: text.rewrite: parameters: $ref "#/$defs/tune": there is no such definition`},
		{"foreign reference", swap("#/$defs/tone", "https://example.com/tone"), `$ref "https://example.com/tone" must have the form #/$defs/NAME`},
		{"relative reference", swap("'#/$defs/tone'", "tone"), `$ref "tone" must have the form #/$defs/NAME`},
		{"file reference", swap("'#/$defs/tone'", "'file:///etc/passwd'"), "must have the form"},
		{"bad definition", "definitions:\n  text: [a]\n", `line 2: definition "text": a schema must be an object`},
		{"a text cut at its comma", swap("type: number, multipleOf: 0.25", "type: number, description: From 0, the weakest"), `line 21: text.rewrite: parameters: "the weakest" has no value; a text with a comma takes quotes`},
		{"bad pattern", swap("enum: [calm, lively]", "pattern: '('"), "parameters: not a JSON Schema: $defs.tone.pattern must be a valid regex"},
		{"person without member", swap("person_inputs: [portrait]", "person_inputs: [face]"), `line 13: text.rewrite: person input "face"`},
		{"person without authorization", swap("        authorization: {$ref: '#/$defs/authorization'}\n", ""), `person input "portrait"`},
		{"example of another", swap("capability: text.rewrite", "capability: text.chat"), `line 31: text.rewrite: example: its capability must be "text.rewrite"`},
		{"example that fails", swap("tone: lively", "tone: loud"), "line 31: text.rewrite: example: INVALID_REQUEST: parameters.tone must be one of calm, lively"},
		{"example without authorization", swap("{text: hello}", "{text: hello, portrait: {url: 'https://example.com'}}"), "example: AUTHORIZATION_REQUIRED"},
		{"array as a key", swap("properties: {text: {type: string}}", "properties: {[a]: {type: string}}"), "line 28: "},
		{"infinity", swap("exclusiveMaximum: 1", "exclusiveMaximum: .inf"), "line 21: no JSON for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := catalog.Load([]byte(rewrite), []byte(tt.overlay))
			if err == nil {
				t.Fatal("accepted")
			}
			if got := err.Error(); !strings.HasPrefix(got, "catalog overlay 2: ") || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// FuzzLoad checks that an overlay is refused with an error, or that each of its capabilities works.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(rewrite))
	f.Add([]byte("definitions: {text: true}"))
	f.Add([]byte("capabilities: [&a {name: *a}]"))
	f.Fuzz(func(t *testing.T, overlay []byte) {
		c, err := catalog.Load(overlay)
		if err != nil {
			if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.Internal {
				t.Fatal(err)
			}
			return
		}
		for _, entry := range c.All() {
			if f := c.Validate(mustDecode(t, string(entry.Example))); f != nil {
				t.Fatalf("%s: %v", entry.Name, f)
			}
		}
	})
}
