package catalog_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

func mustDefault(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c, err := catalog.Default()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func mustDecode(tb testing.TB, body string) catalog.Request {
	tb.Helper()
	r, f := catalog.Decode([]byte(body), catalog.Limits{Depth: 64})
	if f != nil {
		tb.Fatalf("Decode(%s): %v", body, f)
	}
	return r
}

// details returns the rows of an error, or nil.
func details(f *fault.Error) []fault.Detail {
	if f == nil {
		return nil
	}
	return f.Details
}

func TestDirectory(t *testing.T) {
	type row struct {
		Name         catalog.Name
		Modality     string
		Mode         catalog.Mode
		Deadline     time.Duration
		PersonInputs []string
		MediaInputs  []string
		OutputMedia  []string
		OutputText   bool
	}
	want := []row{
		{Name: "audio.speech", Modality: "audio", Mode: catalog.Sync, Deadline: 5 * time.Minute, OutputMedia: []string{"audio"}},
		{Name: "audio.transcribe", Modality: "audio", Mode: catalog.Sync, Deadline: 5 * time.Minute, MediaInputs: []string{"/audio"}, OutputText: true},
		{
			Name: "image.background_remove", Modality: "image", Mode: catalog.Async, Deadline: 15 * time.Minute,
			PersonInputs: []string{"image"}, MediaInputs: []string{"/image", "/authorization/evidence/*"}, OutputMedia: []string{"image"},
		},
		{
			Name: "image.edit", Modality: "image", Mode: catalog.Async, Deadline: 15 * time.Minute,
			PersonInputs: []string{"images"}, MediaInputs: []string{"/images/*", "/mask", "/authorization/evidence/*"}, OutputMedia: []string{"image"},
		},
		{Name: "image.generate", Modality: "image", Mode: catalog.Async, Deadline: 15 * time.Minute, OutputMedia: []string{"image"}},
		{
			Name: "image.upscale", Modality: "image", Mode: catalog.Async, Deadline: 15 * time.Minute,
			PersonInputs: []string{"image"}, MediaInputs: []string{"/image", "/authorization/evidence/*"}, OutputMedia: []string{"image"},
		},
		{
			Name: "text.chat", Modality: "text", Mode: catalog.Sync, Deadline: 5 * time.Minute, OutputText: true,
			MediaInputs: []string{"/messages/*/content/*/image", "/messages/*/content/*/audio", "/messages/*/content/*/document"},
		},
		{Name: "text.embed", Modality: "text", Mode: catalog.Sync, Deadline: 5 * time.Minute},
		{Name: "text.moderate", Modality: "text", Mode: catalog.Sync, Deadline: 2 * time.Minute},
		{Name: "text.rerank", Modality: "text", Mode: catalog.Sync, Deadline: 2 * time.Minute},
		{
			Name: "video.extend", Modality: "video", Mode: catalog.Async, Deadline: time.Hour,
			PersonInputs: []string{"video"}, MediaInputs: []string{"/video", "/authorization/evidence/*"}, OutputMedia: []string{"video"},
		},
		{
			Name: "video.generate", Modality: "video", Mode: catalog.Async, Deadline: time.Hour,
			PersonInputs: []string{"image", "last_image", "reference_images"},
			MediaInputs:  []string{"/image", "/last_image", "/reference_images/*", "/authorization/evidence/*"}, OutputMedia: []string{"video"},
		},
	}
	var got []row
	for _, c := range mustDefault(t).All() {
		got = append(got, row{c.Name, c.Modality, c.Mode, c.Deadline, c.PersonInputs, c.MediaInputs, c.OutputMedia, c.OutputText})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("All() (-want +got):\n%s", diff)
	}
	for i, name := range []catalog.Name{
		catalog.AudioSpeech, catalog.AudioTranscribe, catalog.ImageBackgroundRemove, catalog.ImageEdit, catalog.ImageGenerate, catalog.ImageUpscale, catalog.TextChat, catalog.TextEmbed,
		catalog.TextModerate, catalog.TextRerank, catalog.VideoExtend, catalog.VideoGenerate,
	} {
		if i >= len(got) || got[i].Name != name {
			t.Errorf("the directory lacks %s", name)
		}
	}
}

func TestGet(t *testing.T) {
	c := mustDefault(t)
	for _, want := range c.All() {
		got, ok := c.Get(want.Name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("Get(%s) = %t (-want +got):\n%s", want.Name, ok, diff)
		}
	}
	if got, ok := c.Get("text.missing"); ok {
		t.Errorf("Get of an unknown name = %+v", got)
	}
}

func TestAllIsACopy(t *testing.T) {
	c := mustDefault(t)
	c.All()[0].Name = "spoiled"
	if got, want := c.All()[0].Name, catalog.Name("audio.speech"); got != want {
		t.Errorf("first name = %q, want %q", got, want)
	}
}

// TestDataFiles guards against an embedding without files.
func TestDataFiles(t *testing.T) {
	paths, err := fs.Glob(os.DirFS("data"), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"definitions.yaml"}
	for _, c := range mustDefault(t).All() {
		want = append(want, string(c.Name)+".yaml")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("data files (-capabilities +files):\n%s", diff)
	}
}

func TestExamplesWork(t *testing.T) {
	c := mustDefault(t)
	for _, entry := range c.All() {
		r := mustDecode(t, string(entry.Example))
		if r.Capability != entry.Name {
			t.Errorf("%s: example is of %q", entry.Name, r.Capability)
		}
		if f := c.Validate(r); f != nil {
			t.Errorf("%s: example: %v", entry.Name, f)
		}
		if f := entry.CheckAuthorization(r.Input); f != nil {
			t.Errorf("%s: example: %v", entry.Name, f)
		}
	}
}

// TestSchemasAreSelfContained validates every served schema against the metaschema of 2020-12, with a
// compiler that can't load other documents.
func TestSchemasAreSelfContained(t *testing.T) {
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range mustDefault(t).All() {
		for part, raw := range map[string]json.RawMessage{
			"input": c.InputSchema, "parameters": c.ParametersSchema, "output": c.OutputSchema,
		} {
			var doc any
			if err := json.Unmarshal(raw, &doc); err != nil {
				t.Fatalf("%s %s: %v", c.Name, part, err)
			}
			if err := meta.Validate(doc); err != nil {
				t.Errorf("%s %s: %v", c.Name, part, err)
			}
			if object := doc.(map[string]any); object["additionalProperties"] != false {
				t.Errorf("%s %s: additionalProperties isn't false", c.Name, part)
			}
			alone := jsonschema.NewCompiler()
			alone.UseLoader(jsonschema.SchemeURLLoader{})
			if err := alone.AddResource("test:schema", doc); err != nil {
				t.Fatal(err)
			}
			if _, err := alone.Compile("test:schema"); err != nil {
				t.Errorf("%s %s: %v", c.Name, part, err)
			}
		}
	}
}

// TestMembersAreDescribed requires the descriptions that forms and help show.
func TestMembersAreDescribed(t *testing.T) {
	for _, c := range mustDefault(t).All() {
		describe(t, string(c.Name), c.Fields())
	}
}

func describe(t *testing.T, path string, fields []catalog.Field) {
	t.Helper()
	if len(fields) == 0 {
		t.Errorf("%s: no fields", path)
	}
	for _, f := range fields {
		at := path + " " + f.Group + "." + f.Name
		if f.Description == "" || f.Type == "" {
			t.Errorf("%s: type %q, description %q", at, f.Type, f.Description)
		}
		if f.Type == "object" && !f.Media && !f.Schema {
			describe(t, at, f.Members)
		}
	}
}
