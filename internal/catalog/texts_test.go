package catalog_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
)

// TestTexts finds all texts of a caller, at any depth, and no values of enums or bytes of inline media.
func TestTexts(t *testing.T) {
	c := mustDefault(t)
	for _, tt := range []struct {
		capability catalog.Name
		input      string
		want       []catalog.Text
	}{
		{"text.chat", `{"prompt":"a\u006eb"}`, []catalog.Text{{Field: "input.prompt", Text: "anb"}}},
		{
			"text.chat", `{"messages":[{"content":"a","role":"user"},{"content":"b","role":"assistant"}],"system":"c"}`,
			[]catalog.Text{{Field: "input.messages.0.content", Text: "a"}, {Field: "input.messages.1.content", Text: "b"}, {Field: "input.system", Text: "c"}},
		},
		{"text.embed", `{"texts":["a","b"]}`, []catalog.Text{{Field: "input.texts.0", Text: "a"}, {Field: "input.texts.1", Text: "b"}}},
		{
			"image.edit", `{"authorization":{"person":"authorized","statement":"s"},"images":[{"content_type":"image/png","data":"AAAA"},{"url":"https://e.example/x"}],"prompt":"p"}`,
			[]catalog.Text{
				{Field: "input.authorization.statement", Text: "s"},
				{Field: "input.images.0.content_type", Text: "image/png", Media: true},
				{Field: "input.images.1.url", Text: "https://e.example/x", Media: true},
				{Field: "input.prompt", Text: "p"},
			},
		},
		{
			"text.chat", `{"messages":[{"content":[{"text":"a","type":"text"},{"document":{"content_type":"text/plain","data":"YWI="},"type":"document"}],"role":"user"}]}`,
			[]catalog.Text{
				{Field: "input.messages.0.content.0.text", Text: "a"},
				{Field: "input.messages.0.content.1.document.content_type", Text: "text/plain", Media: true},
			},
		},
		{"text.chat", `{"prompt":1,"of":null,"no":[true,{"schema":["d"]}]}`, []catalog.Text{{Field: "input.no.1.schema.0", Text: "d"}}},
		{"text.chat", `{}`, nil},
	} {
		entry, _ := c.Get(tt.capability)
		if diff := cmp.Diff(tt.want, entry.Texts(json.RawMessage(tt.input))); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.capability, tt.input, diff)
		}
	}
}

// FuzzTexts writes a text into every member of a request that can hold one, and finds it there.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"hello", `"\`, "\u2028<&>", "日本"} {
		f.Add(s)
	}
	directory, err := catalog.Default()
	if err != nil {
		f.Fatal(err)
	}
	entry, _ := directory.Get("text.chat")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip() // JSON can't hold it
		}
		body, err := json.Marshal(map[string]any{
			"capability": "text.chat", "input": map[string]any{"system": text, "messages": []any{map[string]any{"role": "user", "content": text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, refused := catalog.Decode(body, catalog.Limits{})
		if refused != nil {
			return
		}
		got := entry.Texts(r.Input)
		if len(got) != 2 || got[0].Text != text || got[1].Text != text {
			t.Errorf("%q is found as %+v", text, got)
		}
	})
}

func TestWithoutAuthorization(t *testing.T) {
	for input, want := range map[string]string{
		`{"a":1,"authorization":{"person":"none"},"b":"<&>"}`: `{"a":1,"b":"<&>"}`,
		`{"authorization":{}}`:                                `{}`,
		`{"a":{"authorization":1}}`:                           `{"a":{"authorization":1}}`,
		`[]`:                                                  `[]`,
	} {
		if got := string(catalog.WithoutAuthorization(json.RawMessage(input))); got != want {
			t.Errorf("%s becomes %s, want %s", input, got, want)
		}
	}
}
