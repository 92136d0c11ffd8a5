package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	kept "unitask/internal/chat"
	"unitask/internal/form"
	"unitask/internal/tui"
)

// talks are conversations in memory.
type talks struct {
	mu     sync.Mutex
	list   []kept.Summary
	open   map[string]*talk
	opened []string
	fail   error
}

func (f *talks) List() ([]kept.Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list, f.fail
}

func (f *talks) Open(_ context.Context, id, preferred string) (tui.Talk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = append(f.opened, strings.TrimSpace(id+" "+preferred))
	if f.fail != nil {
		return nil, f.fail
	}
	if f.open[id] == nil || id == "" {
		f.open[id] = newTalk(kept.View{Summary: kept.Summary{ID: "chat_new", Capability: preferred}})
	}
	f.open[id].note("open")
	return f.open[id], nil
}

// talk is one of them. Its answers come when a test says so.
type talk struct {
	mu      sync.Mutex
	view    kept.View
	did     []string
	answers chan string // pieces; "." ends the answer
	fail    error       // of Say
	end     error       // of the next Wait
	files   form.Entry  // that go along with a message; the zero one if it can't have files
	slow    bool        // Say and Again end by hold alone, or Say by its context
	hold    chan error
}

func newTalk(v kept.View) *talk {
	return &talk{view: v, answers: make(chan string), hold: make(chan error)}
}

func (k *talk) note(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.did = append(k.did, what)
}

func (k *talk) View() kept.View {
	k.mu.Lock()
	defer k.mu.Unlock()
	v := k.view
	v.Messages = append([]kept.Said{}, v.Messages...)
	return v
}

func (k *talk) Files() (form.Entry, bool) {
	return k.files, k.files.Kinds != nil
}

func (k *talk) Say(ctx context.Context, text string, paths []string) error {
	k.note(strings.Join(append([]string{"say " + text}, paths...), " @"))
	if k.slow {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-k.hold:
			if err != nil {
				return err
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return k.fail
	}
	if n := len(k.view.Calls); n > 0 {
		k.view.Calls = k.view.Calls[1:]
		k.view.Unanswered = n == 1
		return nil
	}
	k.view.Failed, k.view.Failure = nil, nil
	k.view.Messages, k.view.Unanswered = append(k.view.Messages, kept.Said{Role: "user", Text: text, Files: paths}), true
	return nil
}

func (k *talk) Wait(ctx context.Context, onText, onThought func(string), onAgain func()) error {
	k.note("wait")
	k.mu.Lock()
	end := k.end
	k.end = nil
	k.mu.Unlock()
	if end != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		last := len(k.view.Messages) - 1
		k.view.Failed, k.view.Failure = k.view.Messages[last:], &kept.Failure{Code: "PROVIDER_TIMEOUT", Message: end.Error(), Retryable: true}
		k.view.Messages, k.view.Unanswered = k.view.Messages[:last], false
		return end
	}
	whole := ""
	for {
		select {
		case piece := <-k.answers:
			switch {
			case piece == ".":
				k.mu.Lock()
				k.view.Messages, k.view.Unanswered = append(k.view.Messages, kept.Said{Role: "assistant", Text: whole}), false
				k.view.Turns++
				k.view.Spent = kept.Spent{Tasks: k.view.Turns}
				k.mu.Unlock()
				return nil
			case piece == "again":
				whole = ""
				onAgain()
			case strings.HasPrefix(piece, "?"):
				onThought(piece[1:])
			default:
				whole += piece
				onText(piece)
			}
		case <-ctx.Done():
			return fmt.Errorf("left: %w", ctx.Err())
		}
	}
}

func (k *talk) Cancel(context.Context) error {
	k.note("cancel")
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end = errors.New("task_1 was canceled")
	return nil
}

