package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

// TestPicker picks files with keys; their paths are written as a person would.
func TestPicker(t *testing.T) {
	for name, tt := range map[string]struct {
		here string // below the folder of the files, which is the home folder
		keys []string
		want []string // the lines of the field
	}{
		"by a part of its name":       {"", []string{"A.P", "enter"}, []string{"@a.png"}},
		"by the cursor":               {"", []string{"down", "enter"}, []string{"@a.png"}},
		"in a folder":                 {"", []string{"enter", "été", "enter"}, []string{"@photos/été 1.png"}},
		"in a folder, by an arrow":    {"", []string{"right", "down", "enter"}, []string{"@photos/Zoo.png"}},
		"an arrow takes no file":      {"", []string{"down", "right", "esc"}, nil},
		"several":                     {"", []string{"a.png", "tab", "ctrl+u", "b.pdf", "enter"}, []string{"@a.png", "@b.pdf"}},
		"several, the last one twice": {"", []string{"a.png", "tab", "enter"}, []string{"@a.png"}},
		"taken back":                  {"", []string{"a.png", "tab", "tab", "ctrl+u", "b.", "tab", "esc", "esc"}, []string{"@b.pdf"}},
		"above":                       {"photos", []string{"left", "down", "enter"}, []string{"@~/a.png"}},
		"above, by backspace":         {"photos", []string{"Z", "backspace", "backspace", "a.png", "enter"}, []string{"@~/a.png"}},
		"above and back":              {"photos/old", []string{"left", "left", "enter", "zoo", "enter"}, []string{"@~/photos/Zoo.png"}},
		"in a folder that is typed":   {"photos", []string{"~/", "enter", "a.png", "enter"}, []string{"@~/a.png"}},
		"left without a file":         {"", []string{"a.png", "esc", "esc"}, nil},
		"nothing of that name":        {"", []string{"zebra", "enter", "tab", "esc", "esc"}, nil},
	} {
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			t.Run(name, func(t *testing.T) {
				manyFiles(t)
				t.Chdir(filepath.Join(os.Getenv("HOME"), tt.here))
				bubble(t, func(t *testing.T) {
					r := newTestDashboard(t, newFake(builtIn(t, "text.chat")...))
					r.resize(size[0], size[1])
					r.press("enter", "hi", "tab", "ctrl+o")
					r.shows("› files")
					r.press(tt.keys...)
					r.hides("› files")
					var got []string
					for l := range strings.SplitSeq(r.view(), "\n") {
						if at := strings.Index(l, "│ @"); at >= 0 {
							got = append(got, strings.TrimSpace(l[at+len("│"):]))
						}
					}
					if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
						t.Errorf("the field has %q, want %q:\n%s", got, tt.want, r.view())
					}
				})
			})
		}
	}
}

// TestPickedFilesAreSent: a picked file is the one sent, also from a folder elsewhere than here and at home.
func TestPickedFilesAreSent(t *testing.T) {
	manyFiles(t)
	photos := filepath.Join(os.Getenv("HOME"), "photos")
	t.Setenv("HOME", t.TempDir())
	t.Chdir(t.TempDir())
	bubble(t, func(t *testing.T) {
		service := newFake(builtIn(t, "text.chat")...)
		r := newTestDashboard(t, service)
		r.press("enter", "tab", "ctrl+o", photos, "enter", "zoo", "tab", "ctrl+u", "t", "enter", "ctrl+s")
		want := `{"messages":[{"content":[{"image":` + inline("image/png", pixel) + `,"type":"image"},{"image":` +
			inline("image/png", pixel) + `,"type":"image"}],"role":"user"}]}`
		if len(service.creations) != 1 || string(service.creations[0].Request.Input) != want {
			t.Errorf("sent %+v, want %s:\n%s", service.creations, want, r.view())
		}
	})
}

