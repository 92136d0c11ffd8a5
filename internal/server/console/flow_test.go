package console_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/operator"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestKeyLife: created, shown once, used, changed, rotated, revoked; and no other answer and no log line holds a key.
func TestKeyLife(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	made := b.postOnce("/keys", url.Values{
		"name": {"shop"}, "mode": {"test"}, "scopes": {"text.*, image.generate"}, "expires": {"week"}, "open_tasks": {"3"}, "budget": {"5"}, "budget_period": {"day"},
	})
	secret := anyKey.FindString(made.body)
	if made.StatusCode != http.StatusOK || secret == "" {
		t.Fatalf("%d %s", made.StatusCode, made.body)
	}
	k := fixture.Must(w.operator.ListKeys(t.Context()))(t)[0]
	want := api.Limits{OpenTasks: 3, Budget: "5", BudgetPeriod: "day"}
	if k.Limits != want || strings.Join(k.Scopes, " ") != "text.* image.generate" || k.ExpiresAt == nil || k.Account != "acme" {
		t.Errorf("made %+v", k)
	}
	if got := w.call(secret); got.StatusCode != http.StatusOK {
		t.Errorf("used: %d", got.StatusCode)
	}
	if got := b.post("/keys/"+k.ID, url.Values{"name": {"till"}, "scopes": {""}, "open_tasks": {"4"}, "expires": {""}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("changed: %d %s", got.StatusCode, got.body)
	}
	k = fixture.Must(w.operator.ListKeys(t.Context()))(t)[0]
	if want := (api.Limits{OpenTasks: 4}); k.Limits != want || k.Name != "till" || strings.Join(k.Scopes, " ") != "*" || k.ExpiresAt == nil {
		t.Errorf("changed to %+v", k)
	}
	if got := b.post("/keys/"+k.ID, url.Values{"name": {"till"}, "budget": {"much"}}); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, `value="much"`) {
		t.Errorf("a budget that is none: %d", got.StatusCode)
	}
	if got := b.post("/keys/"+k.ID, url.Values{"name": {"till"}, "expires": {"soon"}}); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "one of those offered") {
		t.Errorf("an expiry that isn't offered: %d", got.StatusCode)
	}
	if got := b.post("/keys/"+k.ID, url.Values{"name": {"till"}, "expires": {"never"}}); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "an operator alone puts") {
		t.Errorf("a member puts an expiry off: %d", got.StatusCode)
	}
	if got := b.post("/keys/"+k.ID, url.Values{"name": {"till"}, "expires": {"day"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("another expiry: %d %s", got.StatusCode, got.body)
	}
	if k = fixture.Must(w.operator.ListKeys(t.Context()))(t)[0]; k.ExpiresAt == nil || k.ExpiresAt.Sub(w.now()) > 24*time.Hour {
		t.Errorf("expires %v, want a day from now", k.ExpiresAt)
	}
	if asked := b.post("/keys/"+k.ID+"/rotate", url.Values{"overlap": {"hour"}}); asked.StatusCode != http.StatusOK || !strings.Contains(asked.body, "Rotate till?") {
		t.Errorf("before it is rotated: %d %s", asked.StatusCode, asked.body)
	}
	rotated := b.postOnce("/keys/"+k.ID+"/rotate", url.Values{"overlap": {"hour"}, "sure": {"yes"}})
	next := anyKey.FindString(rotated.body)
	if rotated.StatusCode != http.StatusOK || next == "" || next == secret {
		t.Fatalf("rotated: %d", rotated.StatusCode)
	}
	if w.call(secret).StatusCode != http.StatusOK || w.call(next).StatusCode != http.StatusOK {
		t.Error("one of two keys that overlap is refused")
	}
	if got := b.post("/keys/"+k.ID+"/revoke", nil); got.StatusCode != http.StatusBadRequest || w.call(secret).StatusCode != http.StatusOK {
		t.Errorf("revoked by one who wasn't sure: %d", got.StatusCode)
	}
	if got := b.post("/keys/"+k.ID+"/revoke", url.Values{"sure": {"yes"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("revoked: %d", got.StatusCode)
	}
	if got := w.call(secret); got.StatusCode != http.StatusUnauthorized || w.call(next).StatusCode != http.StatusOK {
		t.Errorf("after its end: %d", got.StatusCode)
	}
	for _, path := range []string{"/", "/keys", "/keys/" + k.ID, "/keys/new", "/tasks", "/usage", "/lookup"} {
		if got := b.get(path); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if got := anyKey.FindAllString(w.seen.String(), -1); len(got) != 2 {
		t.Errorf("%d keys in all answers, want the two that were made", len(got))
	}
	for what, text := range map[string]string{"a key": secret, "the session": b.session()} {
		if strings.Contains(w.log.String(), text) {
			t.Errorf("the log holds %s", what)
		}
	}
	if !strings.Contains(w.log.String(), `"route":"/console/keys/{key_id}/revoke"`) {
		t.Error("the log lacks the console's routes")
	}
}

// call asks for the directory with a key.
func (w *world) call(key string) answer {
	w.t.Helper()
	return w.browser().get(w.base+api.PathCapabilities, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) })
}

func TestFormsSayWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "operator")
	for name, tt := range map[string]struct {
		path string
		form url.Values
		want string
	}{
		"no name":      {"/keys", url.Values{"mode": {"test"}}, "Is required"},
		"a pattern":    {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "scopes": {"Text.*"}}, "such as image.*"},
		"a scope":      {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "scopes": {"vedio.* text.chat"}}, "Hold vedio.*, which opens nothing on the account; perhaps video.* is meant."},
		"webhooks":     {"/keys", url.Values{"name": {""}, "mode": {"test"}, "scopes": {"webhooks"}}, "s required, and has at most 100 bytes"},
		"no near name": {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "scopes": {"zebra"}}, "opens nothing on the account; open are audio.speech, audio.transcribe, image.background_remove,"},
		"a budget":     {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "budget": {"much"}, "budget_period": {"day"}}, "decimal amount"},
		"a number":     {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "open_tasks": {"few"}}, "whole number"},
		"no limit":     {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "open_tasks": {"-1"}}, "not negative"},
		"a mode":       {"/keys", url.Values{"name": {"a"}, "mode": {"both"}}, "live or test"},
		"an expiry":    {"/keys", url.Values{"name": {"a"}, "mode": {"test"}, "expires": {"soon"}}, "one of those offered"},
		"a taken name": {"/accounts", url.Values{"name": {"acme"}}, "another account"},
		"a role":       {"/accounts/acme/invite", url.Values{"member": {"a"}, "role": {"king"}}, "member, admin or operator"},
		"a stranger":   {"/accounts/acme/members", url.Values{"remove": {"nobody"}, "sure": {"yes"}}, "nobody of the account"},
		"a spend":      {"/accounts/acme", url.Values{"supplier_spend": {"lots"}, "budget_period": {"day"}}, "decimal amount"},
		"kept days":    {"/accounts/acme", url.Values{"keep_inputs_days": {"some"}}, "whole number of days"},
		"a long time":  {"/accounts/acme", url.Values{"keep_inputs_days": {"31"}}, "from 0, which keeps none, to 30"},
		"an open list": {"/accounts/acme", url.Values{"capabilities": {"TEXT"}}, "such as image.*"},
	} {
		got := b.post(tt.path, tt.form)
		if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, tt.want) || !strings.Contains(got.body, "<form") {
			t.Errorf("%s: %d, without %q", name, got.StatusCode, tt.want)
		}
	}
}