func (k *talk) Again() error {
	k.note("again")
	if k.slow {
		if err := <-k.hold; err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.view.Messages, k.view.Unanswered = append(k.view.Messages, k.view.Failed...), true
	k.view.Failed, k.view.Failure = nil, nil
	return nil
}

func (k *talk) Undo() error {
	k.note("undo")
	k.mu.Lock()
	defer k.mu.Unlock()
	k.view.Messages, k.view.Turns = k.view.Messages[:len(k.view.Messages)-2], k.view.Turns-1
	return nil
}

func (k *talk) Close() error {
	k.note("close")
	return nil
}

// talking is a dashboard with two conversations, the second of which waits for its answer.
func talking(t *testing.T) (*testDashboard, *talk, *talk) {
	t.Helper()
	r := newTestDashboard(t, newFake(chat(), imageEdit()))
	one, two := twoTalks(r)
	return r, one, two
}

func twoTalks(r *testDashboard) (one, two *talk) {
	changed := time.Now().Add(-3 * time.Hour)
	at := kept.Place{BaseURL: address, Profile: "local"}
	one = newTalk(kept.View{
		Summary: kept.Summary{ID: "chat_1", Title: "Why is the sky blue?", Turns: 1, Capability: "text.chat", Changed: changed, Place: at},
		Messages: []kept.Said{
			{Role: "user", Text: "Why is the sky blue?\nIn one word.", Files: []string{"sky.png"}},
			{Role: "assistant", Text: "Scattering. " + poem},
		},
	})
	two = newTalk(kept.View{
		Summary:  kept.Summary{ID: "chat_2", Title: "Say it", Turns: 0, Unanswered: true, Capability: "text.chat", Changed: changed, Place: at},
		Messages: []kept.Said{{Role: "user", Text: "Say it"}},
	})
	r.talks.list = []kept.Summary{one.view.Summary, two.view.Summary}
	r.talks.open = map[string]*talk{"chat_1": one, "chat_2": two}
	return one, two
}

// say has a piece of an answer come.
func (r *testDashboard) say(k *talk, pieces ...string) {
	for _, piece := range pieces {
		k.answers <- piece
		r.settle()
	}
}

// TestTalk: a person opens a conversation, says something, sees the answer come and goes on.
func TestTalk(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		bubble(t, func(t *testing.T) {
			r, one, _ := talking(t)
			r.resize(size[0], size[1])
			r.press("t")
			r.shows("› conversations", "▸ Why is the sky", "● Say it", "3h")
			r.press("enter")
			r.shows("› text.chat", "reached the town-o.", "› ")
			r.press("And at", " ", "night?", "ctrl+j", "Hm", "enter")
			r.shows("› And at night?", "Hm", "waiting, 0s")
			r.say(one, "?It", "? asks")
			r.shows("It asks", "thinking, 0s")
			r.say(one, "Dark", "ness")
			r.shows(" Darkness", "answering")
			r.hides("It asks")
			r.say(one, "again", "Black")
			r.hides("Darkness")
			r.say(one, ".")
			r.shows(" Black", "2 tasks, $")
			r.press("pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup")
			r.shows("› Why is the sky blue?", "@sky.png")
			r.press("ctrl+y")
			if r.clipboard != "Black" {
				t.Errorf("copied %q", r.clipboard)
			}
			r.press("/undo", "enter")
			r.hides("Black")
			r.press("esc")
			r.shows("› conversations")
			r.press("esc")
			r.shows("▸ text.chat")
			want := []string{"open", "say And at night?\nHm", "wait", "undo", "close"}
			if diff := cmp.Diff(want, one.did); diff != "" {
				t.Errorf("did (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTalkGoesOn: an answer that an earlier process didn't get is waited for at once. Esc stops the wait alone; enter
// waits on, and ctrl+x cancels.
func TestTalkGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _, two := talking(t)
		r.press("t", "down", "enter")
		r.shows("› Say it", "waiting, 0s")
		r.pass(5 * time.Second)
		r.shows("waiting, 5s")
		r.press("esc")
		r.shows("the answer goes on; enter waits on", "the answer isn't there yet")
		r.press("more", "enter")
		r.shows("the last message has no answer yet", "more")
		r.press("ctrl+u", "enter")
		r.shows("waiting, 0s")
		r.press("ctrl+x")
		r.shows("task_1 was canceled", "ctrl+r asks again")
		r.press("ctrl+r")
		r.say(two, "It.", ".")
		r.shows(" It.")
		want := []string{"open", "wait", "wait", "cancel", "wait", "again", "wait"}
		if diff := cmp.Diff(want, two.did); diff != "" {
			t.Errorf("did (-want +got):\n%s", diff)
		}
	})
}

// TestTalkMeanwhile: the answer comes while another screen is shown, and another profile ends the wait.
func TestTalkMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, one, two := talking(t)
		r.press("t", "down", "enter", "tab")
		r.shows("No task yet.")
		r.say(two, "Well", ".")
		r.press("t")
		r.shows(" Well", "1 task")
		r.press("/new", "enter")
		r.shows("› text.chat", "Write a message")
		r.press("/list", "enter", "home", "enter", "go on", "enter")
		other := newFake(chat())
		r.profiles.all = []tui.Profile{{Name: "work", BaseURL: "http://work"}}
		r.profiles.open = map[string]tui.Reached{"work": {Service: other, Files: other.files(), Profile: "work"}}
		r.press("tab", "p", "work", "enter")
		r.shows("now with work")
		r.press("t")
		r.hides("text.chat", "talk")
		if diff := cmp.Diff([]string{"open", "say go on", "wait", "close"}, one.did); diff != "" {
			t.Errorf("did (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"chat_2 text.chat", "text.chat", "chat_1 text.chat"}, r.talks.opened); diff != "" {
			t.Errorf("opened (-want +got):\n%s", diff)
		}
	})
}

// TestTalkRefused: a conversation that can't be opened or kept is told, and the message stays in the entry.
func TestTalkRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, one, _ := talking(t)
		r.talks.fail = errors.New("another unitask has chat_1 open")
		r.press("t")
		r.shows("✗ the conversations can't be read")
		r.talks.fail = nil
		r.press("r")
		r.talks.fail = errors.New("another unitask has chat_1 open")
		r.press("enter")
		r.shows("✗ another unitask has chat_1 open", "› conversations")
		r.talks.fail = nil
		one.fail = errors.New("nothing was sent")
		r.press("enter", "important words", "enter")
		r.shows("✗ nothing was sent", "› important words")
		r.press("ctrl+u", "/set x=1", "enter")
		r.shows("✗ there is no /set x=1 here", "› /set x=1")
		r.press("ctrl+u", "//literal", "enter")
		one.view.Calls = []kept.Call{{ID: "1", Name: "weather"}, {ID: "2", Name: "time"}}
		one.fail = nil
		r.press("ctrl+u", "x", "enter")
		r.shows("the result of time")
		r.press("enter")
		r.shows("waiting")
		if diff := cmp.Diff([]string{"open", "say important words", "say /literal", "say x", "say ", "wait"}, one.did); diff != "" {
			t.Errorf("did (-want +got):\n%s", diff)
		}
	})
}
