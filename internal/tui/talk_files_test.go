package tui_test

import (
	"errors"
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
		r.shows("sending the files, 0s", "@a.png")
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

// TestTalkRetryKeepsDraft: to ask again leaves the text and the files of the next message in the entry, and esc
// meanwhile does no harm.
func TestTalkRetryKeepsDraft(t *testing.T) {
	for name, fails := range map[string]error{"sent": nil, "refused": errors.New("nothing was sent")} {
		t.Run(name, func(t *testing.T) {
			manyFiles(t)
			bubble(t, func(t *testing.T) {
				r, one, _ := talking(t)
				one.files, one.slow = besidePrompts(t), true
				r.press("t", "enter", "/file a.png", "enter", "a draft", "ctrl+r", "esc")
				r.shows("› a draft", "@a.png")
				one.hold <- fails
				r.settle()
				r.shows("› a draft", "@a.png")
				want := []string{"open", "again"}
				if fails == nil {
					r.say(one, "Blue", ".")
					r.shows("Blue", "› a draft", "@a.png")
					want = append(want, "wait")
				}
				if diff := cmp.Diff(want, one.did); diff != "" {
					t.Errorf("did (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestTalkNextMessage: text and files written while a large file goes ahead are the next message's. They stay once the
// first one is in the conversation, and follow it in the entry if it isn't.
func TestTalkNextMessage(t *testing.T) {
	begin := func(t *testing.T) (*testDashboard, *talk) {
		r, one, _ := talking(t)
		one.files, one.slow = besidePrompts(t), true
		r.press("t", "enter", "/file a.png", "enter", "look", "enter")
		r.shows("› look", "@a.png", "sending the files")
		r.press("/file notes.md", "enter", "look again")
		r.shows("› look again", "@notes.md")
		return r, one
	}
	t.Run("said", func(t *testing.T) {
		manyFiles(t)
		bubble(t, func(t *testing.T) {
			r, one := begin(t)
			one.hold <- nil
			r.settle()
			r.shows("waiting", "› look again", "@notes.md")
			one.slow = false
			r.say(one, "A dot", ".")
			r.press("enter")
			want := []string{"open", "say look @a.png", "wait", "say look again @notes.md", "wait"}
			if diff := cmp.Diff(want, one.did); diff != "" {
				t.Errorf("did (-want +got):\n%s", diff)
			}
		})
	})
	for name, end := range map[string]func(*testDashboard, *talk){
		"stopped": func(r *testDashboard, _ *talk) { r.press("esc") },
		"refused": func(r *testDashboard, k *talk) { k.hold <- errors.New("nothing was sent"); r.settle() },
	} {
		t.Run(name, func(t *testing.T) {
			manyFiles(t)
			bubble(t, func(t *testing.T) {
				r, one := begin(t)
				end(r, one)
				one.slow = false
				r.press("enter")
				want := []string{"open", "say look @a.png", "say look\nlook again @a.png @notes.md", "wait"}
				if diff := cmp.Diff(want, one.did); diff != "" {
					t.Errorf("did (-want +got):\n%s", diff)
				}
			})
		})
	}
}
