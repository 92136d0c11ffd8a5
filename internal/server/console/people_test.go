package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"unitask/test/fixture"
)

// TestPeople: an admin invites a member, changes the role, ends a session and removes them again.
func TestPeople(t *testing.T) {
	w := newWorld(t)
	ann := w.signIn("acme", "ann", "admin")
	shown := ann.postOnce("/people/invite", url.Values{"member": {"bob"}, "role": {"member"}})
	_, rest, ok := strings.Cut(shown.body, w.base+"/console/sign-in#")
	if !ok {
		t.Fatalf("no link on %s", shown.body)
	}
	bob := w.browser()
	if got := bob.post("/sign-in", token(rest[:43]), as(firefox)); got.StatusCode != http.StatusSeeOther || !bob.signedIn() {
		t.Fatalf("by the link: %d", got.StatusCode)
	}
	page := ann.get("/people")
	for _, want := range []string{"bob", "Firefox on Linux", "Make admin: bob", "Remove bob"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page.body, `value="operator"`) || strings.Contains(page.body, ": ann\"") {
		t.Error("the page offers an operator's role, or to change one's own")
	}
	form := url.Values{"member": {"bob"}, "role": {"admin"}}
	if got := ann.post("/people/invite", form); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "Make bob an admin?") || !bob.signedIn() {
		t.Errorf("a new role isn't asked about: %d %s", got.StatusCode, got.body)
	}
	form.Set("sure", "yes")
	ann.postOnce("/people/invite", form)
	if bob.signedIn() {
		t.Error("a session outlives its role")
	}
	bob = w.signIn("acme", "bob", "admin")
	if got := bob.post("/people/sessions/end", url.Values{"session": w.sessions("acme")["ann"]}); got.StatusCode != http.StatusSeeOther || ann.signedIn() {
		t.Errorf("ending ann's session: %d", got.StatusCode)
	}
	ann = w.signIn("acme", "ann", "admin")
	if got := ann.post("/people/members", url.Values{"remove": {"bob"}}); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "Remove bob?") {
		t.Errorf("a removal isn't asked about: %d", got.StatusCode)
	}
	if got := ann.post("/people/members", url.Values{"remove": {"bob"}, "sure": {"yes"}}); got.StatusCode != http.StatusSeeOther || bob.signedIn() {
		t.Errorf("removed: %d", got.StatusCode)
	}
	got := ann.post("/people/members", url.Values{"remove": {"ann"}, "sure": {"yes"}})
	if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "last admin") || !ann.signedIn() {
		t.Errorf("the last admin: %d %s", got.StatusCode, got.body)
	}
}

// TestPeopleRefuses: members, strangers and foreign pages change no people, and an admin none of another account.
func TestPeopleRefuses(t *testing.T) {
	w := newWorld(t)
	admin, member, eve := w.signIn("acme", "ann", "admin"), w.signIn("acme", "bob", "member"), w.signIn("evil", "eve", "admin")
	ids := w.sessions("acme")
	acct := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t)
	forms := map[string]url.Values{
		"/invite": {"member": {"mallory"}, "role": {"admin"}}, "/members": {"remove": {"bob"}, "sure": {"yes"}}, "/sessions/end": {"session": ids["bob"]},
	}
	for action, form := range forms {
		if got := member.post("/people"+action, form); got.StatusCode != http.StatusNotFound {
			t.Errorf("a member at %s: %d", action, got.StatusCode)
		}
		for _, b := range []*browser{admin, member, eve} {
			if got := b.post("/accounts/"+acct.ID+action, form); got.StatusCode != http.StatusNotFound {
				t.Errorf("an operator's form at %s: %d", action, got.StatusCode)
			}
		}
		for _, change := range []func(*http.Request){from("cross-site", "https://evil.example"), from("same-site", ""), from("", "https://evil.example")} {
			if got := admin.post("/people"+action, form, change); got.StatusCode != http.StatusBadRequest {
				t.Errorf("a foreign page's form at %s: %d", action, got.StatusCode)
			}
		}
	}
	if got := member.get("/people"); got.StatusCode != http.StatusNotFound || strings.Contains(member.get("/").body, `/people"`) {
		t.Errorf("a member sees the page: %d", got.StatusCode)
	}
	if got := eve.post("/people/sessions/end", forms["/sessions/end"]); got.StatusCode != http.StatusNotFound {
		t.Errorf("another account's session: %d", got.StatusCode)
	}
	for _, form := range []url.Values{
		{"member": {"mallory"}, "role": {"operator"}}, {"member": {"eve"}, "role": {"operator"}, "sure": {"yes"}}, {"member": {"x"}, "role": {"root"}},
	} {
		if got := eve.post("/people/invite", form); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: %d", form, got.StatusCode)
		}
	}
	if now := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t); len(now.Members) != 2 || !member.signedIn() {
		t.Errorf("members %+v", now.Members)
	}
	for _, path := range []string{"/accounts", "/suppliers", "/accounts/" + acct.ID} {
		if got := admin.get(path); got.StatusCode != http.StatusNotFound {
			t.Errorf("an admin at %s: %d", path, got.StatusCode)
		}
	}
	operator := w.signIn("ops", "root", "operator")
	if got := operator.get("/people"); got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/console/accounts/acct_") {
		t.Errorf("an operator at /people: %d", got.StatusCode)
	}
	if got := operator.post("/accounts/acme/sessions/end", forms["/sessions/end"]); got.StatusCode != http.StatusSeeOther || member.signedIn() {
		t.Errorf("an operator ends a session: %d", got.StatusCode)
	}
}
