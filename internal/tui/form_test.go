package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
)

// pixel is a PNG's beginning: enough to be known as one.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// folder makes a folder of files and goes there.
func folder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"a.png": pixel, "b.pdf": "%PDF-1.7\n", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", dir)
	t.Chdir(dir)
}

const person = `"authorization":{"person":"none"}`

// TestRequestOfAForm fills the form of image.edit: prompt, images, authorization.person, then the
// fold, mask, authorization.statement, format, size, stop, sound, level.
func TestRequestOfAForm(t *testing.T) {
	tests := []struct {
		name              string
		keys              []string
		input, parameters string
	}{
		{
			"files and addresses",
			[]string{"x", "tab", "@a.png", "enter", " https://h/i.png ", "enter", "enter", "art_12345678", "enter", "@~/b.pdf"},
			`{"images":[{"content_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUg=="},{"url":"https://h/i.png"},` +
				`{"artifact":"art_12345678"},{"content_type":"application/pdf","data":"JVBERi0xLjcK"}],"prompt":"x"}`, ``,
		},
		{
			"an object",
			[]string{"x", "tab", "https://h/i", "tab", "right", "tab", "enter", "tab", "tab", "so"},
			`{"authorization":{"person":"none","statement":"so"},"images":[{"url":"https://h/i"}],"prompt":"x"}`, ``,
		},
		{
			"choices, texts, truth and numbers",
			[]string{
				"x", "tab", "https://h/i", "tab", "right", "right", "left", "tab", "enter",
				"tab", "tab", "tab", "left", "tab", "1x1", "tab", "a", "enter", "b", "tab", "right", "right", "tab", "right", " ",
			},
			`{` + person + `,"images":[{"url":"https://h/i"}],"prompt":"x"}`,
			`{"format":"webp","level":2,"size":"1x1","sound":false,"stop":["a","b"]}`,
		},
		{
			"left out again",
			[]string{"x", "tab", "https://h/i", "tab", "right", "left", "tab", "enter", "up", "down", "tab", "a", "backspace"},
			`{"images":[{"url":"https://h/i"}],"prompt":"x"}`, ``,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder(t)
			bubble(t, func(t *testing.T) {
				service := newFake(imageEdit())
				r := newTestDashboard(t, service)
				r.press("enter")
				r.press(tt.keys...)
				r.press("ctrl+s")
				if len(service.creations) != 1 {
					t.Fatalf("nothing is sent:\n%s", r.view())
				}
				want := creation{Request: api.CreateRequest{Capability: "image.edit", Input: []byte(tt.input)}, Key: "key-0001"}
				if tt.parameters != "" {
					want.Request.Parameters = []byte(tt.parameters)
				}
				if diff := cmp.Diff(want, service.creations[0]); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFormRefuses: an error is shown beside its field, which gets the focus; no request is sent.
func TestFormRefuses(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		says []string
	}{
		{"nothing", nil, []string{"▸ prompt *", "✗ is required"}},
		{"no medium", []string{"x", "tab", "a.png"}, []string{"▸ images *", "✗ line 1 must be @ and a file's path, a URL"}},
		{"no file", []string{"x", "tab", "https://h/i", "enter", "@c.png"}, []string{"▸ images *", "✗ c.png: no such file or directory"}},
		{"an empty file", []string{"x", "tab", "@empty"}, []string{"✗ empty is empty"}},
		{"a folder", []string{"x", "tab", "@~/"}, []string{"is no regular file"}},
		{
			"a member of an object",
			[]string{"x", "tab", "https://h/i", "tab", "tab", "enter", "tab", "tab", "so", "ctrl+s"},
			[]string{"▸ authorization.person", "✗ is required"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder(t)
			bubble(t, func(t *testing.T) {
				service := newFake(imageEdit())
				r := newTestDashboard(t, service)
				r.press("enter")
				r.press(tt.keys...)
				r.press("ctrl+s")
				r.shows(tt.says...)
				r.hides("sending")
				if len(service.creations) != 0 {
					t.Errorf("sent: %+v", service.creations)
				}
			})
		})
	}
}

func TestNumbers(t *testing.T) {
	for entered, says := range map[string]string{
		"0": "must be 1 to 4096", "4097": "must be 1 to 4096", "1.5": "must be a whole number", "1e2": "must be a whole number",
		"x": "must be a number", "0x10": "must be a number", "NaN": "must be a number", "4096": "",
	} {
		t.Run(entered, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newTestDashboard(t, newFake(chat()))
				r.press("enter", "hi", "tab", "enter", "down", "down", entered, "ctrl+s")
				if says != "" {
					r.shows("▸ max_output_tokens", "✗ "+says)
					return
				}
				r.shows("○ queued")
			})
		})
	}
}

// TestDetailsBesideTheirFields: also those of a folded field, of an object and of an item.
func TestDetailsBesideTheirFields(t *testing.T) {
	tests := []struct{ field, focus, says string }{
		{"input.prompt", "▸ prompt *", ""},
		{"input.images.0.url", "▸ images *", "line 1 "},
		{"input.images[0]", "▸ images *", "line 1 "},
		{"input.images", "▸ images *", ""},
		{"input.mask.content_type", "▸ mask", ""},
		{"input.authorization", "▸ authorization.person", ""},
		{"input.authorization.statement", "▸ authorization.statement", ""},
		{"parameters.level", "▸ level", ""},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(imageEdit())
				service.failCreate = []error{&client.Error{Fault: fault.Invalid(tt.field, "is not to my liking"), RequestID: "req_7"}}
				r := newTestDashboard(t, service)
				r.press("enter", "x", "tab", "https://h/i", "ctrl+s")
				r.shows(tt.focus, "✗ "+tt.says+"is not to my liking", "✗ INVALID_REQUEST (request req_7)")
			})
		})
	}
}