// TestScopes: a key's scopes are completed from its account's open capabilities and must match one of them; those
// that a key has already stay.
func TestScopes(t *testing.T) {
	w := newWorld(t)
	fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: "acme", Capabilities: []string{"text.*", "image.edit"}}))(t)
	b := w.member("acme", "member")
	page := b.get("/keys/new").body
	list := regexp.MustCompile(`<datalist id="scopes-known">(.*)</datalist>`).FindStringSubmatch(page)
	want := `<option value="image.*"></option><option value="image.edit"></option><option value="text.*"></option>` +
		`<option value="text.chat"></option><option value="text.embed"></option><option value="text.moderate"></option>` +
		`<option value="text.rerank"></option>`
	if len(list) == 0 || list[1] != want {
		t.Errorf("completed by %q", list)
	}
	refused := b.post("/keys", url.Values{"name": {"a"}, "mode": {"test"}, "scopes": {"text.caht image.* image.generate"}})
	said := "Hold text.caht, which opens nothing on the account; perhaps text.chat is meant. " +
		"Hold image.generate, which opens nothing on the account; open are image.edit, text.chat, text.embed, text.moderate, text.rerank."
	if refused.StatusCode != http.StatusBadRequest || !strings.Contains(refused.body, said) {
		t.Errorf("new scopes: %d %s", refused.StatusCode, refused.body)
	}
	k := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "shop", Account: "acme", Mode: task.Test, Scopes: []string{"video.*"}}))(t)
	for _, tt := range []struct {
		scopes string
		status int
	}{{"audio.*", http.StatusBadRequest}, {"video.* text.*", http.StatusSeeOther}, {"", http.StatusSeeOther}, {"video.*", http.StatusBadRequest}} {
		if got := b.post("/keys/"+k.ID, url.Values{"name": {"shop"}, "scopes": {tt.scopes}}); got.StatusCode != tt.status {
			t.Errorf("changed to %q: %d", tt.scopes, got.StatusCode)
		}
	}
}

