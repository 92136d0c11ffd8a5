package tui_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	kept "unitask/internal/chat"
	"unitask/internal/form"
)

// besidePrompts is the entry of the files that go along with a chat's messages.
func besidePrompts(t *testing.T) form.Entry {
	t.Helper()
	c := builtIn(t, "text.chat")[0]
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := form.Beside(fields)
	if !ok {
		t.Fatal("a chat takes no files")
	}
	return e
}

// TestTalkFiles: files are picked or named, seen, taken back and sent with the message, whose lines name them.
func TestTalkFiles(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		manyFiles(t)
		bubble(t, func(t *testing.T) {
			r, one, _ := talking(t)
			one.files = besidePrompts(t)
			r.resize(size[0], size[1])
			r.press("t", "enter", "what is this?", "ctrl+o")
			r.shows("› files", "photos/")
			r.press("a.p", "tab", "ctrl+u", "b.pdf", "tab", "ctrl+u", "notes", "enter")
			r.shows("› what is this?", "@notes.md")
			r.press("ctrl+u", "/file ~/photos/Zoo.png", "enter")
			r.shows("@~/photos/Zoo.png")
			r.press("backspace", "ctrl+o", "b.pdf", "tab", "esc", "esc")
			r.shows("@a.png", "@notes.md")
			r.hides("b.pdf", "Zoo")
			r.press("and this", "enter")
			r.shows("› and this", "@a.png", "@notes.md", "waiting")
			r.say(one, "A dot.", ".")
			r.press("/file ~/photos/Zoo.png", "enter", "enter")
			home := os.Getenv("HOME")
			want := []string{
				"open", "say and this @a.png @notes.md", "wait", "say  @" + filepath.Join(home, "photos", "Zoo.png"), "wait",
			}
			if diff := cmp.Diff(want, one.did); diff != "" {
				t.Errorf("did (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTalkFilesRefused: without a way for files none is picked, a tool's result takes none, and esc ends a long way
// ahead; the message and its files stay.
func TestTalkFilesRefused(t *testing.T) {
	manyFiles(t)
	bubble(t, func(t *testing.T) {
		r, one, two := talking(t)
		r.press("t", "enter", "ctrl+o")
		r.hides("› files")
		r.press("/file a.png", "enter")
		r.shows("✗ no file goes along with a message of text.chat")
		r.press("ctrl+u", "esc")
		two.files, two.slow = besidePrompts(t), true
		two.view = kept.View{Summary: kept.Summary{ID: "chat_2", Capability: "text.chat"}}
		r.press("down", "enter", "/file", "enter")
		r.shows("/file takes the path of a file")
		r.press(" a.png", "enter", "look", "enter")
		r.shows("reading the files, 0s", "@a.png")
		r.press("esc")
		r.shows("not sent", "@a.png", "› look")
		if diff := cmp.Diff([]string{"open", "say look @a.png"}, two.did); diff != "" {
			t.Errorf("did (-want +got):\n%s", diff)
		}
		if len(one.did) != 2 {
			t.Errorf("did %v", one.did)
		}
	})
}
