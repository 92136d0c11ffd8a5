package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// from makes a request one of a page of the given site, as a browser says it.
func from(site, origin string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Sec-Fetch-Site")
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
	}
}

func TestCrossSitePosts(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "operator")
	form := url.Values{"name": {"planted"}, "mode": {"test"}}
	for name, change := range map[string]func(*http.Request){
		"another site": from("cross-site", "https://evil.example"), "a sibling": from("same-site", "http://127.0.0.1:1"),
		"an old browser": from("", "https://evil.example"), "a sandbox": from("cross-site", "null"), "an old browser's sandbox": from("", "null"),
	} {
		for _, path := range []string{"/keys", "/accounts", "/accounts/acme/invite", "/sign-in", "/sign-out", "/api/test/tasks"} {
			if got := b.post(path, form, change); got.StatusCode != http.StatusBadRequest {
				t.Errorf("%s to %s: %d", name, path, got.StatusCode)
			}
		}
	}
	if keys := fixture.Must(w.operator.ListKeys(t.Context()))(t); len(keys) != 0 || !b.signedIn() {
		t.Errorf("a foreign page made %d keys, or signed somebody out", len(keys))
	}
	if got := b.post("/keys", form, from("", w.base)); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a page of ours in an old browser: %d", got.StatusCode)
	}
}

func TestForeignHost(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "operator")
	port := w.base[strings.LastIndex(w.base, ":"):]
	for host, known := range map[string]bool{
		"evil.example": false, "evil.example" + port: false, "127.0.0.1.evil.example" + port: false, "localhost.evil.example": false, "": false,
		"127.0.0.1" + port: true, "localhost" + port: true, "localhost": true, "[::1]" + port: true,
	} {
		for _, path := range []string{"/", "/sign-in", "/static/console.js", "/api/test/tasks"} {
			got := b.get(path, func(r *http.Request) {
				r.Host = host
				if host == "" {
					r.Host = "evil.example."
				}
			})
			if (got.StatusCode != http.StatusNotFound) != known {
				t.Errorf("Host %q, %s: %d", host, path, got.StatusCode)
			}
		}
	}
}

// TestCookieIsNoKey: the API takes no cookie, the console no key.
func TestCookieIsNoKey(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "operator")
	for _, path := range []string{api.PathCapabilities, api.PathTasks, api.PathTasks + "/" + task.NewID(task.PrefixTask, time.Now()), "/api/ai/v1/nothing"} {
		if got := b.get(w.base + path); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("a cookie at %s: %d", path, got.StatusCode)
		}
		bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+b.session()) }
		if got := b.get(w.base+path, bearer); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("a session as a key at %s: %d", path, got.StatusCode)
		}
	}
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "k", Account: "acme", Mode: task.Test}))(t).Secret
	stranger := w.browser()
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
	if got := stranger.get("/keys", bearer); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a key at the console: %d", got.StatusCode)
	}
	if got := stranger.get("/api/test/tasks", bearer); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a key at the pages' API: %d", got.StatusCode)
	}
}

// evil is a hostile name or prompt.
const evil = `"'><script>alert(1)</script><svg onload=alert(1)><img src=x onerror=alert(1)><a href="javascript:alert(1)">{{.}}`