// TestMemberLiftsNoLimit is an attack by the console's forms: a member removes or raises an operator's limit of a
// key, asks for no limit, and makes keys with more than the server and the account allow.
func TestMemberLiftsNoLimit(t *testing.T) {
	w := newWorld(t)
	w.operator.Gate.SetDefaults(gate.Defaults{CreatesPerMinute: 5, OpenTasks: 64})
	b := w.member("acme", "member")
	set := api.Limits{CreatesPerMinute: 3, OpenTasks: 2, Budget: "0.01", BudgetPeriod: "day"}
	k := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "shop", Account: "acme", Mode: task.Test, Limits: set}))(t)
	limits := func() api.Limits {
		all := fixture.Must(w.operator.ListKeys(t.Context()))(t)
		return all[slices.IndexFunc(all, func(have api.Key) bool { return have.ID == k.ID })].Limits
	}
	as := func(change url.Values) url.Values {
		form := url.Values{
			"name": {"shop"}, "creates_per_minute": {"3"}, "open_tasks": {"2"}, "budget": {"0.01"}, "budget_period": {"day"},
		}
		maps.Copy(form, change)
		return form
	}
	for name, change := range map[string]url.Values{
		"no budget": {"budget": {""}}, "a larger budget": {"budget": {"1"}}, "another period": {"budget_period": {"month"}},
		"no rate": {"creates_per_minute": {""}}, "a higher rate": {"creates_per_minute": {"4"}}, "rate 0": {"creates_per_minute": {"0"}},
		"rate -1": {"creates_per_minute": {"-1"}}, "no end of tasks": {"open_tasks": {"-1"}}, "more tasks": {"open_tasks": {"3"}},
		"below its own, then above": {"open_tasks": {"1"}, "creates_per_minute": {"9"}},
	} {
		if got := b.post("/keys/"+k.ID, as(change)); got.StatusCode != http.StatusBadRequest || limits() != set {
			t.Errorf("%s: %d, and the key has %+v", name, got.StatusCode, limits())
		}
	}
	if got := b.post("/keys/"+k.ID, as(url.Values{"open_tasks": {"1"}})); got.StatusCode != http.StatusSeeOther || limits().OpenTasks != 1 {
		t.Errorf("a lower limit: %d, and the key has %+v", got.StatusCode, limits())
	}
	if got := b.post("/keys", url.Values{"name": {"free"}, "mode": {"test"}, "open_tasks": {"-1"}}); got.StatusCode != http.StatusBadRequest {
		t.Errorf("a key without a limit: %d", got.StatusCode)
	}
	for _, tt := range []struct {
		whose   string
		account api.LimitsUpdate
		want    int // requests a minute
	}{
		{"the server's", api.LimitsUpdate{}, 5}, {"the account's", api.LimitsUpdate{CreatesPerMinute: new(2)}, 2},
	} {
		fixture.Must(w.operator.UpdateAccount(t.Context(), "acme", api.AccountUpdate{Limits: &tt.account}))(t)
		made := b.postOnce("/keys", url.Values{"name": {"more"}, "mode": {"test"}, "creates_per_minute": {"1000"}})
		passed := 0
		for range 8 {
			if w.list(anyKey.FindString(made.body)) == http.StatusOK {
				passed++
			}
		}
		if passed != tt.want {
			t.Errorf("%s limit: %d of 8 requests passed, want %d", tt.whose, passed, tt.want)
		}
	}
	for _, path := range []string{"/keys/new", "/keys/" + k.ID} {
		page := b.get(path).body
		if !strings.Contains(page, "for each key: 5 creations a minute") || !strings.Contains(page, "for all its keys together") {
			t.Errorf("%s doesn't say what binds the key", path)
		}
	}
}

