package console_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestCommandsNameTheService: a command that the console shows calls this service, whatever service its reader's
// profile calls, so that a key goes to no other one.
func TestCommandsNameTheService(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	for name, body := range map[string]string{
		"a new key": b.postOnce("/keys", url.Values{"name": {"shop"}, "mode": {"test"}}).body,
		"the trial": b.get("/trial?capability=text.chat").body,
		"a preview": b.try(fields(t, "capability", "text.chat", "mode", "test", "preview", "yes", "input.prompt", "hi")).body,
	} {
		if !strings.Contains(body, "unitask run ") || !strings.Contains(body, "--base-url "+w.base) {
			t.Errorf("%s: no command for %s in %s", name, w.base, body)
		}
	}
	made := b.postOnce("/keys", url.Values{"name": {"till"}, "mode": {"test"}}).body
	if !strings.Contains(made, "unitask login --base-url "+w.base+"\n") {
		t.Errorf("no login to %s in %s", w.base, made)
	}
}
