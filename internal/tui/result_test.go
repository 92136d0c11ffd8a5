package tui_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/save"
	"unitask/internal/task"
	"unitask/internal/tui"
)

// ended opens a task that has ended; edit is the keys.
func ended(t *testing.T, edit func(*api.Task)) (*testDashboard, *fake) {
	t.Helper()
	service := newFake(chat(), imageEdit())
	service.hold(openTask(1, "text.chat"))
	service.change("task_0001", func(t *api.Task) {
		end(t, task.Succeeded)
		edit(t)
	})
	r := newTestDashboard(t, service)
	r.press("tab", "enter")
	return r, service
}

func saysText(s string) func(*api.Task) {
	return func(t *api.Task) { t.Output = &api.Output{Text: &s} }
}

func hasImages(images ...api.Artifact) func(*api.Task) {
	return func(t *api.Task) { t.Output = &api.Output{Images: images} }
}

func pngFile(id string) api.Artifact {
	return api.Artifact{ID: id, URL: "http://h/" + id, ContentType: "image/png", Bytes: 100}
}

// TestSave: the place is asked for and kept for the next time; an existing file is replaced only after a yes.
func TestSave(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		want []saving
		says string
	}{
		{"as offered", []string{"s", "enter"}, []saving{{"task_0001", "./", false}}, "✓ saved ./"},
		{"elsewhere", []string{"s", "ctrl+u", "~/p/", "enter"}, []saving{{"task_0001", "~/p/", false}}, "✓ saved ~/p/"},
		{"remembered", []string{"s", "x", "enter", "s", "2", "enter"}, []saving{{"task_0001", "./x", false}, {"task_0001", "./x2", false}}, "✓ saved ./x2"},
		{"not after all", []string{"s", "esc"}, nil, "✓ succeeded"},
		{"nowhere", []string{"s", "ctrl+u", "enter"}, nil, "✓ succeeded"},
		{"there, asked", []string{"s", "taken", "enter"}, []saving{{"task_0001", "./taken", false}}, "Replace taken? y yes, n no"},
		{"there, no", []string{"s", "taken", "enter", "n", "y"}, []saving{{"task_0001", "./taken", false}}, "copied the text"},
		{
			"there, yes",
			[]string{"s", "taken", "enter", "y"},
			[]saving{{"task_0001", "./taken", false}, {"task_0001", "./taken", true}},
			"✓ saved ./taken",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, service := ended(t, saysText("hello"))
				service.disk.there["./taken"] = true
				r.press(tt.keys...)
				r.shows(tt.says)
				if diff := cmp.Diff(tt.want, service.disk.savings); diff != "" {
					t.Errorf("savings (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestNoRoomToSave: an error of this machine is said as it is, one of the service with its code.
func TestNoRoomToSave(t *testing.T) {
	for says, err := range map[string]error{
		"✗ not saved: a.txt: permission denied":                        errors.New("a.txt: permission denied"),
		"✗ not saved: NOT_FOUND: no such file here (request req_0077)": &client.Error{Fault: fault.New(fault.NotFound, "no such file here"), RequestID: "req_0077"},
	} {
		bubble(t, func(t *testing.T) {
			r, service := ended(t, saysText("hello"))
			service.disk.fail = err
			r.press("s", "enter")
			r.shows(says)
			r.press("o")
			r.shows("✗ not opened: ")
		})
	}
}

func TestOpen(t *testing.T) {
	for _, desktop := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			r, service := ended(t, saysText("hello"))
			service.disk.desktop = desktop
			r.press("o")
			want := "there is no desktop here; saved /cache/task_0001"
			if desktop {
				want = "✓ opened /cache/task_0001"
			}
			r.shows(want)
		})
	}
}

func TestCopy(t *testing.T) {
	tests := []struct {
		name string
		edit func(*api.Task)
		want string
		says string
	}{
		{"text", saysText("a\n\tb\x1b]52;c;eA==\x07c\x00\r\nd\u202e"), "a\n\tbc\nd", "copied the text"},
		{"one file", hasImages(pngFile("art_1")), "http://h/art_1", "copied the address,"},
		{"files", hasImages(pngFile("art_1"), pngFile("art_2")), "http://h/art_1\nhttp://h/art_2", "copied the addresses,"},
		{"vectors", func(t *api.Task) { t.Output = &api.Output{Embeddings: [][]float32{{1, 0.5}}} }, "[[1,0.5]]", "copied the numbers"},
		{"failure", func(t *api.Task) {
			t.State, t.Error = task.Failed, &api.Error{Code: fault.Internal, Message: "oh\x1b[2J no"}
		}, "INTERNAL: oh no (task task_0001)", "copied the error"},
		{"nothing yet", func(t *api.Task) { t.State = task.Running }, "task_0001", "copied the task's id"},
		{"too much", saysText(strings.Repeat("x", 72_001)), "", "the text is too long for a clipboard; s saves it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, _ := ended(t, tt.edit)
				r.press("y")
				r.shows(tt.says)
				if r.clipboard != tt.want {
					t.Errorf("copied %q, want %q", r.clipboard, tt.want)
				}
			})
		})
	}
}

