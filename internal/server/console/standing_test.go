package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// ask creates a task from a page and returns the answer.
func (b *browser) ask(body string) answer {
	b.w.t.Helper()
	return b.do(http.MethodPost, "/api/test/tasks", strings.NewReader(body), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(api.HeaderIdempotencyKey, task.NewID("ask", time.Now()))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	})
}

// TestAccountStates: an operator renames, suspends, resumes and closes an account from its page. Its members read while
// it is suspended, under a banner, and submit no task; they are out when it is closed.
func TestAccountStates(t *testing.T) {
	w := newWorld(t)
	ann, root := w.signIn("acme", "ann", "member"), w.signIn("ops", "root", "operator")
	at := "/accounts/" + fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t).ID
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "k", Mode: task.Test, Account: "acme"}))(t).Secret
	done := ann.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`)
	step := func(action string, form url.Values) {
		t.Helper()
		if got := root.post(at+action, form); got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/console"+at+"?done=") {
			t.Fatalf("%s: %d %s", action, got.StatusCode, got.body)
		}
	}
	step("/rename", url.Values{"name": {"acme2"}})
	if got := root.get(at); !strings.Contains(got.body, "acme2") {
		t.Error("the page lacks the new name")
	}
	if got := root.post(at+"/rename", url.Values{"name": {"ops"}}); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "that of another account") {
		t.Errorf("a taken name: %d", got.StatusCode)
	}
	if got := root.post(at+"/suspend", nil); got.StatusCode != http.StatusOK || w.call(key).StatusCode != http.StatusOK {
		t.Errorf("a suspension isn't asked about: %d", got.StatusCode)
	}
	step("/suspend", url.Values{"sure": {"yes"}})
	if got := w.call(key); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a key of a suspended account: %d", got.StatusCode)
	}
	if got := ann.ask(`{"capability":"text.chat","input":{"prompt":"hello"}}`); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "suspended") {
		t.Errorf("a page of a suspended account submits: %d %s", got.StatusCode, got.body)
	}
	for _, path := range []string{"/", "/tasks/" + done.ID, "/people"} {
		if got := ann.get(path); path != "/people" && (got.StatusCode != http.StatusOK || !strings.Contains(got.body, "This account is suspended")) {
			t.Errorf("%s: %d, or no banner", path, got.StatusCode)
		}
	}
	if strings.Contains(root.get("/").body, "This account is suspended") {
		t.Error("an operator of another account sees the banner")
	}
	step("/resume", nil)
	if got := ann.ask(`{"capability":"text.chat","input":{"prompt":"hello"}}`); got.StatusCode != http.StatusOK || w.call(key).StatusCode != http.StatusOK {
		t.Errorf("resumed: %d", got.StatusCode)
	}
	for _, name := range []string{"", "acme", "ACME2"} {
		if got := root.post(at+"/close", url.Values{"close_name": {name}}); got.StatusCode != http.StatusBadRequest || !ann.signedIn() {
			t.Errorf("closed by the name %q: %d", name, got.StatusCode)
		}
	}
	step("/close", url.Values{"close_name": {"acme2"}})
	if ann.signedIn() || w.call(key).StatusCode != http.StatusUnauthorized {
		t.Error("a closed account is still open")
	}
	if got := root.get(at); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "Its keys stay revoked") || !strings.Contains(got.body, "Close again") {
		t.Errorf("the page of a closed account: %d", got.StatusCode)
	}
	step("/close", url.Values{"close_name": {"acme2"}})
	for _, line := range []string{"account renamed", "account suspended", "account resumed", "account closed"} {
		if !strings.Contains(w.log.String(), `"msg":"`+line+`"`) {
			t.Errorf("the log lacks %q", line)
		}
	}
}

// TestAccountStatesRefuse: an operator alone, who signed in not long ago, closes an account or makes an operator, but
// doesn't close the own one, and foreign pages change no account.
func TestAccountStatesRefuse(t *testing.T) {
	w := newWorld(t)
	root, admin, eve := w.signIn("ops", "root", "operator"), w.signIn("acme", "ann", "admin"), w.signIn("evil", "eve", "admin")
	acct := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t)
	forms := map[string]url.Values{
		"/rename": {"name": {"x"}}, "/suspend": {"sure": {"yes"}}, "/resume": nil, "/close": {"close_name": {"acme"}},
	}
	for action, form := range forms {
		for _, b := range []*browser{admin, eve} {
			if got := b.post("/accounts/"+acct.ID+action, form); got.StatusCode != http.StatusNotFound {
				t.Errorf("an admin at %s: %d", action, got.StatusCode)
			}
		}
		for _, change := range []func(*http.Request){from("cross-site", "https://evil.example"), from("", "https://evil.example")} {
			if got := root.post("/accounts/"+acct.ID+action, form, change); got.StatusCode != http.StatusBadRequest {
				t.Errorf("a foreign page at %s: %d", action, got.StatusCode)
			}
		}
		if got := root.post("/accounts/"+task.NewID(task.PrefixAccount, w.now())+action, form); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s of an account that isn't there: %d", action, got.StatusCode)
		}
	}
	if got := root.post("/accounts/ops/close", url.Values{"close_name": {"ops"}}); got.StatusCode != http.StatusBadRequest || !root.signedIn() {
		t.Errorf("the own account: %d", got.StatusCode)
	}
	w.skip(account.SessionNew)
	for path, form := range map[string]url.Values{
		"/accounts/acme/close": {"close_name": {"acme"}}, "/accounts/acme/invite": {"member": {"mallory"}, "role": {"operator"}},
	} {
		if got := root.post(path, form); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "last 12 hours") {
			t.Errorf("an old session at %s: %d", path, got.StatusCode)
		}
	}
	w.refusesOld(root)
	if got := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t); got.State != "active" || got.Name != "acme" || len(got.Members) != 1 {
		t.Errorf("%+v", got)
	}
}

// refusesOld judges that an operator whose sign-in is old makes no way into another account, and goes on with the own one.
func (w *world) refusesOld(root *browser) {
	w.t.Helper()
	ctx := w.t.Context()
	key := func(of string) string {
		return fixture.Must(w.operator.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Test, Account: of}))(w.t).ID
	}
	foreign, own := key("acme"), key("ops")
	for _, c := range []struct {
		path string
		form url.Values
		open bool
	}{
		{"/accounts/acme/invite", url.Values{"member": {"mallory"}, "role": {"member"}}, false},
		{"/accounts/acme/invite", url.Values{"member": {"ann"}, "role": {"admin"}}, false},
		{"/accounts/ops/invite", url.Values{"member": {"bob"}, "role": {"member"}}, true},
		{"/keys", url.Values{"name": {"new"}, "mode": {"test"}, "account": {"acme"}}, false},
		{"/keys", url.Values{"name": {"new"}, "mode": {"test"}}, true},
		{"/keys/" + foreign + "/rotate", url.Values{"sure": {"yes"}}, false},
		{"/keys/" + foreign, url.Values{"name": {"wide"}, "scopes": {"*"}}, false},
		{"/keys/" + own, url.Values{"name": {"wide"}}, true},
		{"/accounts/acme", url.Values{"creates_per_minute": {"1000"}}, false},
		{"/accounts/ops", url.Values{"creates_per_minute": {"1000"}}, true},
		{"/keys/" + own + "/rotate", url.Values{"sure": {"yes"}}, true},
	} {
		got := root.post(c.path, c.form)
		if open := got.StatusCode == http.StatusSeeOther; open != c.open || !open && !strings.Contains(got.body, "last 12 hours") {
			w.t.Errorf("an old session at %s with %v: %d %s", c.path, c.form, got.StatusCode, got.body)
		}
	}
	if all := fixture.Must(w.operator.ListKeys(ctx))(w.t); len(all) != 4 { // two here, the own new one and the own rotated one
		w.t.Errorf("%d keys", len(all))
	}
}

// TestFormsOfASuspendedAccount: its members change no key, webhook, member or keeping, but cancel tasks and end sessions;
// an operator among its members isn't held up.
func TestFormsOfASuspendedAccount(t *testing.T) {
	w := newWorld(t)
	ann, bob, root := w.signIn("acme", "ann", "admin"), w.signIn("acme", "bob", "member"), w.signIn("acme", "root", "operator")
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "k", Mode: task.Test, Account: "acme"}))(t).ID
	running := ann.submit(`{"capability":"image.generate","input":{"prompt":"hello @slow:10m"}}`, "respond-async")
	hook := url.Values{"url": {"http://127.0.0.1:9/x"}, "mode": {"test"}, "states": {"succeeded"}}
	if got := ann.post("/webhooks", hook); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("a webhook: %d %s", got.StatusCode, got.body)
	}
	was := fixture.Must(w.operator.SuspendAccount(t.Context(), "acme"))(t)
	sure, id := url.Values{"sure": {"yes"}}, task.NewID("wh", w.now())
	for path, form := range map[string]url.Values{
		"/keys": {"name": {"new"}, "mode": {"test"}}, "/keys/" + key: {"name": {"other"}}, "/keys/" + key + "/rotate": sure, "/keys/" + key + "/revoke": sure,
		"/memory": {"keep_inputs_days": {"7"}}, "/people/invite": {"member": {"eve"}}, "/people/members": {"remove": {"bob"}, "sure": {"yes"}},
		"/webhooks": hook, "/webhooks/" + id + "/test": nil,
		"/webhooks/" + id + "/deliveries/" + id + "/replay": nil, "/webhooks/" + id + "/rotate": sure, "/webhooks/" + id + "/delete": sure,
	} {
		if got := ann.post(path, form); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "The account is suspended") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	for b, form := range map[*browser][2]any{
		ann:  {"/tasks/" + running.ID + "/cancel", url.Values{"mode": {"test"}}},
		bob:  {"/sessions/end-others", url.Values(nil)},
		root: {"/keys", url.Values{"name": {"new"}, "mode": {"test"}}},
	} {
		if got := b.post(form[0].(string), form[1].(url.Values)); got.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %d %s", form[0], got.StatusCode, got.body)
		}
	}
	if got := ann.post("/people/sessions/end", url.Values{"session": w.sessions("acme")["bob"]}); got.StatusCode != http.StatusSeeOther || bob.signedIn() {
		t.Errorf("ending a session: %d %s", got.StatusCode, got.body)
	}
	if now := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t); now.KeepInputsDays != 0 || len(now.Members) != len(was.Members) {
		t.Errorf("changed: %+v", now)
	}
	if got := ann.post("/sign-out", nil); got.StatusCode != http.StatusSeeOther || ann.signedIn() {
		t.Errorf("signing out: %d", got.StatusCode)
	}
}
