package tui_test

import (
	"encoding/base64"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
)

// builtIn returns the service's own capabilities, or those of the names.
func builtIn(t *testing.T, names ...string) []api.Capability {
	t.Helper()
	c, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	var all []api.Capability
	for _, one := range c.All() {
		if names == nil || slices.Contains(names, string(one.Name)) {
			all = append(all, api.Capability{
				Name: one.Name, Title: one.Title, Mode: one.Mode,
				InputSchema: one.InputSchema, ParametersSchema: one.ParametersSchema,
			})
		}
	}
	return all
}

// manyFiles is folder with more in it: of other kinds, hidden, in a folder, and one that is too large.
func manyFiles(t *testing.T) {
	t.Helper()
	folder(t)
	if err := os.MkdirAll("photos/old", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"c.zip": "PK\x03\x04", "notes.md": "# notes\n", ".hidden.png": pixel, "photos/Zoo.png": pixel, "photos/été 1.png": pixel,
		"large.png": pixel, "evil\x1b[31m.png": pixel, "turned\u202e.png": pixel, "spaced .png ": pixel,
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate("large.png", 64<<20+1); err != nil {
		t.Fatal(err)
	}
}

func inline(contentType, content string) string {
	return `{"content_type":"` + contentType + `","data":"` + base64.StdEncoding.EncodeToString([]byte(content)) + `"}`
}

// unfold goes from a chat's prompt to its messages, below the fold.
var unfold = []string{"tab", "tab", "enter", "tab"}

// TestFilesBesideAPrompt: a prompt and its files become one message, and files go to the last of the messages.
func TestFilesBesideAPrompt(t *testing.T) {
	picture := `{"image":` + inline("image/png", pixel) + `,"type":"image"}`
	for name, tt := range map[string]struct {
		keys []string
		want string
	}{
		"a prompt alone": {[]string{"hi"}, `{"prompt":"hi"}`},
		"a prompt and files": {
			[]string{"What?", "tab", "@a.png", "enter", "enter", " @~/b.pdf", "enter", "@notes.md"},
			`{"messages":[{"content":[{"text":"What?","type":"text"},` + picture + `,{"document":` + inline("application/pdf", "%PDF-1.7\n") +
				`,"type":"document"},{"document":` + inline("text/markdown", "# notes\n") + `,"type":"document"}],"role":"user"}]}`,
		},
		"a file alone": {[]string{"tab", "@a.png"}, `{"messages":[{"content":[` + picture + `],"role":"user"}]}`},
		"messages": {
			append(append([]string{}, unfold...), `[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"so?"}]`,
				"shift+tab", "shift+tab", "@a.png"),
			`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"content":[{"text":"so?","type":"text"},` + picture + `],"role":"user"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			manyFiles(t)
			bubble(t, func(t *testing.T) {
				service := newFake(builtIn(t, "text.chat")...)
				r := newTestDashboard(t, service)
				r.press("enter")
				r.press(tt.keys...)
				r.press("ctrl+s")
				want := []creation{{Request: api.CreateRequest{Capability: "text.chat", Input: []byte(tt.want)}, Key: "key-0001", Wait: 2 * time.Second}}
				if diff := cmp.Diff(want, service.creations); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, r.view())
				}
			})
		})
	}
}

// TestFilesRefused: a wrong file is named beside its field, and no request is sent.
func TestFilesRefused(t *testing.T) {
	for name, tt := range map[string]struct{ entered, says string }{
		"there is none":   {"@none.png", "✗ none.png: no such file or directory"},
		"of a wrong kind": {"@c.zip", "✗ c.zip is no image, audio or document"},
		"too large":       {"@large.png", "✗ large.png is larger than 67.1 MB"},
		"empty":           {"@empty", "✗ empty is empty"},
		"a folder":        {"@photos", "✗ photos: is no regular file"},
		"no file":         {"https://h/i.png", "✗ line 1 must be @ and a file's path"},
		"the second":      {"@a.png\n\n@none.png", "✗ none.png: no such file or directory"},
	} {
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			t.Run(name, func(t *testing.T) {
				manyFiles(t)
				bubble(t, func(t *testing.T) {
					service := newFake(builtIn(t, "text.chat")...)
					r := newTestDashboard(t, service)
					r.resize(size[0], size[1])
					r.press("enter", "hi", "tab")
					r.press(strings.SplitAfter(tt.entered, "\n")...)
					r.press("ctrl+s")
					if got := strings.Join(strings.Fields(r.view()), " "); !strings.Contains(got, tt.says) || !strings.Contains(got, "▸ files") {
						t.Errorf("the screen doesn't show %q:\n%s", tt.says, r.view())
					}
					if len(service.creations) != 0 {
						t.Errorf("sent: %+v", service.creations)
					}
				})
			})
		}
	}
}

// TestMessagesForFiles: files without a message to go along with are no part of any request.
func TestMessagesForFiles(t *testing.T) {
	manyFiles(t)
	bubble(t, func(t *testing.T) {
		service := newFake(builtIn(t, "text.chat")...)
		r := newTestDashboard(t, service)
		r.press("enter", "tab", "@a.png", "shift+tab")
		r.press(append(unfold, `["hi"]`, "ctrl+s")...)
		r.shows("▸ messages", "✗ must end with a message for the files")
		if len(service.creations) != 0 {
			t.Errorf("sent: %+v", service.creations)
		}
	})
}

// TestDetailsOfAChat: what the service says of a part is beside the file or the prompt that it was made of, and of a
// member of JSON beside the JSON, with its place.
func TestDetailsOfAChat(t *testing.T) {
	const tools = `[{"name":"a","parameters":{}}]`
	for field, want := range map[string][]string{
		"input.messages.0.content.2.image.data":    {"▸ files", "✗ line 2 is odd"},
		"input.messages.0.content.1":               {"▸ files", "✗ line 1 is odd"},
		"input.messages.0.content.0.text":          {"▸ prompt *", "✗ is odd"},
		"input.messages":                           {"▸ prompt *", "✗ is odd"},
		"parameters.tools.0.parameters.type":       {"▸ tools", "✗ tools.0.parameters.type is odd"},
		"parameters.tools":                         {"▸ tools", "✗ is odd"},
		"parameters.output_schema.properties.a":    {"▸ output_schema", "✗ output_schema.properties.a is odd"},
		"parameters.tool_choice":                   {"▸ tool_choice", "✗ is odd"},
		"parameters.stop.0":                        {"▸ stop", "✗ line 1 is odd"},
		"parameters.an_unknown_one.of_the_service": {"✗ INVALID_REQUEST: parameters.an_unknown_one.of_the_service is odd"},
	} {
		t.Run(field, func(t *testing.T) {
			manyFiles(t)
			bubble(t, func(t *testing.T) {
				service := newFake(builtIn(t, "text.chat")...)
				service.failCreate = []error{&client.Error{Fault: fault.Invalid(field, "is odd"), RequestID: "req_7"}}
				r := newTestDashboard(t, service)
				r.press("enter", "hi", "tab", "@a.png", "enter", "@a.png", "tab", "enter")
				fill(r, "tools", tools)
				fill(r, "output_schema", `{"type":"object"}`)
				r.press("ctrl+s")
				r.shows(want...)
				if len(service.creations) != 1 {
					t.Errorf("sent: %+v", service.creations)
				}
			})
		})
	}
}

// fill writes into the entry of a name, from above it.
func fill(r *testDashboard, name, value string) {
	r.t.Helper()
	for range 30 {
		if strings.Contains(r.view(), "▸ "+name+" ") {
			r.press(value)
			return
		}
		r.press("tab")
	}
	r.t.Fatalf("there is no %s:\n%s", name, r.view())
}

// TestJSONFromAFile: JSON may stand in a file, which is picked or named, as on a command line.
func TestJSONFromAFile(t *testing.T) {
	for name, tt := range map[string]struct {
		keys []string
		want string
		says string
	}{
		"named":       {[]string{" @~/tools.json "}, `{"tools":[{"name":"a"}]}`, ""},
		"picked":      {[]string{"ctrl+o", "tools", "enter"}, `{"tools":[{"name":"a"}]}`, ""},
		"broken":      {[]string{"@broken.json"}, "", `✗ broken.json must be JSON: line 2, column 1`},
		"not there":   {[]string{"@none.json"}, "", "✗ none.json: no such file or directory"},
		"no JSON":     {[]string{"@notes.md"}, "", "✗ notes.md must be JSON: line 1, column 1"},
		"no path":     {[]string{"@"}, "", "✗ must be JSON: line 1, column 1"},
		"not offered": {[]string{"ctrl+o", "notes", "enter", "esc", "esc"}, "none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			manyFiles(t)
			for name, content := range map[string]string{"tools.json": `[{"name":"a"}]` + "\n", "broken.json": "[\n}"} {
				if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			bubble(t, func(t *testing.T) {
				service := newFake(builtIn(t, "text.chat")...)
				r := newTestDashboard(t, service)
				r.press("enter", "hi", "tab", "tab", "enter")
				fill(r, "tools", "")
				r.press(tt.keys...)
				r.press("ctrl+s")
				r.shows(tt.says)
				got := "none"
				if len(service.creations) == 0 {
					got = ""
				} else if p := service.creations[0].Request.Parameters; p != nil {
					got = string(p)
				}
				if got != tt.want {
					t.Errorf("sent %s, want %s:\n%s", got, tt.want, r.view())
				}
			})
		})
	}
}

// TestBrokenJSON: JSON that can't be read is refused with its place, beside it; what is there of it stays.
func TestBrokenJSON(t *testing.T) {
	for entered, says := range map[string]string{
		`[{"name": "weather",}]`:       `✗ must be JSON: line 1, column 21, invalid character`,
		"[\n{\"name\": \"a\" \"b\"}]":  `✗ must be JSON: line 2, column 14, invalid character`,
		`[{"name": "a"}`:               `✗ must be JSON: it ends too early`,
		`[{"name": "a", "name": "b"}]`: `"name" stands there twice`,
		`weather`:                      `✗ must be JSON: line 1, column 1, invalid character`,
		`[{"name": "a"}] and one more`: `✗ must be JSON: line 1, column 17, invalid character`,
	} {
		for _, name := range []string{"tools", "output_schema"} {
			t.Run(name+entered, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					service := newFake(builtIn(t, "text.chat")...)
					r := newTestDashboard(t, service)
					r.press("enter", "hi", "tab", "tab", "enter")
					fill(r, name, "")
					r.press(strings.SplitAfter(entered, "\n")...)
					r.press("ctrl+s")
					if got := strings.Join(strings.Fields(r.view()), " "); !strings.Contains(got, says) || !strings.Contains(got, "▸ "+name) {
						t.Errorf("the screen doesn't show %q:\n%s", says, r.view())
					}
					if len(service.creations) != 0 {
						t.Errorf("sent: %+v", service.creations)
					}
				})
			})
		}
	}
}
