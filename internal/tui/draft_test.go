package tui_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/tui"
)

// sendingAhead is a conversation whose message waits for its large file.
func sendingAhead(t *testing.T) (*testDashboard, *talk) {
	t.Helper()
	r, one, _ := talking(t)
	one.files, one.slow = besidePrompts(t), true
	other := newFake(chat())
	r.profiles.all = []tui.Profile{{Name: "work", BaseURL: "http://work"}}
	r.profiles.open = map[string]tui.Reached{"work": {Service: other, Files: other.files(), Profile: "work"}}
	r.press("t", "enter", "/file a.png", "enter", "look", "enter")
	r.shows("› look", "@a.png", "sending the files")
	return r, one
}

// TestTalkLeavesNoMessage: a conversation isn't left while a message is on its way into it, and why is said.
func TestTalkLeavesNoMessage(t *testing.T) {
	const notYet = "✗ the message isn't sent yet"
	for name, tt := range map[string]struct {
		keys []string
		says string
	}{
		"new":        {[]string{"/new", "enter"}, notYet},
		"list":       {[]string{"/list", "enter"}, notYet},
		"quit":       {[]string{"/quit", "enter"}, notYet},
		"from menu":  {[]string{"ctrl+k", "new conv", "enter"}, notYet},
		"another":    {[]string{"more", "enter"}, notYet},
		"undo":       {[]string{"/undo", "enter"}, notYet},
		"profile":    {[]string{"tab", "p", "work", "enter"}, "✗ a message is being sent"},
		"quit, no":   {[]string{"tab", "q", "n"}, "Tasks"},
		"ctrl+c, no": {[]string{"ctrl+c", "n"}, "sending the files"},
	} {
		t.Run(name, func(t *testing.T) {
			manyFiles(t)
			bubble(t, func(t *testing.T) {
				r, one := sendingAhead(t)
				r.press(tt.keys...)
				r.shows(tt.says)
				if r.quit {
					t.Fatal("the dashboard ended")
				}
				r.press("tab", "t")
				one.hold <- nil
				r.settle()
				r.shows("› look", "waiting")
				if diff := cmp.Diff([]string{"open", "say look @a.png", "wait"}, one.did); diff != "" {
					t.Errorf("did (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestQuitWhileSending: to quit is asked first, and to say so again is a yes.
func TestQuitWhileSending(t *testing.T) {
	for name, keys := range map[string][]string{
		"yes": {"ctrl+c", "y"}, "again": {"ctrl+c", "ctrl+c"}, "q": {"tab", "q", "y"}, "menu": {"ctrl+k", "quit", "enter", "y"},
	} {
		t.Run(name, func(t *testing.T) {
			manyFiles(t)
			bubble(t, func(t *testing.T) {
				r, _ := sendingAhead(t)
				r.resize(40, 10)
				r.press(keys[:len(keys)-1]...)
				r.shows("Quit and lose a message? y yes, n no")
				if r.quit {
					t.Fatal("the dashboard ended without an answer")
				}
				r.press(keys[len(keys)-1])
				if !r.quit {
					t.Error("the dashboard goes on")
				}
			})
		})
	}
}

// TestTalkKeepsDrafts: words and files in the entry of a conversation that is left stand there when it is opened again.
func TestTalkKeepsDrafts(t *testing.T) {
	manyFiles(t)
	bubble(t, func(t *testing.T) {
		r, one, two := talking(t)
		one.files, two.files = besidePrompts(t), besidePrompts(t)
		r.press("t", "enter", "/file a.png", "enter", "one's", "esc")
		r.shows("✓ the draft is kept", "› conversations")
		r.press("n")
		r.hides("one's", "a.png")
		r.press("new's", "esc", "down", "enter", "esc", "two's", "esc", "up", "enter")
		r.shows("› one's", "@a.png")
		r.press(" more", "esc", "down", "enter")
		r.shows("› two's", "waiting")
		r.press("ctrl+u", "/new", "enter")
		r.shows("› new's")
		r.press("ctrl+u", "esc", "up", "enter")
		r.shows("› one's more", "@a.png")
		r.press("enter", "tab", "t")
		want := []string{"open", "close", "open", "close", "open", "say one's more @a.png", "wait"}
		if diff := cmp.Diff(want, one.did); diff != "" {
			t.Errorf("did (-want +got):\n%s", diff)
		}
	})
}

// TestTalkNotBegun: a conversation that can't be begun from another one leads to the list.
func TestTalkNotBegun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _, _ := talking(t)
		r.press("t", "enter")
		r.talks.fail = errAway
		r.press("/new", "enter", "hello", "enter")
		r.shows("› conversations")
	})
}

// TestTalkNotBegunMeanwhile: nor does esc lead from a form into a conversation that couldn't be begun.
func TestTalkNotBegunMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _, _ := talking(t)
		r.press("t", "enter", "/new")
		r.talks.fail = errAway
		for _, k := range []string{"enter", "ctrl+k", "text.chat", "enter"} {
			r.update(key(k))
		}
		r.settle()
		r.press("esc", "hello", "enter")
		r.shows("› conversations")
	})
}