// TestNestedObjects: members of objects in objects are entries of their own; an object that may be left out is asked for
// only once one of its members is there, and one without described members is JSON.
func TestNestedObjects(t *testing.T) {
	scene := capability("scene.draw", "Draw a scene", catalog.Sync, `{"properties":{"scene":{"type":"object","properties":{
		"sky":{"type":"object","properties":{"colour":{"type":"string"},"clouds":{"type":"integer","maximum":9}},"required":["colour"]},
		"sun":{"type":"object","properties":{"size":{"type":"number"}},"required":["size"]},
		"more":{"type":"object"}
	},"required":["sun"]}}}`, `{}`)
	for name, tt := range map[string]struct {
		keys  []string
		input string
		says  []string
	}{
		"nothing":          {nil, `{}`, nil},
		"one":              {[]string{"tab", "tab", "1.50"}, `{"scene":{"sun":{"size":1.50}}}`, nil},
		"all":              {[]string{"red", "tab", "3", "tab", "1", "tab", `{"a":[1]}`}, `{"scene":{"more":{"a":[1]},"sky":{"clouds":3,"colour":"red"},"sun":{"size":1}}}`, nil},
		"a member lacks":   {[]string{"tab", "3", "tab", "1"}, "", []string{"▸ scene.sky.colour", "✗ is required"}},
		"an object lacks":  {[]string{"red"}, "", []string{"▸ scene.sun.size", "✗ is required"}},
		"one is wrong":     {[]string{"red", "tab", "10", "tab", "1"}, "", []string{"▸ scene.sky.clouds", "✗ must be"}},
		"its JSON is, too": {[]string{"tab", "tab", "1", "tab", "{,}"}, "", []string{"▸ scene.more", "✗ must be JSON: line 1, column 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(scene)
				r := newTestDashboard(t, service)
				r.press("enter")
				r.press(tt.keys...)
				r.press("ctrl+s")
				r.shows(tt.says...)
				var got string
				if len(service.creations) > 0 {
					got = string(service.creations[0].Request.Input)
				}
				if got != tt.input {
					t.Errorf("sent %s, want %s:\n%s", got, tt.input, r.view())
				}
			})
		})
	}
}

// TestFormStays: the entered values are there after leaving the form, and after sending it.
func TestFormStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(chat(), imageEdit()))
		r.press("enter", "once", "esc", "down", "enter", "esc", "up", "enter")
		r.shows("│ once")
		r.press("ctrl+s", "tab", "enter")
		r.shows("│ once")
	})
}

// TestLeavingWhileSending: the answer doesn't drag the person back.
func TestLeavingWhileSending(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(chat()))
		r.press("enter", "hi")
		r.update(key("ctrl+s"))
		r.shows("sending… 0s")
		r.update(key("x"))
		r.update(key("esc"))
		r.settle()
		r.shows("▸ text.chat", "text.chat accepted")
		r.press("enter")
		r.shows("│ hi")
		r.hides("│ hix")
	})
}

// TestQuestionMark is a letter in a text and a key elsewhere; ctrl+c quits from everywhere.
func TestQuestionMark(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(chat()))
		r.press("enter", "why?")
		r.shows("│ why?")
		r.press("tab", "?")
		r.shows("Keys", "send")
		r.press("x", "q")
		r.shows("› text.chat")
		if r.quit {
			t.Error("q quits from a form")
		}
		r.press("ctrl+c")
		if !r.quit {
			t.Error("ctrl+c doesn't quit")
		}
	})
}

// TestEveryCapabilityHasAForm: each of the service's own capabilities can be filled in.
func TestEveryCapabilityHasAForm(t *testing.T) {
	c, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(builtIn(t)...))
		r.resize(100, 60)
		for _, one := range c.All() {
			r.press("enter")
			r.shows("› "+string(one.Name), "[ Send ]")
			if strings.Contains(r.view(), " more option") {
				for !strings.Contains(r.view(), "Enter shows") {
					r.press("tab")
				}
				r.press("enter")
			}
			for _, f := range one.Fields() {
				r.shows(f.Name)
			}
			r.press("esc", "down")
		}
	})
}