// TestHostileTexts: names, prompts, outputs and form inputs stay texts. The inspector of every answer judges the
// pages.
func TestHostileTexts(t *testing.T) {
	w := newWorld(t)
	name := strings.ReplaceAll(evil, "/", "")[:100] // as long as a name may be, without forbidden characters
	fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: name}))(t)
	b := w.browser()
	if got := b.post("/sign-in", token(w.link(name, name, "operator"))); got.StatusCode != http.StatusSeeOther {
		t.Fatal(got.StatusCode)
	}
	if got := b.post("/keys", url.Values{"name": {name}, "mode": {"test"}, "account": {name}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a key: %d %s", got.StatusCode, got.body)
	}
	prompt := string(fixture.Must(json.Marshal(evil))(t))
	done := b.run(`{"capability":"text.chat","input":{"prompt":` + prompt + `}}`)
	if done.Output == nil || !strings.Contains(*done.Output.Text, "<script>") {
		t.Fatalf("the output holds no script to be wary of: %+v", done.Output)
	}
	pages := []string{"/", "/keys", "/tasks", "/tasks/" + done.ID, "/usage", "/suppliers", "/accounts"}
	for _, k := range fixture.Must(w.operator.ListKeys(t.Context()))(t) {
		pages = append(pages, "/keys/"+k.ID)
	}
	for _, a := range fixture.Must(w.operator.ListAccounts(t.Context()))(t) {
		pages = append(pages, "/accounts/"+a.ID)
	}
	for _, path := range pages {
		if got := b.get(path); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	q := url.QueryEscape(evil)
	for _, path := range []string{"/lookup?id=" + q, "/tasks?state=" + q, "/tasks?capability=" + q, "/tasks?account=" + q, "/tasks?cursor=" + q, "/usage?days=" + q, "/keys/" + url.PathEscape(evil)} {
		b.get(path)
	}
	for path, form := range map[string]url.Values{
		"/keys": {"name": {evil}, "scopes": {evil}, "mode": {evil}, "budget": {evil}}, "/accounts": {"name": {evil}, "capabilities": {evil}},
	} {
		if got := b.post(path, form); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

// blank removes the parts of an answer that differ from request to request.
func blank(body, id string) string {
	if id == "" {
		id = "no id"
	}
	return requestID.ReplaceAllString(strings.ReplaceAll(body, id, "ID"), "REQUEST")
}

var requestID = regexp.MustCompile(`req_[0-9a-z]{26}`)

// TestOtherAccounts: to a member, another account's objects don't exist.
func TestOtherAccounts(t *testing.T) {
	w := newWorld(t)
	owner, other := w.member("acme", "member"), w.member("beta", "member")
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "theirs", Account: "acme", Mode: task.Test}))(t)
	done := owner.run(`{"capability":"text.chat","input":{"prompt":"a secret of acme"}}`)
	acct := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t).ID
	now := time.Now()
	for _, at := range []struct{ method, path, id, made string }{
		{"GET", "/keys/%", key.ID, task.NewID(task.PrefixKey, now)},
		{"POST", "/keys/%", key.ID, task.NewID(task.PrefixKey, now)},
		{"POST", "/keys/%/rotate", key.ID, task.NewID(task.PrefixKey, now)},
		{"POST", "/keys/%/revoke", key.ID, task.NewID(task.PrefixKey, now)},
		{"GET", "/tasks/%", done.ID, task.NewID(task.PrefixTask, now)},
		{"POST", "/tasks/%/cancel", done.ID, task.NewID(task.PrefixTask, now)},
		{"GET", "/api/test/tasks/%", done.ID, task.NewID(task.PrefixTask, now)},
		{"GET", "/api/test/tasks/%/timeline", done.ID, task.NewID(task.PrefixTask, now)},
		{"POST", "/api/test/tasks/%/cancel", done.ID, task.NewID(task.PrefixTask, now)},
		{"GET", "/tasks?account=%", acct, task.NewID(task.PrefixAccount, now)},
		{"GET", "/keys?account=%", "acme", "nobody"},
		{"GET", "/usage?account=%", "acme", "nobody"},
		{"GET", "/accounts/%", acct, task.NewID(task.PrefixAccount, now)},
		{"POST", "/accounts/%", acct, task.NewID(task.PrefixAccount, now)},
		{"POST", "/accounts/%/invite", acct, task.NewID(task.PrefixAccount, now)},
		{"POST", "/accounts/%/members", acct, task.NewID(task.PrefixAccount, now)},
		{"GET", "/suppliers%", "", ""},
		{"GET", "/accounts%", "", ""},
	} {
		ask := func(id string) answer {
			path := strings.Replace(at.path, "%", id, 1)
			if at.method == "GET" {
				return other.get(path)
			}
			return other.post(path, url.Values{"sure": {"yes"}, "member": {"me"}, "role": {"operator"}, "name": {"x"}})
		}
		theirs, unknown := ask(at.id), ask(at.made)
		if theirs.StatusCode != http.StatusNotFound || blank(theirs.body, at.id) != blank(unknown.body, at.made) {
			t.Errorf("%s %s: %d, and %d for what doesn't exist", at.method, at.path, theirs.StatusCode, unknown.StatusCode)
		}
	}
	if got := other.post("/keys", url.Values{"name": {"x"}, "mode": {"test"}, "account": {"acme"}}); got.StatusCode != http.StatusNotFound {
		t.Errorf("a key for another account: %d", got.StatusCode)
	}
	if got := other.get("/lookup?id=" + done.ID); strings.Contains(got.body, "/console/tasks/"+done.ID) {
		t.Error("the lookup knows another account's task")
	}
	for _, path := range []string{"/", "/keys", "/tasks", "/usage"} {
		if got := other.get(path); strings.Contains(got.body, done.ID) || strings.Contains(got.body, key.ID) || strings.Contains(got.body, "acme") {
			t.Errorf("%s shows what is another account's", path)
		}
	}
	if k := fixture.Must(w.operator.ListKeys(t.Context()))(t); len(k) != 1 || k[0].RevokedAt != nil || k[0].Name != "theirs" {
		t.Errorf("%d keys, revoked %v", len(k), k[0].RevokedAt)
	}
}

