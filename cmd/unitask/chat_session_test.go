package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"unitask/internal/submit/talk"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/journal"
	"unitask/internal/secret"
	"unitask/internal/submit"
	"unitask/internal/task"
)

// newChatSession talks at a terminal that can't be read, with a service that sees each request in asked and answers it
// with a task that has ended.
func newChatSession(t *testing.T, asked func(body string)) *chatSession {
	t.Helper()
	f := newFake(t)
	t.Cleanup(f.Close)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			raw, _ := io.ReadAll(r.Body)
			asked(string(raw))
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
		}
		f.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(service.Close)
	key := func(context.Context) (secret.Value, error) { return secret.New(fakeKey), nil }
	c, err := client.New(client.Config{BaseURL: service.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	s := &chatSession{
		t: &terminal{in: strings.NewReader(""), out: io.Discard, err: io.Discard, inTTY: true}, flags: &clientFlags{},
		Session: talk.Session{
			Service: &submit.Service{Client: c, Key: key, Journal: journal.Open(t.TempDir())},
			Place:   chat.Place{BaseURL: service.URL}, Store: chat.Open(t.TempDir()), Describe: describe,
		},
	}
	for _, one := range directory.All() {
		if one.Name == "text.chat" {
			s.Entry = api.FromCapability(one, task.Price{Unit: task.PerMillionTokens})
		}
	}
	s.Talk = s.Store.New(chat.Settings{Capability: "text.chat"})
	t.Cleanup(func() { _ = s.Talk.Close() })
	return s
}

// TestChatUnwritten: an answer that can't be kept is asked for once, until the person asks again; its turn never fails.
func TestChatUnwritten(t *testing.T) {
	var s *chatSession
	asked := 0
	s = newChatSession(t, func(string) {
		asked++
		_ = s.Talk.Close() // its file takes no line any more
	})
	words := []string{"hello"}
	for range 4 {
		_ = s.step(t.Context(), &words)
	}
	if asked != 1 || s.Talk.Open == nil || !s.paused || !s.Resumed {
		t.Errorf("asked %d times, open: %+v, paused: %v, may be out: %v", asked, s.Talk.Open, s.paused, s.Resumed)
	}
}

// TestChatKnowsIDs: a first word that may be an id isn't sent as a message.
func TestChatKnowsIDs(t *testing.T) {
	for word, want := range map[string]bool{
		"chat_06gztwr81b": true, "cht_06gztwr81b": true, "06gztwr81b": true, "chat-06gz": true, "CHAT_06": true, "thanks": true,
		"": false, "Why?": false, "And then": false, "2+3": false, "@shore.jpg": false, "Übung": false, "それから": false,
	} {
		if got := likeID(word); got != want {
			t.Errorf("%q may be an id: %t, want %t", word, got, want)
		}
	}
}

// TestChatKnowsMisspelt: a word that is nearly a command of chat isn't sent; other words are messages.
func TestChatKnowsMisspelt(t *testing.T) {
	cmd := newChatCmd(&terminal{})
	for word, want := range map[string]string{
		"lst": "list", "lsit": "list", "contniue": "continue", "contnue": "continue", "shwo": "show", "sho": "show",
		"test": "", "hello": "", "how": "", "2+3": "", "": "", "Übung": "", "last": "", "lost": "", "shop": "", "short": "", "run": "", "red": "", "resume": "", "contain": "",
	} {
		got := ""
		if err := misspelt(cmd, []string{word}); err != nil {
			_, got, _ = strings.Cut(err.Error(), "did you mean ")
			got = strings.TrimSuffix(got, "?")
		}
		if got != want {
			t.Errorf("%q is taken for the command %q, want %q", word, got, want)
		}
	}
	if err := misspelt(cmd, []string{"lst", "@a.png"}); err != nil {
		t.Errorf("a message with a file: %v", err)
	}
}