// TestNoResult: keys that need a result say that it is missing, and aren't offered.
func TestNoResult(t *testing.T) {
	for _, k := range []string{"s", "o", "i"} {
		bubble(t, func(t *testing.T) {
			r, service := ended(t, func(t *api.Task) { t.State = task.Failed })
			r.hides("s save", "o open", "i picture")
			r.press(k)
			r.shows("this task has no result")
			if len(service.disk.savings) > 0 || r.quit {
				t.Errorf("%s did something", k)
			}
		})
	}
}

// TestPreview: the pictures of the task that is open are fetched once each, and drawn.
func TestPreview(t *testing.T) {
	tests := []struct {
		name    string
		edit    func(*api.Task)
		fetched []string
		says    string
	}{
		{"a picture", hasImages(pngFile("art_1")), []string{"art_1"}, "▒███"},
		{"two, one of them damaged", hasImages(pngFile("art_1"), pngFile("art_2")), []string{"art_1", "art_2"}, "█████"},
		{"damaged", hasImages(pngFile("art_2")), []string{"art_2"}, "no picture: the file is damaged"},
		{"foreign", hasImages(pngFile("art_3")), []string{"art_3"}, "no picture: the format isn't known here"},
		{"large", hasImages(api.Artifact{ID: "art_1", ContentType: "image/png", Bytes: 33 << 20}), nil, "no picture: it is larger than 32.0 MB"},
		{"a sound", func(t *api.Task) { t.Output = &api.Output{Audio: &api.Artifact{ID: "art_1", ContentType: "audio/wav"}} }, nil, "audio/wav"},
		{"a vector drawing", hasImages(api.Artifact{ID: "art_1", ContentType: "image/svg+xml"}), nil, "image/svg+xml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(chat())
				service.disk.contents = map[string][]byte{"art_1": sunset, "art_2": sunset[:50], "art_3": []byte("%PDF")}
				service.hold(openTask(1, "image.edit"))
				r := newTestDashboard(t, service)
				r.press("tab", "enter")
				service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded); tt.edit(t) })
				r.pass(30 * time.Second)
				r.shows(tt.says)
				slices.Sort(service.disk.fetched)
				if diff := cmp.Diff(tt.fetched, service.disk.fetched); diff != "" {
					t.Errorf("fetched (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestPreviewOfAnother: a picture that comes late isn't drawn in another task.
func TestPreviewOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := ended(t, hasImages(pngFile("art_1")))
		service.hold(service.tasks[0], openTask(2, "image.edit"))
		service.change("task_0002", func(t *api.Task) { end(t, task.Succeeded); hasImages(pngFile("art_1"))(t) })
		r.pass(15 * time.Second)
		service.disk.contents["art_1"] = sunset
		r.press("esc", "up", "enter")
		r.pass(5 * time.Second)
		r.shows("› image.edit", "████")
	})
}

// TestLeaveWithPictures: the pictures are shown once the screen is given back, if the terminal can.
func TestLeaveWithPictures(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _ := ended(t, hasImages(pngFile("art_1")))
		r.press("i")
		r.shows("there is no picture to show")
		if r.quit {
			t.Error("it quits without a picture")
		}
	})
	bubble(t, func(t *testing.T) {
		service := newFake(imageEdit())
		service.disk.contents["art_1"] = sunset
		service.hold(openTask(1, "image.edit"))
		service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded); hasImages(pngFile("art_1"))(t) })
		r := newTestDashboard(t, service)
		r.press("tab", "enter", "i")
		if !r.quit || len(tui.Pictures(r.model)) != 1 {
			t.Errorf("quits: %t, with %d pictures", r.quit, len(tui.Pictures(r.model)))
		}
	})
}

// TestRunAgain: the form comes back as it was sent; sending it is another task under another key.
func TestRunAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(imageEdit(), chat())
		r := newTestDashboard(t, service)
		r.press("enter", "one", "tab", "https://h/i", "enter", "https://h/j", "tab", "right", "tab", "enter", "tab", "tab", "tab", "right", "ctrl+s")
		r.press("tab", "enter", "ctrl+u", "other", "tab", "ctrl+u", "ctrl+s") // the form moves on
		for range 3 {
			r.press("esc")
		}
		r.shows("▸ image.edit")
		r.press("tab", "end", "e")
		r.shows("│ one", "│ https://h/i", "│ https://h/j")
		r.press(" ", "more", "ctrl+s")
		first, last := service.creations[0], service.creations[len(service.creations)-1]
		if first.Key == last.Key {
			t.Errorf("both go out under %s", first.Key)
		}
		want := strings.Replace(string(first.Request.Input), `"one"`, `"one more"`, 1)
		if got := string(last.Request.Input); got != want {
			t.Errorf("input %s, want %s", got, want)
		}
		if diff := cmp.Diff(string(first.Request.Parameters), string(last.Request.Parameters)); diff != "" {
			t.Errorf("parameters (-want +got):\n%s", diff)
		}
	})
}

