package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// newReceiver returns the address of a receiver that answers with the status.
func newReceiver(t *testing.T, status *atomic.Int64) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	t.Cleanup(s.Close)
	return s.URL + "/hook?token=sesame"
}

var (
	anySecret  = regexp.MustCompile(`whsec_[0-9A-Za-z+/=&#;]+`)
	anyWebhook = regexp.MustCompile(`/webhooks/(whe_[0-9a-z]+)`)
)

// hook makes a webhook by the form and returns its page.
func (b *browser) hook(address string) (page, secret string) {
	b.w.t.Helper()
	made := b.postOnce("/webhooks", url.Values{"url": {address}, "mode": {"test"}, "description": {"till"}, "states": {"succeeded", "failed"}})
	found := anyWebhook.FindStringSubmatch(made.body)
	secret = anySecret.FindString(made.body)
	if made.StatusCode != http.StatusOK || len(found) == 0 || secret == "" {
		b.w.t.Fatalf("%d %s", made.StatusCode, made.body)
	}
	return found[0], secret
}

// shows reads a page again and again until it shows the text.
func (b *browser) shows(path, text string) answer {
	b.w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got := b.get(path)
		if strings.Contains(got.body, text) || time.Now().After(end) {
			if got.StatusCode != http.StatusOK || time.Now().After(end) {
				b.w.t.Fatalf("%s: %d, without %q: %s", path, got.StatusCode, text, got.body)
			}
			return got
		}
	}
}

// TestWebhookLife: made, its secret shown once, changed, tested, told, replayed, rotated, gone, enabled, deleted; and no
// other answer and no log line holds a secret.
func TestWebhookLife(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	if empty := b.get("/webhooks"); !strings.Contains(empty.body, "unitask webhooks listen --forward http://localhost:3000") {
		t.Errorf("the empty page: %d %s", empty.StatusCode, empty.body)
	}
	var status atomic.Int64
	status.Store(http.StatusNoContent)
	address := newReceiver(t, &status)
	page, _ := b.hook(address)
	if got := b.get("/webhooks/new"); got.StatusCode != http.StatusOK {
		t.Errorf("the form: %d", got.StatusCode)
	}
	if got := b.get(page + "/edit"); !strings.Contains(got.body, `value="till"`) || strings.Count(got.body, " checked") != 2 {
		t.Errorf("the form of a change: %s", got.body)
	}
	if got := b.post(page, url.Values{"url": {"ftp://a"}, "description": {"kept"}}); got.StatusCode != http.StatusBadRequest ||
		!strings.Contains(got.body, `value="kept"`) || !strings.Contains(got.body, "Must be an https address.") {
		t.Errorf("a wrong address: %d %s", got.StatusCode, got.body)
	}
	if got := b.post(page, url.Values{"url": {address}, "capabilities": {"text.caht"}}); got.StatusCode != http.StatusBadRequest ||
		!strings.Contains(got.body, "Hold text.caht, which matches no capability; perhaps text.chat is meant.") {
		t.Errorf("a slip: %d %s", got.StatusCode, got.body)
	}
	if got := b.post(page, url.Values{"url": {address}, "description": {"shop"}, "capabilities": {"text.*"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("changed: %d %s", got.StatusCode, got.body)
	}
	if got := b.post(page+"/test", nil); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "It took the event") {
		t.Errorf("tested: %d %s", got.StatusCode, got.body)
	}
	done := b.run(`{"capability":"text.chat","input":{"prompt":"1+1"}}`)
	told := b.shows(page, done.ID+".0")
	b.shows(page+"?state=delivered", done.ID+".0")
	if got := b.get(page + "?state=failed"); strings.Contains(got.body, done.ID) || !strings.Contains(told.body, "shop") {
		t.Errorf("by state: %s", got.body)
	}
	if !strings.Contains(told.body, "<dt>Ends</dt><dd>every end</dd>") {
		t.Errorf("the ends that it is told of: %s", told.body)
	}
	b.shows("/webhooks", ">204<")
	status.Store(http.StatusGone)
	if got := b.post(page+"/deliveries/"+done.ID+".0/replay", nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("replayed: %d %s", got.StatusCode, got.body)
	}
	b.shows(page, "it answered 410")
	if got := b.post(page+"/deliveries/"+done.ID+".0/replay", nil); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "enable it first") {
		t.Errorf("replayed while it is disabled: %d %s", got.StatusCode, got.body)
	}
	b.post(page+"/enable", nil)
	b.shows(page, ">enabled<")
	b.post(page+"/disable", nil)
	if off := b.shows(page, "by this account"); !strings.Contains(off.body, "<dt>Disabled</dt>") {
		t.Errorf("since when it is disabled: %s", off.body)
	}
	if again := b.postOnce(page+"/rotate", url.Values{"overlap": {"day"}}); !strings.Contains(again.body, "signs too until") {
		t.Errorf("rotated: %s", again.body)
	}
	if again := b.post(page+"/rotate", url.Values{"overlap": {"day"}}); again.StatusCode != http.StatusConflict || !strings.Contains(again.body, "signs too until") {
		t.Errorf("rotated again while the old secret signs: %d %s", again.StatusCode, again.body)
	}
	if shown := b.shows(page, "An earlier one signs too until"); strings.Contains(shown.body, `name="overlap"`) {
		t.Error("an overlap is offered while another is running")
	}
	if asked := b.post(page+"/delete", nil); asked.StatusCode != http.StatusOK || !strings.Contains(asked.body, "Delete the webhook?") {
		t.Errorf("before it is deleted: %d %s", asked.StatusCode, asked.body)
	}
	if got := b.post(page+"/delete", url.Values{"sure": {"yes"}}); got.StatusCode != http.StatusSeeOther || b.get(page).StatusCode != http.StatusNotFound {
		t.Errorf("deleted: %d", got.StatusCode)
	}
	if got := anySecret.FindAllString(w.seen.String(), -1); len(got) != 2 {
		t.Errorf("%d secrets in all answers, want the two that were made", len(got))
	}
	if strings.Contains(w.log.String(), "whsec_") || strings.Contains(w.log.String(), "sesame") {
		t.Error("the log holds a secret or an address's query")
	}
}

