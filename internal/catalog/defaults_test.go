package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
)

func TestFillDefaults(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        catalog.Name
		given, want string
	}{
		{"text.chat", `{}`, `{"max_output_tokens":1024}`},
		{"text.chat", `{"max_output_tokens":7,"seed":1}`, `{"max_output_tokens":7,"seed":1}`},
		{"text.embed", `{}`, `{}`},
		{"video.extend", `{}`, `{"duration_seconds":7}`},
		{"image.background_remove", `{}`, `{}`},
		{"image.upscale", `{}`, `{"factor":2,"format":"png"}`},
		{"text.moderate", `{}`, `{}`},
		{"text.rerank", `{}`, `{}`},
		{"image.generate", `{"n":2}`, `{"format":"png","n":2}`},
		{"video.generate", `{"resolution":"4k"}`, `{"aspect_ratio":"16:9","duration_seconds":4,"resolution":"4k"}`},
		{"audio.speech", `{}`, `{"format":"wav","speed":1}`},
	} {
		entry, ok := directory.Get(tt.name)
		if !ok {
			t.Fatalf("no %s", tt.name)
		}
		got := entry.FillDefaults(json.RawMessage(tt.given))
		if string(got) != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.name, tt.given, got, tt.want)
		}
		if f := directory.Validate(catalog.Request{Capability: tt.name, Input: exampleInput(t, entry), Parameters: got}); f != nil {
			t.Errorf("%s: the filled parameters are refused: %v", tt.name, f)
		}
	}
}

func exampleInput(t *testing.T, c catalog.Capability) json.RawMessage {
	t.Helper()
	r, f := catalog.Decode(c.Example, catalog.Limits{})
	if f != nil {
		t.Fatal(f)
	}
	return r.Input
}

// TestMaxima: the largest numbers of a request come from both of its schemas.
func TestMaxima(t *testing.T) {
	directory, err := catalog.Load([]byte(`
capabilities:
  - name: document.parse
    title: Parse
    description: Reads a document.
    modality: text
    mode: sync
    deadline: 30s
    input:
      type: object
      properties:
        text: {type: string}
        max_pages: {type: integer, maximum: 50}
        shares: {type: array, items: {type: number, maximum: 1}}
    parameters:
      type: object
      properties:
        max_searches: {type: integer, maximum: 3}
        effort: {type: number, minimum: 2}
    output: {type: object, properties: {text: {type: string}}}
    example: {capability: document.parse, input: {text: hello}}
`))
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := directory.Get("document.parse")
	if diff := cmp.Diff(map[string]float64{"max_pages": 50, "max_searches": 3}, entry.Maxima); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