// TestRunAgainWhatOthersSent: the form opens, and why it is empty is said.
func TestRunAgainWhatOthersSent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := ended(t, saysText("hello"))
		r.press("e")
		r.shows("› text.chat", "✗ its input isn't kept: only what this dashboard sent can be edited")
		r.press("esc")
		service.hold(openTask(2, "music.make"))
		r.pass(11 * time.Second)
		r.press("tab", "home", "e")
		r.shows("✗ this key doesn't open music.make")
	})
}

// TestSort: each order, from the first row to the last.
func TestSort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat(), imageEdit())
		r := newTestDashboard(t, service)
		manyTasks(r, service)
		r.press("tab")
		ids := map[string]string{"○": "5", "◆": "4", "✗": "3", "$0.04": "2", "$0.000028": "1"}
		rows := func() string {
			var order string
			for l := range strings.Lines(r.view()) {
				for sign, id := range ids {
					if strings.Contains(l, sign+" ") {
						order += id
					}
				}
			}
			return order
		}
		for _, want := range []struct{ order, says string }{
			{"54321", ""},
			{"12345", "oldest first"},
			{"54213", "by state"},
			{"42513", "by capability"},
			{"45123", "by time"},
			{"21543", "by cost"},
			{"54321", ""},
		} {
			if got := rows(); got != want.order {
				t.Errorf("%q: rows %s, want %s\n%s", want.says, got, want.order, r.view())
			}
			r.shows(want.says)
			r.press("s")
		}
	})
}

// TestFilter: every word must stand in the row, in any case; esc undoes first the typed text, then the filter; the
// selection stays on its task.
func TestFilter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat(), imageEdit())
		r := newTestDashboard(t, service)
		manyTasks(r, service)
		r.press("tab", "/", "PROVIDER_T")
		r.shows("▸ ✗ failed")
		r.hides("○", "◆")
		r.press("esc")
		r.shows("○", "◆")
		r.press("/", "chat fox", "enter")
		r.shows("text.chat")
		r.hides("✗", "○")
		r.press("enter", "esc")
		r.shows("/chat fox")
		r.press("/", "ctrl+u", "enter")
		r.shows("○", "▸ ✓ succeeded     text.chat")
		r.press("/task_0002") // so fast that it comes at once
		r.shows("/task_0002", "✓ succeeded     image.edit")
		r.hides("○", "text.chat")
		r.press("enter", "esc")
		r.shows("○", "▸ ✓ succeeded     text.chat")
		r.press("esc")
		r.shows("NAME")
	})
}

// TestHelpScrolls: every key is found in a small window.
func TestHelpScrolls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _ := ended(t, saysText("hello"))
		r.resize(40, 10)
		r.press("?")
		r.hides("quit")
		r.press("end")
		r.shows("quit")
		r.press("home")
		r.shows("esc      back")
		r.press("x")
		r.shows("hello")
	})
}

// TestHostileFiles: names of files and errors of this machine are drawn as text alone.
func TestHostileFiles(t *testing.T) {
	const evil = "./a\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x00\r\nb"
	clean := func(t *testing.T, shown string) {
		t.Helper()
		bad := func(c rune) bool { return c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) }
		if at := strings.IndexFunc(shown, bad); at >= 0 {
			t.Errorf("a control character: %q", shown[max(0, at-20):])
		}
	}
	for _, keys := range [][]string{{"s", "enter"}, {"s", "enter", "y"}, {"o"}, {"y"}, {"c"}, {"e"}} {
		for _, fail := range []error{nil, errors.New(evil), &save.ExistError{Names: []string{evil}}} {
			bubble(t, func(t *testing.T) {
				r, service := ended(t, func(t *api.Task) {
					t.Capability = "text.chat" + evil
					hasImages(api.Artifact{ID: evil, URL: evil, ContentType: "image/png"})(t)
				})
				service.disk.fail, service.disk.desktop, service.disk.named = fail, true, []string{evil, evil}
				r.press(keys...)
				clean(t, r.model.View())
				clean(t, r.clipboard)
			})
		}
	}
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(openTask(1, "text.chat"+evil))
		r := newTestDashboard(t, service)
		service.change("task_0001", func(t *api.Task) { end(t, task.State("done"+evil)) })
		service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded) })
		r.pass(15 * time.Second)
		if len(r.said) != 1 {
			t.Fatalf("said: %q", r.said)
		}
		clean(t, r.said[0])
	})
}