// TestWebhookForeign: another account's webhook isn't there, for an operator too; no page and no action is a key's, or a
// foreign page's.
func TestWebhookForeign(t *testing.T) {
	w := newWorld(t)
	var status atomic.Int64
	status.Store(http.StatusOK)
	b := w.member("acme", "member")
	page, _ := b.hook(newReceiver(t, &status))
	done := b.run(`{"capability":"text.chat","input":{"prompt":"1+1"}}`)
	before := b.shows(page, done.ID+".0")
	actions := []string{"", "/rotate", "/test", "/enable", "/disable", "/delete", "/deliveries/" + done.ID + ".0/replay"}
	form := url.Values{"sure": {"yes"}, "url": {"https://evil.example/"}}
	own, _ := w.member("other", "member").hook("https://example.com/")
	for _, role := range []string{"member", "operator"} {
		other := w.member("other", role)
		for _, path := range []string{page, page + "/edit"} {
			if got := other.get(path); got.StatusCode != http.StatusNotFound {
				t.Errorf("a %s reads %s: %d", role, path, got.StatusCode)
			}
		}
		for _, action := range actions {
			if got := other.post(page+action, form); got.StatusCode != http.StatusNotFound {
				t.Errorf("a %s of another account at %s: %d", role, action, got.StatusCode)
			}
		}
		if got := other.post(own+"/deliveries/"+done.ID+".0/replay", nil); got.StatusCode == http.StatusSeeOther {
			t.Errorf("a %s replays another account's event", role)
		}
	}
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "k", Account: "acme", Mode: task.Test, Scopes: []string{"text.*"}}))(t).Secret
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
	stranger := w.browser()
	for _, action := range actions {
		if got := stranger.post(page+action, form, bearer); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("a key at %s: %d", action, got.StatusCode)
		}
		if got := b.post(page+action, form, from("cross-site", "https://evil.example")); got.StatusCode != http.StatusBadRequest {
			t.Errorf("a foreign page at %s: %d", action, got.StatusCode)
		}
	}
	if got := stranger.get(w.base+api.PathWebhooks, bearer); got.StatusCode != http.StatusNotFound {
		t.Errorf("a key without the scope: %d", got.StatusCode)
	}
	if got := b.get("/api/test/webhooks"); got.StatusCode != http.StatusNotFound {
		t.Errorf("a session at the pages' API: %d", got.StatusCode)
	}
	if after := b.get(page); strings.Count(after.body, "127.0.0.1") != strings.Count(before.body, "127.0.0.1") || !strings.Contains(after.body, ">enabled<") {
		t.Errorf("it was changed: %s", after.body)
	}
}

// TestWebhooksOfAll: an operator sees every account's webhooks with their backlogs, without secrets, and disables one, which
// its account can't enable. A member has no such page.
func TestWebhooksOfAll(t *testing.T) {
	w := newWorld(t)
	var status atomic.Int64
	status.Store(http.StatusInternalServerError)
	b := w.member("acme", "member")
	address := newReceiver(t, &status)
	page, _ := b.hook(address)
	id := strings.TrimPrefix(page, "/webhooks/")
	done := b.run(`{"capability":"text.chat","input":{"prompt":"1+1"}}`)
	b.shows(page, done.ID+".0")
	ada := w.member("home", "operator")
	all := ada.get("/webhooks/all").body
	if !strings.Contains(all, id) || !strings.Contains(all, "<dd>1</dd>") || !strings.Contains(all, ">acme<") || strings.Contains(all, "sesame") || anySecret.MatchString(all) {
		t.Errorf("of all accounts: %s", all)
	}
	if got := ada.post("/webhooks/all/"+id+"/disable", nil); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "Disable the webhook?") {
		t.Errorf("before it is disabled: %d %s", got.StatusCode, got.body)
	}
	ada.post("/webhooks/all/"+id+"/disable", url.Values{"sure": {"yes"}})
	b.shows(page, "by the operator")
	if got := b.post(page+"/enable", nil); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "alone enables it") {
		t.Errorf("enabled by its account: %d %s", got.StatusCode, got.body)
	}
	for _, path := range []string{"/webhooks/all", "/webhooks/all/" + id + "/enable"} {
		got := b.get(path)
		if strings.HasSuffix(path, "enable") {
			got = b.post(path, nil)
		}
		if got.StatusCode != http.StatusNotFound {
			t.Errorf("a member at %s: %d", path, got.StatusCode)
		}
	}
	ada.post("/webhooks/all/"+id+"/enable", nil)
	b.shows(page, ">enabled<")
}
