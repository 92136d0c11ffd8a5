package form_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

func mustDefault(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// body is the creation that posted values make.
func body(t testing.TB, c catalog.Capability, p form.Posted) []byte {
	t.Helper()
	req, err := p.Values(c.Fields()).Request(string(c.Name))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"

func TestPosted(t *testing.T) {
	data := `"data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1Pe"`
	for _, tt := range []struct {
		name, capability string
		texts            map[string][]string
		files            map[string][][]byte
		want             string
	}{
		{"nothing", "text.chat", nil, nil, `{"capability":"text.chat","input":{}}`},
		{
			"every kind", "text.chat",
			map[string][]string{
				"input.prompt": {"one\r\ntwo "}, "parameters.temperature": {" 0.70 "}, "parameters.stop": {"a\r\n\r\nb"},
				"parameters.seed": {""}, "parameters.unknown": {"x"}, "input.system": {" \n"},
			},
			nil,
			`{"capability":"text.chat","input":{"prompt":"one\ntwo "},"parameters":{"stop":["a","b"],"temperature":0.70}}`,
		},
		{
			"rows", "text.chat",
			map[string][]string{
				"input.messages.role": {"user", "assistant", "user", "user"}, "input.messages.content": {"hi", "hello", "", "and\r\nnow"},
			},
			nil,
			`{"capability":"text.chat","input":{"messages":[{"content":"hi","role":"user"},{"content":"hello","role":"assistant"},` +
				`{"content":"and\nnow","role":"user"}]}}`,
		},
		{
			"files with the last row", "text.chat",
			map[string][]string{"input.messages.role": {"user", "assistant", "user"}, "input.messages.content": {"hi", "hello", "What is this?"}},
			map[string][][]byte{"input.messages.files": {[]byte(pixel), {}, []byte("%PDF-1.7"), []byte("notes")}},
			`{"capability":"text.chat","input":{"messages":[{"content":"hi","role":"user"},{"content":"hello","role":"assistant"},` +
				`{"content":[{"text":"What is this?","type":"text"},{"image":{"content_type":"image/png",` + data + `},"type":"image"},` +
				`{"document":{"content_type":"application/pdf","data":"JVBERi0xLjc="},"type":"document"},` +
				`{"document":{"content_type":"text/plain","data":"bm90ZXM="},"type":"document"}],"role":"user"}]}}`,
		},
		{
			"files and addresses in their order", "image.edit",
			map[string][]string{"input.images": {"https://a.example/b.png", "file:c.png image/png", "art_1\nart_2", "file:d.pdf application/pdf", "file:"}},
			map[string][][]byte{"input.images": {[]byte(pixel), []byte("%PDF-1.7")}, "input.mask": {[]byte(pixel)}},
			`{"capability":"image.edit","input":{"images":[{"url":"https://a.example/b.png"},{"content_type":"image/png",` + data + `},{"artifact":"art_1"},` +
				`{"artifact":"art_2"},{"content_type":"application/pdf","data":"JVBERi0xLjc="},{"content_type":"application/octet-stream","data":"file:"}],` +
				`"mask":{"content_type":"image/png",` + data + `}}}`,
		},
		{
			"files without their bytes", "text.chat",
			map[string][]string{"input.messages.content": {"hi"}, "input.messages.files": {"file:a b.md text/markdown", "https://a.example/x image/*"}},
			nil,
			`{"capability":"text.chat","input":{"messages":[{"content":[{"text":"hi","type":"text"},` +
				`{"document":{"content_type":"text/markdown","data":"file:a b.md"},"type":"document"},` +
				`{"image":{"url":"https://a.example/x"},"type":"image"}]}]}}`,
		},
		{
			"a file alone", "text.chat", nil,
			map[string][][]byte{"input.messages.files": {[]byte(pixel)}},
			`{"capability":"text.chat","input":{"messages":[{"content":[{"image":{"content_type":"image/png",` + data + `},"type":"image"}],"role":"user"}]}}`,
		},
		{
			"files that went ahead", "text.chat",
			map[string][]string{"input.messages.files": {"art_06gztwr81ar2sk7g2v0pa8szvq image/png", "art_1 video/mp4", "art_2"}},
			map[string][][]byte{"input.messages.files": {[]byte(pixel)}},
			`{"capability":"text.chat","input":{"messages":[{"content":[{"image":{"content_type":"image/png",` + data + `},"type":"image"},` +
				`{"image":{"artifact":"art_06gztwr81ar2sk7g2v0pa8szvq"},"type":"image"},{"audio":{"artifact":"art_1"},"type":"audio"}],"role":"user"}]}}`,
		},
		{
			"what isn't of its type", "text.chat",
			map[string][]string{"parameters.seed": {"ten"}, "parameters.top_p": {"NaN"}, "parameters.max_output_tokens": {"[1]"}},
			nil,
			`{"capability":"text.chat","input":{},"parameters":{"max_output_tokens":[1],"seed":"ten","top_p":"NaN"}}`,
		},
		{
			"files before addresses", "image.edit",
			map[string][]string{
				"input.prompt": {"bluer"}, "input.images": {"https://a.example/b.png\nart_06gztwr81ar2sk7g2v0pa8szvq"}, "input.mask": {"ftp://x"},
				"input.authorization.person": {"authorized"}, "input.authorization.statement": {"they agreed"},
			},
			map[string][][]byte{"input.images": {[]byte(pixel), {}}, "input.authorization.evidence": {[]byte(pixel)}},
			`{"capability":"image.edit","input":{"authorization":{"evidence":[{"content_type":"image/png",` + data + `}],` +
				`"person":"authorized","statement":"they agreed"},"images":[{"content_type":"image/png",` + data + `},` +
				`{"url":"https://a.example/b.png"},{"artifact":"art_06gztwr81ar2sk7g2v0pa8szvq"}],` +
				`"mask":{"url":"ftp://x"},"prompt":"bluer"}}`,
		},
		{
			"a boolean and an enum", "video.generate",
			map[string][]string{"input.prompt": {"waves"}, "parameters.audio": {"true"}, "parameters.resolution": {"4k"}},
			nil,
			`{"capability":"video.generate","input":{"prompt":"waves"},"parameters":{"audio":true,"resolution":"4k"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := mustDefault(t).Get(catalog.Name(tt.capability))
			got := string(body(t, c, form.Posted{Texts: tt.texts, Files: tt.files}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFillAndBack: a form that is filled from an example makes the example again, except for its media.
func TestFillAndBack(t *testing.T) {
	all := mustDefault(t).All()
	if len(all) < 7 {
		t.Fatalf("only %d capabilities", len(all))
	}
	for _, c := range all {
		var example struct{ Input, Parameters map[string]any }
		if err := json.Unmarshal(c.Example, &example); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Fields() {
			if f.Media {
				delete(example.Input, f.Name)
			}
		}
		var raw struct{ Input, Parameters json.RawMessage }
		if err := json.Unmarshal(c.Example, &raw); err != nil {
			t.Fatal(err)
		}
		var got struct{ Input, Parameters map[string]any }
		posted := form.Posted{Texts: form.Fill(c.Fields(), raw.Input, raw.Parameters)}
		if err := json.Unmarshal(body(t, c, posted), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(example.Input, got.Input); diff != "" {
			t.Errorf("%s input (-want +got):\n%s", c.Name, diff)
		}
		if diff := cmp.Diff(example.Parameters, got.Parameters); diff != "" {
			t.Errorf("%s parameters (-want +got):\n%s", c.Name, diff)
		}
	}
}

// TestAbout: every row of a refusal belongs to an entry of the form.
func TestAbout(t *testing.T) {
	c, _ := mustDefault(t).Get("image.edit")
	all := form.Entries(c.Fields())
	for field, want := range map[string]string{
		"input.prompt": "input.prompt", "input.images.0.url": "input.images", "input.images[2]": "input.images",
		"input.authorization": "input.authorization.person", "input.authorization.statement": "input.authorization.statement",
		"parameters.n": "parameters.n", "capability": "", "input": "", "input.unknown": "",
	} {
		var got string
		if i := form.About(all, field); i >= 0 {
			got = all[i].Wire()
		}
		if got != want {
			t.Errorf("%s is beside %q, want %q", field, got, want)
		}
	}
}

// TestRowsOfMessages: a row has what a person writes, and no part of an output that goes back as it is.
func TestRowsOfMessages(t *testing.T) {
	c, _ := mustDefault(t).Get("text.chat")
	for _, e := range form.Entries(c.Fields()) {
		if !e.Rows() {
			continue
		}
		var names []string
		for _, m := range e.Members() {
			names = append(names, m.Field.Name)
		}
		if diff := cmp.Diff([]string{"role", "content"}, names); diff != "" || e.Attaches() != "input.messages.files" {
			t.Errorf("%s, files under %q (-want +got):\n%s", e.Wire(), e.Attaches(), diff)
		}
	}
}

// FuzzPosted: whatever is entered becomes JSON that the service reads, and texts arrive as they were entered.
func FuzzPosted(f *testing.F) {
	f.Add("hello", []byte(pixel))
	f.Add("1e999", []byte{})
	f.Add("{\"a\":1,\"a\":2}", []byte("<svg>"))
	f.Add("\xff\r\n\u2028", []byte{0})
	all := mustDefault(f).All()
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		c := all[len(text)%len(all)]
		p := form.Posted{Texts: map[string][]string{}, Files: map[string][][]byte{}}
		for _, e := range form.Entries(c.Fields()) {
			p.Texts[e.Wire()], p.Files[e.Wire()] = []string{text}, [][]byte{raw}
			for _, m := range e.Members() {
				p.Texts[m.Wire()] = []string{text, text}
			}
		}
		made := body(t, c, p)
		var got struct{ Input map[string]any }
		if err := json.Unmarshal(made, &got); err != nil || !utf8.Valid(made) {
			t.Fatalf("%s: %v in %q", c.Name, err, made)
		}
		want := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
		for _, name := range []string{"prompt", "text"} {
			if written, ok := got.Input[name].(string); ok && written != want {
				t.Errorf("%s: %q arrives as %q", name, want, written)
			}
		}
		if _, err := catalog.Decode(made, catalog.Limits{Depth: 64}); err != nil && !hasJSON(text) {
			t.Errorf("%s: %v in %q", c.Name, err, made)
		}
	})
}

// hasJSON reports whether a line is JSON by itself, which may hold values that the service refuses as ambiguous.
func hasJSON(text string) bool {
	return slices.ContainsFunc(append(strings.Split(text, "\n"), text), func(line string) bool {
		return json.Valid([]byte(strings.TrimSpace(line)))
	})
}