// TestOperatorSeesNoContent: states, codes, attempts and costs of every account, never inputs and outputs.
func TestOperatorSeesNoContent(t *testing.T) {
	w := newWorld(t)
	owner, operator := w.member("acme", "member"), w.member("ops", "operator")
	texts := owner.run(`{"capability":"text.chat","input":{"prompt":"zarquon is a secret"}}`)
	files := owner.run(`{"capability":"image.generate","input":{"prompt":"zarquon"},"parameters":{"size":"64x64"}}`)
	stuck := owner.submit(`{"capability":"image.generate","input":{"prompt":"@stuck:running zarquon"}}`, "wait=0")
	for !stuck.State.Terminal() && stuck.State != task.Running {
		stuck = decode[api.Task](t, owner.get("/api/test/tasks/"+stuck.ID, func(r *http.Request) { r.Header.Set(api.HeaderPrefer, "wait=5") }))
	}
	if texts.Output == nil || files.Output == nil {
		t.Fatalf("%+v %+v", texts, files)
	}
	for _, id := range []string{texts.ID, files.ID, stuck.ID} {
		page := operator.get("/tasks/" + id)
		if page.StatusCode != http.StatusOK || !strings.Contains(page.body, "Attempts") || !strings.Contains(page.body, "sandbox-a") {
			t.Errorf("%d: no attempts on %s", page.StatusCode, page.body)
		}
		for _, content := range []string{"zarquon", "/artifacts/", files.Output.Images[0].ID, "/api/test/tasks"} {
			if strings.Contains(page.body, content) {
				t.Errorf("the operator's page holds %q", content)
			}
		}
		for _, path := range []string{"/api/test/tasks/" + id, "/api/live/tasks/" + id, "/api/test/tasks/" + id + "/timeline"} {
			if got := operator.get(path); got.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", path, got.StatusCode)
			}
		}
		if got := operator.post("/tasks/"+id+"/cancel", nil); got.StatusCode != http.StatusNotFound {
			t.Errorf("canceled: %d", got.StatusCode)
		}
	}
	if got := operator.get("/tasks?account=acme"); !strings.Contains(got.body, texts.ID) || strings.Contains(got.body, "zarquon") {
		t.Errorf("the list: %s", got.body)
	}
	member := owner.get("/tasks/" + texts.ID)
	if strings.Contains(member.body, "sandbox-a") || strings.Contains(member.body, "Attempts") {
		t.Error("a member's page names a supplier")
	}
	owner.post("/tasks/"+stuck.ID+"/cancel", nil)
}

func TestGuessedIds(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "operator")
	for _, id := range []string{task.NewID(task.PrefixTask, time.Now()), "task_", "x", "task_%00", "%2e%2e", "task_%27%20or%201=1"} {
		for _, path := range []string{"/tasks/", "/keys/", "/accounts/", "/static/", "/nothing/"} {
			if got := b.get(path + id); got.StatusCode != http.StatusNotFound {
				t.Errorf("%s%s: %d", path, id, got.StatusCode)
			}
		}
	}
}
