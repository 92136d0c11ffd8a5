package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/server/console"
	"unitask/test/fixture"
)

// signedIn reports whether the browser is shown pages.
func (b *browser) signedIn() bool {
	b.w.t.Helper()
	got := b.get("/keys")
	if got.StatusCode != http.StatusOK && (got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/console/sign-in") {
		b.w.t.Errorf("without a session: %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	return got.StatusCode == http.StatusOK
}

func token(text string) url.Values { return url.Values{"token": {text}} }

func TestLinkWorksOnce(t *testing.T) {
	w := newWorld(t)
	link := w.link("acme", "ann", "member")
	first, thief := w.browser(), w.browser()
	if got := first.post("/sign-in", token(link)); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/console/" {
		t.Fatalf("%d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	if got := thief.post("/sign-in", token(link)); got.StatusCode != http.StatusUnauthorized || thief.session() != "" || thief.signedIn() {
		t.Errorf("a stolen link: %d, session %q", got.StatusCode, thief.session())
	}
	if !first.signedIn() {
		t.Error("who used it first was signed out")
	}
	whole := w.browser()
	if got := whole.post("/sign-in", token(" "+w.base+"/console/sign-in#"+w.link("acme", "ann", "member")+"\n")); got.StatusCode != http.StatusSeeOther {
		t.Errorf("the whole address in the form: %d", got.StatusCode)
	}
}

// TestLinkRace: of many who have the link at once, one gets in.
func TestLinkRace(t *testing.T) {
	w := newWorld(t)
	link := w.link("acme", "ann", "member")
	var in atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		b := w.browser()
		all.Go(func() {
			if got := b.post("/sign-in", token(link)); got.StatusCode == http.StatusSeeOther {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d got in by one link", in.Load())
	}
}

func TestLinkRefused(t *testing.T) {
	w := newWorld(t)
	expired := w.link("acme", "ann", "member")
	w.skip(account.LinkLife)
	session := w.member("acme", "member").session()
	for name, text := range map[string]string{
		"expired": expired, "none": "", "made up": account.NewToken(), "a session's": session, "long": strings.Repeat("x", 40<<10),
	} {
		b := w.browser()
		if got := b.post("/sign-in", token(text)); got.StatusCode != http.StatusUnauthorized || b.session() != "" {
			t.Errorf("%s: %d, session %q", name, got.StatusCode, b.session())
		}
	}
	if got := w.browser().post("/sign-in", token(strings.Repeat("x", 80<<10))); got.StatusCode != http.StatusBadRequest {
		t.Errorf("a form that is too large: %d", got.StatusCode)
	}
}

// TestFixation: a session that somebody planted, his own one included, is not the one that a sign-in gives,
// and ends with it.
func TestFixation(t *testing.T) {
	w := newWorld(t)
	attacker := w.member("evil", "member")
	victim := w.browser()
	at := fixture.Must(url.Parse(w.base))(t)
	for _, planted := range []string{account.NewToken(), attacker.session()} {
		victim.client.Jar.SetCookies(at, []*http.Cookie{{Name: "unitask_session", Value: planted, Path: "/"}})
		link := w.link("acme", "ann", "member")
		if got := victim.post("/sign-in", token(link)); got.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d", got.StatusCode)
		}
		if now := victim.session(); now == planted || now == link || now == "" {
			t.Errorf("the session after the sign-in is the one before, or the link: %q", now)
		}
	}
	if attacker.signedIn() {
		t.Error("the session that was planted still opens the console")
	}
}

func TestSessionEnds(t *testing.T) {
	w := newWorld(t)
	out := w.member("acme", "member")
	old := out.session()
	if got := out.post("/sign-out", nil); got.StatusCode != http.StatusSeeOther || out.session() != "" || out.signedIn() {
		t.Errorf("signed out: %d, session %q", got.StatusCode, out.session())
	}
	stolen := w.browser()
	stolen.client.Jar.SetCookies(fixture.Must(url.Parse(w.base))(t), []*http.Cookie{{Name: "unitask_session", Value: old, Path: "/"}})
	if stolen.signedIn() {
		t.Error("a session goes on after its sign-out")
	}
	removed := w.member("beta", "member")
	fixture.Must(w.operator.UpdateAccount(t.Context(), "beta", api.AccountUpdate{RemoveMembers: []string{"somebody"}}))(t)
	if removed.signedIn() {
		t.Error("who was removed is still in")
	}
	promoted := w.member("gamma", "member")
	w.link("gamma", "somebody", "operator")
	if promoted.signedIn() {
		t.Error("a session outlives its role")
	}
	idle, busy := w.member("acme", "member"), w.member("acme", "member")
	const step = account.SessionIdle / 2
	for spent := time.Duration(0); spent < account.SessionLife; spent += step {
		if spent > 0 && !busy.signedIn() {
			t.Fatalf("a session that is used ended after %s", spent)
		}
		w.skip(step)
		if spent+step == account.SessionIdle && idle.signedIn() {
			t.Error("an idle session goes on")
		}
	}
	if busy.signedIn() {
		t.Error("a session outlives its 90 days")
	}
}

func TestCookie(t *testing.T) {
	w := newWorld(t)
	got := w.browser().post("/sign-in", token(w.link("acme", "ann", "member")))
	set := got.Cookies()
	if len(set) != 1 || set[0].Name != "unitask_session" || !set[0].HttpOnly || set[0].Secure || set[0].SameSite != http.SameSiteStrictMode || set[0].Path != "/" {
		t.Errorf("by http: %v", set)
	}
	https := w.pagesAt("https://ai.example.org")
	r := fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ai.example.org/console/sign-in",
		strings.NewReader(token(w.link("acme", "ann", "member")).Encode())))(t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := record(https, r)
	one, err := http.ParseSetCookie(rec.Header().Get("Set-Cookie"))
	if err != nil || one.Name != "__Host-unitask_session" || !one.HttpOnly || !one.Secure || one.SameSite != http.SameSiteStrictMode || one.Path != "/" {
		t.Errorf("by https: %d %v %v", rec.Code, one, err)
	}
}

// TestBelowAPath: behind a proxy that serves the console under a path, its addresses begin with it.
func TestBelowAPath(t *testing.T) {
	w := newWorld(t)
	pages := w.pagesAt("https://example.org/ai/")
	r := fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org"+console.Root+"/keys", nil))(t)
	if got := record(pages, r); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/ai/console/sign-in" {
		t.Errorf("%d to %q", got.Code, got.Header().Get("Location"))
	}
}

// TestLinkFromElsewhere: a link to a page on another site leads there, although the cookie isn't sent at first.
func TestLinkFromElsewhere(t *testing.T) {
	w := newWorld(t)
	stranger := w.browser()
	if got := stranger.get("/keys", from("cross-site", "")); got.StatusCode != http.StatusOK || !strings.Contains(got.body, `http-equiv="refresh" content="0"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	if got := stranger.get("/keys", from("same-origin", "")); got.StatusCode != http.StatusSeeOther {
		t.Errorf("again, and still without a cookie: %d", got.StatusCode)
	}
	if got := w.member("acme", "member").get("/keys", from("cross-site", "")); got.StatusCode != http.StatusOK || strings.Contains(got.body, "refresh") {
		t.Errorf("with one: %d", got.StatusCode)
	}
}

// TestWantedPage: whoever had to sign in first comes to the page that was wanted, once, and to no other place.
func TestWantedPage(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	if got := b.get("/tasks?mode=test&state=failed"); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/console/sign-in" {
		t.Fatalf("%d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	for i, want := range []string{"/console/tasks?mode=test&state=failed", "/console/"} {
		got := b.post("/sign-in", token(w.link("acme", fmt.Sprint("somebody ", i), "member")))
		if at := got.Header.Get("Location"); at != want {
			t.Errorf("sign-in %d leads to %q, want %q", i, at, want)
		}
	}
	for _, forged := range []string{"https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "%", "/a%0d%0aSet-Cookie:x=y"} {
		got := w.browser().post("/sign-in", token(w.link("acme", "somebody", "member")), func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: "unitask_wanted", Value: url.QueryEscape(forged)})
		})
		at := fixture.Must(url.Parse(got.Header.Get("Location")))(t)
		if at.Host != "" || at.Scheme != "" || !strings.HasPrefix(at.Path, "/console/") || len(got.Header.Values("Set-Cookie")) > 2 {
			t.Errorf("%s leads to %q", forged, got.Header.Get("Location"))
		}
	}
}

// TestFavicon: who asks for the icon by its old name, without reading a page, is led to the one that the pages have.
func TestFavicon(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	got, err := b.client.Do(fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/favicon.ico", nil))(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	if at := got.Header.Get("Location"); got.StatusCode != http.StatusSeeOther || at != "/console/static/icon.svg" {
		t.Fatalf("%d to %q", got.StatusCode, at)
	}
	if icon := b.get(w.base + got.Header.Get("Location")); icon.StatusCode != http.StatusOK || !strings.HasPrefix(icon.Header.Get("Content-Type"), "image/svg+xml") {
		t.Errorf("%d %s", icon.StatusCode, icon.Header.Get("Content-Type"))
	}
}
