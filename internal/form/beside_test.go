package form_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

// TestBeside: a chat's form has files, which are of the kinds that its messages take, and no other form has.
func TestBeside(t *testing.T) {
	var with []string
	for _, c := range mustDefault(t).All() {
		e, ok := form.Beside(c.Fields())
		if !ok {
			continue
		}
		with = append(with, string(c.Name))
		all := append(form.Entries(c.Fields()), e)
		slices.Reverse(all)
		for field, want := range map[string]string{"input.messages.files.0": e.Wire(), "input.messages": "input.messages", "input.messages.1": "input.messages"} {
			if i := form.About(all, field); i < 0 || all[i].Wire() != want {
				t.Errorf("%s is beside entry %d, want %s", field, i, want)
			}
			slices.Reverse(all)
		}
		if diff := cmp.Diff([]string{"image", "audio", "document"}, e.Kinds); diff != "" || e.Wire() != "input.messages.files" {
			t.Errorf("%s (-want +got):\n%s", e.Wire(), diff)
		}
	}
	if diff := cmp.Diff([]string{"text.chat"}, with); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAttach: files stand after the prompt or at the end of the last message, which stays as it is written; and a
// detail about a part belongs to the file or the words that it was made of.
func TestAttach(t *testing.T) {
	type about map[string]string
	for name, tt := range map[string]struct {
		prompt   any
		messages any
		want     string
		about    about
	}{
		"a prompt": {
			"What?", nil,
			`{"messages":[{"content":[{"text":"What?","type":"text"},"A","B"],"role":"user"}]}`,
			about{
				"input.messages.0.content.0.text": "input.prompt", "input.messages.0": "input.prompt", "input.system": "input.system",
				"input.messages.0.content.1.image.data": "input.messages.files.0.image.data", "input.messages.0.content.2": "input.messages.files.1",
				"input.messages.10.content.2": "input.prompt", "input.messagesx": "input.messagesx",
			},
		},
		"alone": {
			nil, nil, `{"messages":[{"content":["A","B"],"role":"user"}]}`,
			about{"input.messages": "input.messages.files", "input.messages.0.content.0": "input.messages.files.0"},
		},
		"rows": {
			nil,
			[]any{map[string]any{"role": "assistant", "content": "x"}, map[string]any{"role": "user"}},
			`{"messages":[{"content":"x","role":"assistant"},{"content":["A","B"],"role":"user"}]}`,
			about{"input.messages.0.content": "input.messages.0.content", "input.messages.1.content.1": "input.messages.files.1"},
		},
		"JSON with a text": {
			nil, json.RawMessage(`[{"role":"user","n":12345678901234567890},{"content":"Hä?","role":"user"}]`),
			`{"messages":[{"role":"user","n":12345678901234567890},{"content":[{"text":"Hä?","type":"text"},"A","B"],"role":"user"}]}`,
			about{"input.messages.1.content.0.text": "input.messages.1.content.0.text", "input.messages.1.content.2.x": "input.messages.files.1.x"},
		},
		"JSON with parts": {
			nil, json.RawMessage(`[{"role":"user","content":[{"n":12345678901234567890}]}]`),
			`{"messages":[{"content":[{"n":12345678901234567890},"A","B"],"role":"user"}]}`,
			about{"input.messages.0.content.0": "input.messages.0.content.0", "input.messages.0.content.1": "input.messages.files.0"},
		},
		"JSON without content": {
			nil, json.RawMessage(`[{"role":"user","content":null}]`), `{"messages":[{"content":["A","B"],"role":"user"}]}`, nil,
		},
		"no list":      {nil, json.RawMessage(`{"role":"user"}`), "", nil},
		"an empty one": {nil, json.RawMessage(`[]`), "", nil},
		"no message":   {nil, json.RawMessage(`[{},null]`), "", nil},
		"words":        {nil, json.RawMessage(`["hi"]`), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := form.Values{}
			if tt.prompt != nil {
				v.Put(catalog.GroupInput, []string{"prompt"}, tt.prompt)
			}
			if tt.messages != nil {
				v.Put(catalog.GroupInput, []string{"messages"}, tt.messages)
			}
			at, err := v.Attach("messages", "prompt", []any{"A", "B"})
			if (err != nil) != (tt.want == "") {
				t.Fatalf("got %v", err)
			}
			if req, _ := v.Request("text.chat"); tt.want != "" && string(req.Input) != tt.want {
				t.Errorf("got  %s\nwant %s", req.Input, tt.want)
			}
			for field, want := range tt.about {
				if got := at.Entered(field); got != want {
					t.Errorf("%s is about %s, want %s", field, got, want)
				}
			}
		})
	}
}

