package form_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

// again is a request that was shown in a form and is made from it again.
func again(t testing.TB, c catalog.Capability, texts map[string][]string, rest map[string]any) json.RawMessage {
	t.Helper()
	raw, err := form.Join(body(t, c, form.Posted{Texts: texts}), rest)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoded(t testing.TB, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return value
}

// TestShowExamples: a form shows the example of its capability whole, but for the bytes of media.
func TestShowExamples(t *testing.T) {
	all := mustDefault(t).All()
	if len(all) == 0 {
		t.Fatal("no capabilities")
	}
	for _, c := range all {
		texts, rest, err := form.Show(c.Fields(), c.Example)
		var media []string
		for _, e := range form.Entries(c.Fields()) {
			if e.Field.Media && e.Field.Required && !e.Within {
				media = append(media, e.Wire())
			}
		}
		for _, name := range form.Names(rest) {
			if !slices.ContainsFunc(media, func(m string) bool { return name == m || strings.HasPrefix(name, m+".") }) {
				t.Errorf("%s: %s is not shown", c.Name, name)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if diff := cmp.Diff(decoded(t, c.Example), decoded(t, again(t, c, texts, rest))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
	}
}

// TestShow: what a form can't show is the rest of a request, by name, and no value of it is lost or changed.
func TestShow(t *testing.T) {
	type texts = map[string][]string
	for name, tt := range map[string]struct {
		capability, request string
		texts               texts
		rest                []string
	}{
		"every kind": {
			"text.chat", `{"capability":"text.chat","input":{"prompt":"one\ntwo <b>"},"parameters":{"seed":12345678901234567890,"temperature":0.70,"stop":["a","b"],` +
				`"web_search":true,"tools":[{"name":"x","n":1.0}]}}`,
			texts{
				"input.prompt": {"one\ntwo <b>"}, "parameters.seed": {"12345678901234567890"}, "parameters.temperature": {"0.70"},
				"parameters.stop": {"a\nb"}, "parameters.web_search": {"true"}, "parameters.tools": {`[{"n":1.0,"name":"x"}]`},
			},
			nil,
		},
		"what no field has": {
			"text.chat", `{"capability":"text.chat","input":{"prompt":"x","mood":"blue"},"parameters":{"depth":{"a":[1],"b":{}}},"metadata":{"team":"search"},"wait":5}`,
			texts{"input.prompt": {"x"}},
			[]string{"input.mood", "metadata.team", "parameters.depth.a", "parameters.depth.b", "wait"},
		},
		"values that a field would change": {
			"text.chat", `{"capability":"text.chat","input":{"prompt":"","system":null},"parameters":{"seed":"7","stop":["a\nb"],"temperature":[1],"top_p":"half"}}`,
			texts{"parameters.top_p": {"half"}, "parameters.temperature": {"[1]"}},
			[]string{"input.prompt", "input.system", "parameters.seed", "parameters.stop"},
		},
		"values that a page has no room for": {
			"text.chat", `{"capability":"text.chat","input":{"prompt":"a\rb","messages":[{"role":"judge","content":"x"}]},"parameters":{"reasoning":"deep","tool_choice":"a\nb"}}`,
			texts{},
			[]string{"input.messages", "input.prompt", "parameters.reasoning", "parameters.tool_choice"},
		},
		"fields that exclude each other": {
			"text.chat", `{"capability":"text.chat","input":{"prompt":"x","messages":[{"role":"user","content":"y"}]}}`,
			texts{"input.prompt": {"x"}},
			[]string{"input.messages"},
		},
		"rows with files": {
			"text.chat", `{"capability":"text.chat","input":{"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"What?"},` +
				`{"type":"image","image":{"data":"file:a fox.png","content_type":"image/png"}},{"type":"document","document":{"artifact":"art_1"}},` +
				`{"type":"audio","audio":{"url":"https://a.example/x"}}]}]}}`,
			texts{
				"input.messages.role": {"user", "user"}, "input.messages.content": {"a", "What?"},
				"input.messages.files": {"file:a fox.png image/png", "art_1 application/pdf", "https://a.example/x audio/*"},
			},
			nil,
		},
		"rows that aren't flat": {
			"text.chat", `{"capability":"text.chat","input":{"messages":[{"role":"assistant","tool_calls":[{"id":"x"}]},{"role":"user","content":"y"}]}}`,
			texts{},
			[]string{"input.messages"},
		},
		"media": {
			"image.edit", `{"capability":"image.edit","input":{"prompt":"x","images":[{"url":"https://a.example/b.png"},{"data":"file:c.png","content_type":"image/png"},` +
				`{"artifact":"art_1"}],"mask":{"data":"AAAA","content_type":"image/png"},"authorization":{"person":"none","why":1}}}`,
			texts{
				"input.prompt": {"x"}, "input.images": {"https://a.example/b.png", "file:c.png image/png", "art_1"}, "input.authorization.person": {"none"},
			},
			[]string{"input.authorization.why", "input.mask.content_type", "input.mask.data"},
		},
		"no groups":     {"text.chat", `{"capability":"text.chat","input":"x","parameters":[1]}`, texts{}, []string{"input", "parameters"}},
		"empty groups":  {"text.chat", `{"capability":"text.chat","input":{},"parameters":{}}`, texts{}, nil},
		"another media": {"image.upscale", `{"capability":"image.upscale","input":{"image":{"url":"x","as":1}}}`, texts{}, []string{"input.image.as", "input.image.url"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := mustGet(t, tt.capability)
			got, rest, err := form.Show(c.Fields(), json.RawMessage(tt.request))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.texts, got); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.rest, form.Names(rest)); diff != "" {
				t.Errorf("rest (-want +got):\n%s", diff)
			}
			if name == "empty groups" {
				return // a form makes no empty parameters
			}
			if diff := cmp.Diff(decoded(t, []byte(tt.request)), decoded(t, again(t, c, got, rest))); diff != "" {
				t.Errorf("again (-want +got):\n%s", diff)
			}
		})
	}
}

// TestJoin: where the form and the rest both have a value, that of the form counts.
func TestJoin(t *testing.T) {
	for rest, want := range map[string]string{
		`{"input":{"a":2,"b":{"c":3}},"x":1}`: `{"input":{"a":1,"b":{"c":3,"d":4}},"x":1}`,
		`{"input":{"b":5}}`:                   `{"input":{"a":1,"b":{"d":4}}}`,
		`{}`:                                  `{"input":{"a":1,"b":{"d":4}}}`,
	} {
		members, _ := decoded(t, []byte(rest)).(map[string]any)
		got, err := form.Join(json.RawMessage(`{"input":{"a":1,"b":{"d":4}}}`), members)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v\nwant %s", rest, got, err, want)
		}
	}
	for _, request := range []string{"", "[]"} {
		if _, err := form.Join(json.RawMessage(request), map[string]any{"x": 1}); err == nil {
			t.Errorf("%q is joined", request)
		}
		if _, _, err := form.Show(nil, json.RawMessage(request)); err == nil {
			t.Errorf("%q is shown", request)
		}
	}
}

func mustGet(t testing.TB, name string) catalog.Capability {
	t.Helper()
	for _, c := range mustDefault(t).All() {
		if string(c.Name) == name {
			return c
		}
	}
	t.Fatalf("no capability %s", name)
	return catalog.Capability{}
}

// FuzzShow: a form and the rest that it doesn't show make the request again, whatever it holds.
func FuzzShow(f *testing.F) {
	all := mustDefault(f).All()
	for _, c := range all {
		f.Add(string(c.Name), []byte(c.Example))
	}
	f.Add("text.chat", []byte(`{"capability":"text.chat","input":{"messages":[{"role":"user","content":[{"type":"image","image":{"artifact":"art_1"}}]}]}}`))
	f.Add("image.edit", []byte(`{"capability":"image.edit","input":{"images":[{"data":"file:a b","content_type":"x y"}],"authorization":{"evidence":[]}}}`))
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		for _, c := range all {
			if string(c.Name) != name {
				continue
			}
			texts, rest, err := form.Show(c.Fields(), raw)
			if err != nil {
				return
			}
			want, _ := decoded(t, raw).(map[string]any)
			_, input := want["input"].(map[string]any)
			parameters, _ := want["parameters"].(map[string]any)
			if want["capability"] != name || !input || len(parameters) == 0 {
				return // a form makes its own
			}
			if diff := cmp.Diff(want, decoded(t, again(t, c, texts, rest))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}