// TestMembersOwnLimitStays: a member raises members' limits, also after an operator saved the key's form with another
// name in it, but no longer after the operator set a limit there.
func TestMembersOwnLimitStays(t *testing.T) {
	w := newWorld(t)
	member, operator := w.member("acme", "member"), w.member("ops", "operator")
	member.post("/keys", url.Values{"name": {"own"}, "mode": {"test"}, "open_tasks": {"2"}})
	all := fixture.Must(w.operator.ListKeys(t.Context()))(t)
	id := all[slices.IndexFunc(all, func(k api.Key) bool { return k.Name == "own" })].ID
	for i, step := range []struct {
		who   *browser
		tasks string
		want  int
	}{
		{operator, "2", http.StatusSeeOther}, {member, "3", http.StatusSeeOther}, {operator, "4", http.StatusSeeOther}, {member, "5", http.StatusBadRequest},
	} {
		if got := step.who.post("/keys/"+id, url.Values{"name": {fmt.Sprint("name ", i)}, "open_tasks": {step.tasks}}); got.StatusCode != step.want {
			t.Errorf("step %d: %d %s, want %d", i, got.StatusCode, got.body, step.want)
		}
	}
}

// list asks for the tasks of a key and returns the status.
func (w *world) list(key string) int {
	w.t.Helper()
	r := fixture.Must(http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.base+api.PathTasks, nil))(w.t)
	r.Header.Set("Authorization", "Bearer "+key)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	return got.StatusCode
}