// TestPickerListsWhatSuits: folders, and the files of the field's kinds by their content. Hidden names aren't listed,
// nor those that can't be written into the field.
func TestPickerListsWhatSuits(t *testing.T) {
	manyFiles(t)
	for name, content := range map[string]string{"really.txt": pixel, "film.mp4": "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"linked.png": "a.png", "broken.png": "nowhere.png", "links": "photos"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{
		"links/", "photos/", "a.png", "b.pdf", "film.mp4", "large.png", "linked.png", "notes.md", "really.txt",
		"c.zip", "empty", "hidden", "evil", "turned", "spaced", "broken",
	}
	for capability, tt := range map[string]struct {
		keys []string
		want int // so many of all
		says string
	}{
		"text.chat":        {[]string{"tab"}, 9, "3 more files: no image, audio or document"},
		"image.edit":       {[]string{"tab"}, 2 + 4, "6 more files: no image"},
		"audio.transcribe": {nil, 2 + 1, "9 more files: no audio"},
		"video.extend":     {nil, 2 + 1, "9 more files: no video"},
	} {
		t.Run(capability, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newTestDashboard(t, newFake(builtIn(t, capability)...))
				r.press("enter")
				for range 4 {
					if !strings.Contains(r.view(), "ctrl+o") {
						r.press("tab")
					}
				}
				r.press(tt.keys...)
				r.press("ctrl+o")
				var got []string
				for _, name := range all {
					if strings.Contains(r.view(), name) {
						got = append(got, name)
					}
				}
				if len(got) != tt.want {
					t.Errorf("%d of the names are listed, want %d: %q", len(got), tt.want, got)
				}
				r.shows(tt.says, "photos/")
			})
		})
	}
}

// TestFolderCanNotBeRead: the list says why, and leads on.
func TestFolderCanNotBeRead(t *testing.T) {
	manyFiles(t)
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(builtIn(t, "text.chat")...))
		r.press("enter", "tab", "ctrl+o", "~/none", "enter")
		r.shows("✗ no such file or directory", "none")
		r.press("enter", "tab", "left")
		r.shows("▸ photos/")
		r.press("~/a.png", "enter")
		r.shows("✗ not a directory")
		r.press("esc")
		r.shows("▸ files")
		r.press("ctrl+o")
		r.shows("▸ photos/")
		r.press("enter", "enter")
		r.shows("The folder is empty.")
	})
}

// TestPickerIsLeftMeanwhile: a folder that comes late leaves all that was done meanwhile as it is.
func TestPickerIsLeftMeanwhile(t *testing.T) {
	manyFiles(t)
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(builtIn(t, "text.chat")...))
		r.press("enter", "tab")
		r.update(key("ctrl+o"))
		r.shows("reading the folder…")
		r.update(key("left"))
		r.update(key("enter"))
		r.update(key("esc"))
		r.settle()
		r.shows("▸ files")
		r.press("ctrl+o")
		r.update(key("enter"))
		synctest.Wait() // that folder is on its way
		r.update(key("~"))
		r.update(key("enter"))
		r.settle()
		r.shows("▸ photos/", "a.png")
	})
}

// TestFolderAbove: the cursor is on the folder that was left.
func TestFolderAbove(t *testing.T) {
	manyFiles(t)
	if err := os.Mkdir("photos/new", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir("photos/old")
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(builtIn(t, "text.chat")...))
		r.press("enter", "tab", "ctrl+o", "left")
		r.shows("new/", "▸ old/", "── ~/photos/ ──")
	})
}

// TestManyNames: a folder with more names than are looked at says so.
func TestManyNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 5003 {
		if err := os.WriteFile(fmt.Sprintf("%04d", i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(builtIn(t, "text.chat")...))
		r.press("enter", "tab", "ctrl+o")
		r.shows("3 more names aren't looked at")
	})
}

// TestExamples: a field whose values the directory names offers them, and takes others.
func TestExamples(t *testing.T) {
	c, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	speech, _ := c.Get("audio.speech")
	speech = speech.WithExamples("voice", []string{"nova", "alloy", "echo", "\x1b[31mfable"})
	one := api.Capability{Name: speech.Name, Title: speech.Title, InputSchema: speech.InputSchema, ParametersSchema: speech.ParametersSchema}
	for name, tt := range map[string]struct {
		keys []string
		want string
	}{
		"the first":      {[]string{"ctrl+o", "enter"}, `{"voice":"nova"}`},
		"by its letters": {[]string{"ctrl+o", "ll", "enter"}, `{"voice":"alloy"}`},
		"by the cursor":  {[]string{"ctrl+o", "end", "up", "right", "left", "tab"}, `{"voice":"echo"}`},
		"in its place":   {[]string{"nove", "ctrl+o", "nov", "enter"}, `{"voice":"nova"}`},
		"another":        {[]string{"ctrl+o", "x", "esc", "esc", "onyx"}, `{"voice":"onyx"}`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(one)
				r := newTestDashboard(t, service)
				r.press("enter", "hi", "tab", "enter", "tab", "tab")
				r.shows("▸ voice", "nova, alloy or echo; ctrl+o shows all.")
				r.press(tt.keys...)
				r.press("ctrl+s")
				if len(service.creations) != 1 || string(service.creations[0].Request.Parameters) != tt.want {
					t.Errorf("sent %+v, want %s:\n%s", service.creations, tt.want, r.view())
				}
			})
		})
	}
}
