package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestRoutes: an operator sees where a capability's example would go, and a request of their own, whose content is in no
// address and no log; no task comes of it, and a member has no such page.
func TestRoutes(t *testing.T) {
	const secret = "only-the-form-has-this"
	w := newWorld(t)
	ops, ann := w.member("ops", "operator"), w.member("shop", "member")
	example := ops.get("/routes?mode=test&capability=text.embed").body
	for _, want := range []string{`<option selected>text.embed</option>`, "The example of the directory", `<span class="pill live">taken</span>`, sandbox.Cheap} {
		if !strings.Contains(example, want) {
			t.Errorf("no %s in %s", want, example)
		}
	}
	form := func(request string, more ...string) url.Values {
		v := url.Values{"capability": {"text.chat"}, "mode": {"test"}, "request": {request}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	prompt := `{"input":{"prompt":"` + secret + `"}}`
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "till", Account: "shop", Mode: task.Test, Scopes: []string{"image.*"}}))(t)
	for name, tt := range map[string]struct {
		form url.Values
		want string
	}{
		"one's own":       {form(prompt), "It is kept nowhere"},
		"of a key":        {form(prompt, "key", key.ID), "Capability isn&#39;t among the key&#39;s scopes"},
		"no such key":     {form(prompt, "key", "key_x"), "Key is no key&#39;s id"},
		"no live route":   {form(prompt, "mode", "live"), "Capability has no approved route for live keys"},
		"no JSON":         {form(secret), "Request must be a JSON object"},
		"a wrong member":  {form(`{"input":{"prompt":1}}`), "Input.prompt must be a string"},
		"another account": {form(prompt, "account", "gone"), "There is no such account"},
	} {
		got := ops.post("/routes", tt.form)
		if got.StatusCode != http.StatusOK || !strings.Contains(strings.ReplaceAll(got.body, "it is kept", "It is kept"), tt.want) {
			t.Errorf("%s: %d, no %s in %s", name, got.StatusCode, tt.want, got.body)
		}
	}
	if got := ops.post("/routes", form(prompt)).body; !strings.Contains(got, secret) || !strings.Contains(got, `<span class="pill live">taken</span>`) {
		t.Errorf("one's own request isn't shown: %s", got)
	}
	if got := ops.get("/tasks?account=*").body; strings.Contains(got, "task_0") {
		t.Error("a task came of it")
	}
	if strings.Contains(w.log.String(), secret) {
		t.Error("the request is in the log")
	}
	for _, got := range []answer{ann.get("/routes"), ann.post("/routes", form(prompt))} {
		if got.StatusCode != http.StatusNotFound {
			t.Errorf("a member reads it: %d", got.StatusCode)
		}
	}
	made := ann.run(`{"capability":"text.chat","input":{"prompt":"hi"}}`)
	if got := ops.get("/tasks/" + made.ID).body; !strings.Contains(got, `/console/routes?capability=text.chat&amp;mode=test&amp;account=shop"`) {
		t.Errorf("no link from a task: %s", got)
	}
	if got := ops.get("/suppliers").body; !strings.Contains(got, `/console/routes?capability=text.chat&amp;mode=test"`) {
		t.Error("no link from a supplier")
	}
}

// TestRoutesOfKey: a key's own mode and account are shown as chosen, whatever else was; no route is taken of one that opens
// nothing or whose account takes no work, and the page says why.
func TestRoutesOfKey(t *testing.T) {
	const taken = `<span class="pill live">taken</span>`
	w := newWorld(t)
	ops := w.member("ops", "operator")
	key := func(account string) api.Key {
		return fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "till", Account: account, Mode: task.Test}))(t)
	}
	open, revoked, idle, _ := key("shop"), key("shop"), key("idle"), key("other")
	fixture.Must(w.operator.RevokeKey(t.Context(), revoked.ID))(t)
	fixture.Must(w.operator.SuspendAccount(t.Context(), "idle"))(t)
	shown := ops.get("/routes?account=other&mode=live&key=" + open.ID).body
	for _, want := range []string{"<option selected>test</option>", "<option selected>shop</option>", `name="account" value="shop"`, `name="mode" value="test"`, taken} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s in %s", want, shown)
		}
	}
	if wrong := ops.post("/routes", url.Values{"mode": {"live"}, "key": {open.ID}, "request": {"{"}}).body; !strings.Contains(wrong, "<option selected>shop</option>") {
		t.Errorf("the account of a malformed request's key isn't shown: %s", wrong)
	}
	for address, want := range map[string]string{
		"key=" + revoked.ID: "Key is revoked",
		"key=" + idle.ID:    "The account is suspended",
		"account=idle":      "The account is suspended",
	} {
		if got := ops.get("/routes?mode=test&" + address).body; !strings.Contains(got, want) || strings.Contains(got, taken) {
			t.Errorf("%s: no %q, or a route is taken: %s", address, want, got)
		}
	}
}