func TestAccountsOfAnOperator(t *testing.T) {
	w := newWorld(t)
	b := w.member("ops", "operator")
	made := b.post("/accounts", url.Values{"name": {"shop"}, "capabilities": {"text.*"}, "budget": {"9.50"}, "budget_period": {"month"}})
	at, done, _ := strings.Cut(strings.TrimPrefix(made.Header.Get("Location"), "/console"), "?")
	if said := b.get(at + "?" + done).body; !strings.Contains(said, `role="status">The account is there.`) {
		t.Errorf("it isn't said that the account was made: %s", said)
	}
	if made.StatusCode != http.StatusSeeOther || b.get(at).StatusCode != http.StatusOK {
		t.Fatalf("%d to %q", made.StatusCode, at)
	}
	if got := b.post(at, url.Values{"supplier_spend": {"12"}, "budget_period": {"day"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("what suppliers may charge: %d %s", got.StatusCode, got.body)
	}
	if got, want := fixture.Must(w.operator.GetAccount(t.Context(), "shop"))(t).Limits, (api.Limits{SupplierSpend: "12", BudgetPeriod: "day"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if page := b.get(at); !strings.Contains(page.body, `name="supplier_spend" inputmode="decimal" placeholder="twice the budget" maxlength="30" value="12"`) {
		t.Errorf("the page doesn't show it: %s", page.body)
	}
	if got := b.post(at, url.Values{"capabilities": {"text.* image.generate"}, "open_tasks": {"4"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("changed: %d %s", got.StatusCode, got.body)
	}
	a := fixture.Must(w.operator.GetAccount(t.Context(), "shop"))(t)
	if a.Limits != (api.Limits{OpenTasks: 4}) || strings.Join(a.Capabilities, " ") != "text.* image.generate" {
		t.Errorf("changed to %+v", a)
	}
	invited := b.postOnce(at+"/invite", url.Values{"member": {"ann"}, "role": {"member"}})
	_, link, _ := strings.Cut(invited.body, w.base+api.PathSignIn+"#")
	link, _, _ = strings.Cut(link, `"`)
	guest := w.browser()
	if got := guest.post("/sign-in", token(link)); invited.StatusCode != http.StatusOK || got.StatusCode != http.StatusSeeOther {
		t.Fatalf("invited: %d, signed in: %d", invited.StatusCode, got.StatusCode)
	}
	if !guest.signedIn() || guest.get("/accounts").StatusCode != http.StatusNotFound {
		t.Error("the guest isn't in, or sees the accounts")
	}
	if strings.Contains(w.log.String(), link) {
		t.Error("the log holds a link")
	}
	if got := b.post(at+"/members", url.Values{"remove": {"ann"}}); !strings.Contains(got.body, "Remove ann?") || !guest.signedIn() {
		t.Errorf("before she is removed: %d %s", got.StatusCode, got.body)
	}
	if got := b.post(at+"/members", url.Values{"remove": {"ann"}, "sure": {"yes"}}); got.StatusCode != http.StatusSeeOther || guest.signedIn() {
		t.Errorf("removed: %d", got.StatusCode)
	}
}

// TestTaskPages: filters and pages of the list, and the page of each modality.
// TestOperatorKeysAreListed: an operator finds operator keys beside the keys of their own account and revokes them there.
func TestOperatorKeysAreListed(t *testing.T) {
	w := newWorld(t)
	owner := operator.Owner{Operator: w.operator}
	k := fixture.Must(owner.CreateKey(t.Context(), api.KeyCreate{Name: "by hand", Mode: account.Operator}))(t)
	b, member := w.member("ops", "operator"), w.member("shop", "member")
	for path, want := range map[string]bool{"/keys": true, "/keys?account=shop": false} {
		if got := strings.Contains(b.get(path).body, k.ID); got != want {
			t.Errorf("the key is on %s: %t, want %t", path, got, want)
		}
	}
	if page := b.get("/keys/" + k.ID); page.StatusCode != http.StatusOK || strings.Contains(page.body, "<dt>Account</dt>") {
		t.Errorf("the key's page: %d %s", page.StatusCode, page.body)
	}
	if strings.Contains(member.get("/keys").body, k.ID) || member.get("/keys/"+k.ID).StatusCode != http.StatusNotFound {
		t.Error("a member sees the key")
	}
	b.post("/keys/"+k.ID+"/revoke", url.Values{"sure": {"yes"}})
	if keys := fixture.Must(w.operator.ListKeys(t.Context()))(t); !slices.ContainsFunc(keys, func(o api.Key) bool { return o.ID == k.ID && o.RevokedAt != nil }) {
		t.Errorf("after its revocation: %+v", keys)
	}
}

func TestTaskPages(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	for body, want := range map[string]string{
		`{"capability":"text.chat","input":{"prompt":"hello"}}`:                                          `<pre class="wrap"`,
		`{"capability":"image.generate","input":{"prompt":"a fox"},"parameters":{"size":"64x64"}}`:       `<img src="/artifacts/`,
		`{"capability":"video.generate","input":{"prompt":"a fox"},"parameters":{"duration_seconds":1}}`: `<video src="/artifacts/`,
		`{"capability":"audio.speech","input":{"text":"hello"}}`:                                         `<audio src="/artifacts/`,
		`{"capability":"text.embed","input":{"texts":["hello"]}}`:                                        `1 vector of`,
	} {
		done := b.run(body)
		page := b.get("/tasks/" + done.ID)
		if done.State != task.Succeeded || !strings.Contains(page.body, want) || !strings.Contains(page.body, "queued") && done.Capability != "text.chat" {
			t.Errorf("%s: %+v\nno %s on the page", body, done, want)
		}
	}
	for n := range 30 {
		b.run(`{"capability":"text.chat","input":{"prompt":"` + strings.Repeat("x", n+1) + `"}}`)
	}
	first := b.get("/tasks?mode=test")
	_, older, ok := strings.Cut(first.body, `rel="next" href="`)
	older, _, _ = strings.Cut(older, `"`)
	if n := strings.Count(first.body, "/console/tasks/task_"); n != 25 || !ok {
		t.Fatalf("%d tasks on the first page", n)
	}
	if n := strings.Count(b.get("/tasks"+strings.ReplaceAll(older, "&amp;", "&")).body, "/console/tasks/task_"); n != 10 {
		t.Errorf("%d tasks on the second page, want 10", n)
	}
	if n := strings.Count(b.get("/tasks?capability=image.generate").body, "/console/tasks/task_"); n != 1 {
		t.Errorf("%d pictures", n)
	}
	if got := b.get("/usage"); !strings.Contains(got.body, "image.generate") || !strings.Contains(got.body, "<svg class=\"chart\"") {
		t.Error("the usage lacks a capability or its chart")
	}
}

// TestShownOnce: the page with a key is for the session that made it, and for a few minutes.
func TestShownOnce(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	made := func(name string) string {
		got := b.post("/keys", url.Values{"name": {name}, "mode": {"test"}})
		if got.StatusCode != http.StatusSeeOther {
			t.Fatalf("made: %d %s", got.StatusCode, got.body)
		}
		return strings.TrimPrefix(got.Header.Get("Location"), "/console")
	}
	at := made("shop")
	if got := w.member("ops", "operator").get(at); got.StatusCode != http.StatusGone || anyKey.MatchString(got.body) {
		t.Errorf("another session: %d", got.StatusCode)
	}
	if got := b.get(at); got.StatusCode != http.StatusOK || !anyKey.MatchString(got.body) {
		t.Errorf("its own session: %d", got.StatusCode)
	}
	at = made("till")
	w.skip(6 * time.Minute)
	if got := b.get(at); got.StatusCode != http.StatusGone || anyKey.MatchString(got.body) {
		t.Errorf("too late: %d", got.StatusCode)
	}
}