// TestSuits: a picker shows a file exactly if the service takes its type.
func TestSuits(t *testing.T) {
	for content, want := range map[string][]string{
		pixel:                  {"image", "file"},
		"GIF89a\x01\x00":       {"file"},
		"%PDF-1.7":             {"document", "file"},
		"# words\n":            {"document", "file"},
		"fLaC\x00\x00\x00\x22": {"audio", "file"},
		"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom": {"audio", "video", "file"},
		"PK\x03\x04":         {"file"},
		`[{"name": "a"}]`:    {"JSON", "file"},
		`{"type": "object"}`: {"JSON", "file"},
	} {
		var got []string
		for _, kind := range []string{"image", "audio", "video", "document", "JSON", "file"} {
			if form.Suits([]string{kind}, form.TypeOf([]byte(content))) {
				got = append(got, kind)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q, %s (-want +got):\n%s", content, form.TypeOf([]byte(content)), diff)
		}
	}
	if form.Suits(nil, "image/png") || !form.Suits([]string{"audio", "image"}, "image/png") {
		t.Error("not every kind is looked at")
	}
}

func TestReadJSON(t *testing.T) {
	for entered, want := range map[string]string{
		` {"a": 1.50}` + "\n": "",
		"[1":                  "must be JSON: it ends too early",
		"[{\n \"ä\": 1,}]":    `must be JSON: line 2, column 9, invalid character '}' at start of string (expecting '"')`,
		"{\"a\":1,\n\"a\":2}": `must be JSON: line 2, column 1, "a" stands there twice`,
		"nope":                "must be JSON: line 1, column 2, invalid character 'o' in literal null (expecting 'u')",
		"{} {}":               "must be one JSON value",
		"[] x":                "must be JSON: line 1, column 4, invalid character 'x' at start of value",
	} {
		raw, err := form.ReadJSON(entered)
		switch {
		case want == "" && (err != nil || string(raw) != entered):
			t.Errorf("%s: got %s, %v", entered, raw, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got %v\nwant %s", entered, err, want)
		}
	}
}

// TestMissing: an object that may be left out asks for its members once one of them is there, at every depth.
func TestMissing(t *testing.T) {
	fields, err := catalog.FieldsOf([]byte(`{"properties":{"a":{"type":"object","properties":{
		"b":{"type":"object","properties":{"c":{"type":"string"},"d":{"type":"string"}},"required":["c"]},
		"e":{"type":"object","properties":{"f":{"type":"string"}},"required":["f"]},
		"g":{"type":"string"}
	},"required":["e"]}}}`), []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"": "", "a.g": "input.a.e.f", "a.b.d": "input.a.b.c input.a.e.f", "a.e.f": "", "a.b.c": "input.a.e.f"} {
		here, got := map[string]bool{}, ""
		all := form.Entries(fields)
		for _, e := range all {
			if e.Name() == given {
				e.Here(here)
			}
		}
		for _, e := range all {
			if e.Missing(here) {
				got += " " + e.Wire()
			}
		}
		if len(got) > 0 {
			got = got[1:]
		}
		if got != want {
			t.Errorf("with %s: missing %q, want %q", given, got, want)
		}
	}
}
