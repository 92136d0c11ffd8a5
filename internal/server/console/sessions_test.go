package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/server/console"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// as gives a request a browser's name.
func as(userAgent string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("User-Agent", userAgent) }
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// signIn returns another browser of a member.
func (w *world) signIn(account, member, role string) *browser {
	w.t.Helper()
	b := w.browser()
	if got := b.post("/sign-in", token(w.link(account, member, role)), as(firefox)); got.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("signing in: %d %s", got.StatusCode, got.body)
	}
	return b
}

var sessionID = regexp.MustCompile(`ses_[0-9a-z]{26}`)

// sessions returns the ids of an account's sessions, by whose they are.
func (w *world) sessions(account string) map[string][]string {
	w.t.Helper()
	by := map[string][]string{}
	for _, s := range fixture.Must(w.operator.Sessions(w.t.Context(), account))(w.t) {
		by[s.Member] = append(by[s.Member], s.ID)
	}
	return by
}

func TestAgentOf(t *testing.T) {
	for userAgent, want := range map[string]string{
		firefox: "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0":            "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15":                    "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.0 Mobile/15E148 Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36":                          "Chrome on Android",
		"Mozilla/5.0 (X11; Linux x86_64) Konqueror": "a browser on Linux", "": "", "<script>alert(1)</script>": "", "Chrome/1 <b>": "Chrome",
	} {
		if got := console.AgentOf(userAgent); got != want {
			t.Errorf("%q is %q, want %q", userAgent, got, want)
		}
	}
}

// TestOwnSessions: somebody sees their own sessions, ends one, the others or this one, and an ended one is over.
func TestOwnSessions(t *testing.T) {
	w := newWorld(t)
	here, other, third := w.signIn("acme", "ann", "member"), w.signIn("acme", "ann", "member"), w.signIn("acme", "ann", "member")
	bob := w.signIn("acme", "bob", "member")
	page := here.get("/sessions")
	ids := sessionID.FindAllString(page.body, -1)
	if len(ids) != 3 || !strings.Contains(page.body, "Firefox on Linux") || strings.Count(page.body, "this one") != 1 || strings.Contains(page.body, "bob") {
		t.Fatalf("%d %v %s", page.StatusCode, ids, page.body)
	}
	for _, secret := range []string{here.session(), other.session()} {
		if strings.Contains(page.body, secret) {
			t.Error("the page holds a session's token")
		}
	}
	ended := fixture.Must(w.operator.EndSessions(t.Context(), "acme", api.SessionsEnd{ID: ids[0]}))(t)
	if len(ended) != 1 || ended[0].ID != ids[0] {
		t.Errorf("ended %+v", ended)
	}
	in := 0
	for _, b := range []*browser{here, other, third} {
		if b.signedIn() {
			in++
		}
	}
	if in != 2 {
		t.Errorf("%d of three sessions go on after one was ended", in)
	}
	here = w.signIn("acme", "ann", "member")
	other = w.signIn("acme", "ann", "member")
	if got := here.post("/sessions/end-others", nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("ending others: %d", got.StatusCode)
	}
	if !here.signedIn() || other.signedIn() || third.signedIn() || !bob.signedIn() {
		t.Error("ending the others must end those of this member, and this one not")
	}
	own := w.sessions("acme")["ann"]
	if got := here.post("/sessions/end", url.Values{"session": own}); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/console/sign-in" || here.session() != "" {
		t.Errorf("ending this one: %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
}

// TestForeignSessions: sessions of others can't be ended, or told from ones that don't exist.
func TestForeignSessions(t *testing.T) {
	w := newWorld(t)
	ann, bob, eve := w.signIn("acme", "ann", "member"), w.signIn("acme", "bob", "member"), w.signIn("evil", "ann", "member")
	theirs := w.sessions("acme")
	unknown := eve.post("/sessions/end", url.Values{"session": {"ses_" + strings.Repeat("0", 26)}})
	for _, id := range []string{theirs["ann"][0], theirs["bob"][0], "", "ses_", ann.session(), task.NewID("ses_", w.now())} {
		got := eve.post("/sessions/end", url.Values{"session": {id}})
		if got.StatusCode != http.StatusNotFound || blank(got.body, id) != blank(unknown.body, "") {
			t.Errorf("%q: %d", id, got.StatusCode)
		}
	}
	if got := ann.post("/sessions/end", url.Values{"session": theirs["bob"]}); got.StatusCode != http.StatusNotFound {
		t.Errorf("another member's session: %d", got.StatusCode)
	}
	for _, path := range []string{"/sessions/end", "/sessions/end-others"} {
		for _, change := range []func(*http.Request){from("cross-site", "https://evil.example"), from("", "https://evil.example")} {
			if got := ann.post(path, url.Values{"session": theirs["ann"]}, change); got.StatusCode != http.StatusBadRequest {
				t.Errorf("a foreign page's form to %s: %d", path, got.StatusCode)
			}
		}
	}
	if !ann.signedIn() || !bob.signedIn() || !eve.signedIn() {
		t.Error("a session was ended")
	}
}
