package openai_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
)

const boundary = "b0undary"

// part is a part of a form, its headers after the name.
func part(name, content string, more ...string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + `"` + strings.Join(more, "") + "\r\n\r\n" + content + "\r\n"
}

// file is a part that has a file's name.
func file(name, kind, content string) string {
	return part(name, content, `; filename="a.bin"`, "\r\nContent-Type: "+kind)
}

func form(parts ...string) string { return strings.Join(parts, "") + "--" + boundary + "--\r\n" }

func TestParted(t *testing.T) {
	body := form(part("model", "image.edit"), part("prompt", ""), file("image[]", "Image/PNG; a=b", "\r\n--b0\x00\xff"))
	got, problem := openai.Parted([]byte(body), boundary)
	want := []openai.Part{{"model", "", "image.edit"}, {"prompt", "", ""}, {"image[]", "image/png", "\r\n--b0\x00\xff"}}
	if diff := cmp.Diff(want, got); diff != "" || problem != "" {
		t.Errorf("%s (-want +got):\n%s", problem, diff)
	}
	for name, body := range map[string]string{
		"nothing":                 "",
		"a preamble":              "hello\r\n" + body,
		"no end":                  strings.TrimSuffix(body, "--\r\n"),
		"text behind the end":     strings.TrimSuffix(body, "\r\n") + "x",
		"line feeds alone":        strings.ReplaceAll(body, "\r\n", "\n"),
		"a line like the edge":    form(part("a", "\r\n--"+boundary+"x")),
		"no name":                 form("--" + boundary + "\r\nContent-Type: text/plain\r\n\r\na\r\n"),
		"no headers":              form("--" + boundary + "\r\n\r\na\r\n"),
		"a folded header":         form(part("a", "b", "\r\n name=c")),
		"a line feed at the end":  form(part("a", "b", "\r\nX: y\n")),
		"a broken header":         form(part("a", "b", "\r\nContent")),
		"another disposition":     form("--" + boundary + "\r\nContent-Disposition: attachment; name=a\r\n\r\nb\r\n"),
		"two names":               form(part("a", "b", "\r\nContent-Disposition: form-data; name=c")),
		"an encoding":             form(part("a", "YQ==", "\r\nContent-Transfer-Encoding: base64")),
		"headers without an end":  form(part("a", "b", "\r\nX: "+strings.Repeat("x", 5000))),
		"more parts than allowed": form(strings.Repeat(part("a", "b"), 65)),
	} {
		if parts, problem := openai.Parted([]byte(body), boundary); problem == "" {
			t.Errorf("%s is taken: %v", name, parts)
		}
	}
}

// FuzzParted holds that a form which is taken has the parts that package mime/multipart finds in it.
func FuzzParted(f *testing.F) {
	f.Add([]byte(form(part("model", "image.edit"), file("image", "image/png", "\r\n--b0"), part("a", "", "\r\nX-Y: z"))), boundary)
	f.Add([]byte(form()), boundary)
	f.Add([]byte("--a\r\nContent-Disposition: form-data; name=\"\\\"%22\"\r\n\r\n\r\n\r\n--a--"), "a")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		if boundary == "" || len(boundary) > 70 || strings.ContainsAny(boundary, "\r\n") {
			return
		}
		got, problem := openai.Parted(body, boundary)
		if problem != "" {
			return
		}
		r := multipart.NewReader(bytes.NewReader(body), boundary)
		for i := 0; ; i++ {
			p, err := r.NextRawPart()
			if errors.Is(err, io.EOF) {
				if i != len(got) {
					t.Fatalf("%q has %d parts, not %d", body, i, len(got))
				}
				return
			}
			if err != nil || i >= len(got) {
				t.Fatalf("%q: part %d of %d: %v", body, i, len(got), err)
			}
			data, err := io.ReadAll(p)
			if err != nil || string(data) != got[i].Data || p.FormName() != got[i].Name {
				t.Fatalf("%q: part %d is %q, %q, not %+v (%v)", body, i, p.FormName(), data, got[i], err)
			}
		}
	})
}

// TestContent: a form with another boundary has the same content, and one with another byte has not.
func TestContent(t *testing.T) {
	content := func(body, boundary string) (all []string) {
		for piece := range openai.Content([]byte(body), boundary) {
			all = append(all, string(piece))
		}
		return all
	}
	body := form(part("a", "b"), file("c", "audio/wav", "d"))
	first := content(body, boundary)
	if diff := cmp.Diff(first, content(strings.ReplaceAll(body, boundary, "another"), "another")); diff != "" {
		t.Errorf("with another boundary:\n%s", diff)
	}
	if cmp.Equal(first, content(strings.Replace(body, "\r\n\r\nd", "\r\n\r\ne", 1), boundary)) {
		t.Error("with another byte it is the same")
	}
}

// FuzzForms holds that any form is refused in words, or becomes a creation that can be decoded.
func FuzzForms(f *testing.F) {
	f.Add([]byte(edit(part("n", "2"), part("authorization[person]", "none"), part("stream", "false"))))
	f.Add([]byte(edit(part("authorization", `{"person":"none"}`), part("size", "a\"\\\xff"))))
	f.Add([]byte(listen(part("timestamp_granularities[]", "word"), part("response_format", "verbose_json"), part("keywords[]", "Lund"), part("prompt", "a"))))
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		for _, read := range []openai.FormReader{openai.ImageEditForm, openai.Transcription, openai.Translation} {
			c, err := read(body, boundary)
			if err != nil {
				if e := fault.From(err); e.Code != fault.InvalidRequest || len(e.Details) == 0 {
					t.Fatalf("%q: %v", body, err)
				}
				continue
			}
			if !bytes.Equal(given, body) {
				t.Fatal("the body was changed")
			}
			r, refused := catalog.Decode(c.Body, catalog.Limits{})
			if refused == nil {
				refused = directory(t).Validate(r)
			}
			if refused != nil {
				if e := c.Explain(refused); e.Code == fault.InvalidRequest && (len(e.Details) == 0 || strings.HasPrefix(e.Details[0].Field, "parameters")) {
					t.Fatalf("%q: %v", c.Body, e)
				}
			}
		}
	})
}
