package catalog_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

const tiers = `capabilities:
  - name: text.chat.large
    extends: text.chat
    title: Chat with a large model
    description: For hard questions.
    deadline: 10m
    input: {properties: {messages: null, system: {description: Who answers., maxLength: 100}}, oneOf: [{required: [prompt]}]}
    parameters:
      properties:
        max_output_tokens: {maximum: 4096, default: 2048}
        seed: null
  - name: image.generate.fast
    extends: image.generate
    title: Make an image fast
    description: One image at a time.
    mode: sync
    parameters: {properties: {n: {maximum: 1}, format: {enum: [png]}}}
    example:
      capability: image.generate.fast
      input: {prompt: a fox}
  - name: video.generate.still
    extends: video.generate
    title: Make a video of a text
    description: Without images of others.
    input: {properties: {image: null, last_image: null}}
`

// mustGet returns a capability of the built-in directory with the overlays.
func mustGet(t *testing.T, name catalog.Name, overlays ...string) catalog.Capability {
	t.Helper()
	c, ok := mustLoad(t, overlays...).Get(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return c
}

// TestTier compares two tiers with the capabilities that they extend, member by member.
func TestTier(t *testing.T) {
	want := mustGet(t, "text.chat")
	want.Name, want.Extends, want.Title, want.Description = "text.chat.large", "text.chat", "Chat with a large model", "For hard questions."
	want.Deadline = 10 * time.Minute
	want.Example = json.RawMessage(`{"capability":"text.chat.large","input":{"prompt":"Say hello in three languages."},"parameters":{"max_output_tokens":200}}`)
	want.Defaults = map[string]json.RawMessage{"max_output_tokens": json.RawMessage(`2048`)}
	want.Filled = json.RawMessage(`{"max_output_tokens":2048}`)
	want.WordlessInputs, want.MediaInputs, want.MediaKinds = nil, nil, map[string]string{} // of messages, which it has none of
	want.Maxima = maps.Clone(want.Maxima)
	want.Maxima["max_output_tokens"] = 4096
	delete(want.Maxima, "seed")
	got := mustGet(t, "text.chat.large", tiers)
	want.InputSchema, want.ParametersSchema = got.InputSchema, got.ParametersSchema // whose effect is tested below
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	want = mustGet(t, "image.generate")
	want.Name, want.Extends, want.Title, want.Description = "image.generate.fast", "image.generate", "Make an image fast", "One image at a time."
	want.Mode = catalog.Sync
	want.Maxima = maps.Clone(want.Maxima)
	want.Maxima["n"] = 1
	want.Example = json.RawMessage(`{"capability":"image.generate.fast","input":{"prompt":"a fox"}}`)
	got = mustGet(t, "image.generate.fast", tiers)
	want.ParametersSchema = got.ParametersSchema
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	still := mustGet(t, "video.generate.still", tiers)
	if diff := cmp.Diff([]string{"reference_images"}, still.PersonInputs); diff != "" {
		t.Errorf("inputs that may show a person (-want +got):\n%s", diff)
	}
	for name, base := range map[catalog.Name]catalog.Name{"text.chat.large": "text.chat", "text.chat": "text.chat", "text.odd": "text.odd"} {
		if got := mustLoad(t, tiers).Base(name); got != base {
			t.Errorf("the base of %s: got %s, want %s", name, got, base)
		}
	}
}

// TestTierValidates: a request is judged by the narrower schema, in the words of any other.
func TestTierValidates(t *testing.T) {
	c := mustLoad(t, tiers)
	for _, tt := range []struct {
		name, body string
		want       []fault.Detail
	}{
		{"as its base takes it", `{"capability":"text.chat.large","input":{"prompt":"a"},"parameters":{"max_output_tokens":4096}}`, nil},
		{"above the bound", `{"capability":"text.chat.large","input":{"prompt":"a"},"parameters":{"max_output_tokens":4097}}`, []fault.Detail{
			{Field: "parameters.max_output_tokens", Message: "must be at most 4096"},
		}},
		{"removed members", `{"capability":"text.chat.large","input":{"messages":[]},"parameters":{"seed":1}}`, []fault.Detail{
			{Field: "input.messages", Message: "is not a known member"},
			{Field: "input.prompt", Message: "is required"},
			{Field: "parameters.seed", Message: "is not a known member"},
		}},
		{"beside a reference", `{"capability":"image.generate.fast","input":{"prompt":"a"},"parameters":{"n":2,"format":"webp"}}`, []fault.Detail{
			{Field: "parameters.format", Message: "must be one of png"},
			{Field: "parameters.n", Message: "must be at most 1"},
		}},
		{"an untouched member", `{"capability":"image.generate.fast","input":{"prompt":"a"},"parameters":{"quality":"best"}}`, []fault.Detail{
			{Field: "parameters.quality", Message: "must be one of low, medium, high"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, details(c.Validate(mustDecode(t, tt.body)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, f := range mustGet(t, "image.generate.fast", tiers).Fields() {
		if f.Name == "n" && (f.Maximum == nil || *f.Maximum != 1) || f.Name == "format" && len(f.Enum) != 1 {
			t.Errorf("a form has the bounds of the base: %+v", f)
		}
	}
}

// TestTierOfAnOverlay has a tier of a capability that a later file replaces, and one that a later file makes its own.
func TestTierOfAnOverlay(t *testing.T) {
	tier := "capabilities:\n  - {name: text.rewrite.calm, extends: text.rewrite, title: a, description: b, parameters: {properties: {tone: {enum: [calm]}}}, " +
		"example: {capability: text.rewrite.calm, input: {text: hello}}}\n"
	longer := strings.Replace(rewrite, "maxLength: 10", "maxLength: 20", 1)
	c := mustLoad(t, tier, rewrite, longer)
	if f := c.Validate(mustDecode(t, `{"capability":"text.rewrite.calm","input":{"text":"fifteen letters"}}`)); f != nil {
		t.Errorf("it isn't the last file's capability that is extended: %v", f)
	}
	c = mustLoad(t, tier, rewrite, strings.ReplaceAll(rewrite, "text.rewrite", "text.rewrite.calm"))
	if got, _ := c.Get("text.rewrite.calm"); got.Extends != "" {
		t.Errorf("replaced, it still extends %s", got.Extends)
	}
}

func TestTierRefused(t *testing.T) {
	const head = "capabilities:\n  - name: text.chat.large\n    extends: text.chat\n    title: a\n    description: b\n    "
	for _, tt := range []struct{ name, overlay, want string }{
		{
			"unknown base", strings.Replace(head, "extends: text.chat", "extends: text.caht", 1),
			`line 3: text.chat.large: extends "text.caht", which is no capability; text.chat is one`,
		},
		{"unlike any", strings.Replace(head, "extends: text.chat", "extends: music.compose", 1), `extends "music.compose", which is no capability`},
		{"itself", strings.Replace(head, "extends: text.chat", "extends: text.chat.large", 1), "line 3: text.chat.large: extends itself; name another capability"},
		{
			"circle", "capabilities:\n  - {name: a.a, extends: b.b}\n  - {name: b.b, extends: a.a}\n",
			"line 2: a.a: extends b.b, which extends a.a itself (tiers.yaml, line 3); name a capability that extends none",
		},
		{
			"chain", tiers + "  - {name: text.chat.huge, extends: text.chat.large}\n",
			"line 26: text.chat.huge: extends text.chat.large, which extends text.chat itself (tiers.yaml, line 3); name",
		},
		{
			"a fault of the base", "capabilities:\n  - {name: a.a, extends: z.z, title: a, description: b}\n  - {name: z.z}\n",
			"line 3: z.z: title and description are required",
		},
		{"no title", strings.Replace(head, "title: a", "title: ''", 1), "title and description are required"},
		{"modality", head + "modality: image\n", "line 2: text.chat.large: modality must be that of text.chat, or be left out"},
		{
			"a new member", head + "parameters: {properties: {style: {type: string}}}\n",
			"line 6: text.chat.large: parameters: properties.style is new; a tier only narrows text.chat",
		},
		{
			"a higher bound", head + "parameters: {properties: {max_output_tokens: {maximum: 999999}}}\n",
			"parameters: properties.max_output_tokens.maximum is above the former 262144; a tier only narrows text.chat",
		},
		{"both of a choice", head + "input: {oneOf: [{required: [prompt]}]}\n", "input: oneOf must keep the branch of messages, which is a member; a tier"},
		{"no object", head + "parameters: 5\n", "line 6: text.chat.large: parameters: a schema must be an object; a tier"},
		{
			"example", head + "parameters: {properties: {max_output_tokens: {maximum: 100, default: 100}}}\n",
			"line 2: text.chat.large: the example of text.chat doesn't fit: INVALID_REQUEST: parameters.max_output_tokens must be at most 100; write an example",
		},
		{"example of its own", head + "example: {capability: text.chat.large, input: {}}\n", "line 6: text.chat.large: example: INVALID_REQUEST: input.prompt is required"},
		{
			"default", head + "parameters: {properties: {max_output_tokens: {maximum: 1000}}}\n",
			"parameters: the default of max_output_tokens doesn't fit: INVALID_REQUEST: parameters.max_output_tokens must be at most 1000; write another default",
		},
		{
			"person", "capabilities:\n  - {name: image.edit.free, extends: image.edit, title: a, description: b, person_inputs: []}\n",
			"image.edit.free: person_inputs must go on to list images, as image.edit does",
		},
		{
			"media", "capabilities:\n  - {name: image.edit.free, extends: image.edit, title: a, description: b, input: {properties: {mask: {x-media: file}}}}\n",
			"input: properties.mask.x-media can't be added",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := catalog.LoadFiles(catalog.File{Name: "tiers.yaml", Text: []byte(tt.overlay)})
			if err == nil {
				t.Fatal("accepted")
			}
			if got := err.Error(); !strings.HasPrefix(got, "tiers.yaml: line ") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// TestTierIsFilledAsItsBase: a text model's results are texts, whatever output an overlay gives the capability.
func TestTierIsFilledAsItsBase(t *testing.T) {
	overlay := strings.ReplaceAll(rewrite, "text.rewrite", "text.chat")
	overlay = strings.Replace(overlay, "properties: {text: {type: string}}\n      required: [text]", "properties: {images: {type: array}}\n      required: [images]", 1)
	overlay += "  - {name: text.chat.large, extends: text.chat, title: a, description: b}\n"
	for _, name := range []catalog.Name{"text.chat", "text.chat.large"} {
		if entry := mustGet(t, name, overlay); entry.Unfillable() == "" {
			t.Errorf("%s can be filled: %s", name, entry.OutputSchema)
		}
	}
}
