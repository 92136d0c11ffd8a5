package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/requestlog"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestSessionIsNoKey: whoever signed in at the console has no way into the API by that: the cookie, and its token or
// its hash in the place of a key, count as a missing key.
func TestSessionIsNoKey(t *testing.T) {
	w := newWorld(t, options{})
	link := fixture.Must(w.Operator.Invite(t.Context(), "", api.Invite{Member: "ann", Role: string(account.RoleOperator)}))(t)
	_, token, _ := strings.Cut(link.URL, "#")
	session, _, err := w.Operator.SignIn(t.Context(), token, "")
	if err != nil {
		t.Fatal(err)
	}
	missing := w.do(request{path: api.PathCapabilities}).error(t)
	for name, header := range map[string]http.Header{
		"a cookie": {"Cookie": {"session=" + session + "; unitask=" + session + "; __Host-session=" + session}},
		"a token":  {"Authorization": {"Bearer " + session}}, "a hash": {"Authorization": {"Bearer " + account.HashSecret(session).String()}},
		"a link": {"Authorization": {"Bearer " + token}}, "a key in a cookie": {"Cookie": {"Authorization=Bearer " + w.test}},
	} {
		for _, path := range []string{api.PathCapabilities, api.PathTasks, api.PathTasks + "/" + task.NewID(task.PrefixTask, time.Now())} {
			req := fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+path, nil))(t)
			req.Header = header
			got := w.send(req)
			e := got.error(t)
			e.RequestID = missing.RequestID
			if diff := cmp.Diff(missing, e); got.StatusCode != http.StatusUnauthorized || diff != "" || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s at %s: %d\n%s", name, path, got.StatusCode, diff)
			}
		}
	}
}

// TestAccountOpens: a capability that is closed on the account is closed to its keys, from the next request on.
func TestAccountOpens(t *testing.T) {
	w := newWorld(t, options{})
	fixture.Must(w.Operator.CreateAccount(t.Context(), api.AccountCreate{Name: "shop", Capabilities: []string{"image.*"}}))(t)
	key := w.key(api.KeyCreate{Mode: task.Test, Account: "shop"})
	closed := w.post("closed-on-account", chat("hello"), by(key))
	if e := closed.error(t); closed.StatusCode != 400 || e.Error.Details[0].Field != "capability" {
		t.Errorf("a capability that is closed: %d %s", closed.StatusCode, closed.body)
	}
	fixture.Must(w.Operator.UpdateAccount(t.Context(), "shop", api.AccountUpdate{Capabilities: new([]string{"text.*"})}))(t)
	if got := w.post("closed-on-account", chat("hello"), by(key)); got.StatusCode != 200 {
		t.Errorf("once it is open: %d %s", got.StatusCode, got.body)
	}
}

// TestLimitsOfAnAccount: two keys of one account share its open tasks and its rate.
func TestLimitsOfAnAccount(t *testing.T) {
	w := newWorld(t, options{})
	fixture.Must(w.Operator.CreateAccount(t.Context(), api.AccountCreate{Name: "shop", Limits: api.Limits{OpenTasks: 1, CreatesPerMinute: 3}}))(t)
	keys := []string{w.key(api.KeyCreate{Mode: task.Test, Account: "shop"}), w.key(api.KeyCreate{Mode: task.Test, Account: "shop"})}
	slow := `{"capability":"image.generate","input":{"prompt":"@slow:60s"}}`
	if got := w.post("the-first-one", slow, by(keys[0])); got.StatusCode != 202 {
		t.Fatalf("the first: %d %s", got.StatusCode, got.body)
	}
	full := w.post("the-second-one", slow, by(keys[1]))
	e := full.error(t)
	if full.StatusCode != 429 || e.Error.Code != fault.RateLimitExceeded || full.Header.Get("Retry-After") != "2" ||
		e.Error.Message != "more than 1 open tasks of this account" {
		t.Errorf("the second: %d %s", full.StatusCode, full.body)
	}
	if policy := full.Header.Get(api.HeaderRateLimitPolicy); policy != `"account-creates";q=3;w=60` {
		t.Errorf("policy %s", policy)
	}
	if got := w.do(request{path: api.PathTasks, key: keys[0]}); got.StatusCode != 200 {
		t.Errorf("the third request: %d", got.StatusCode)
	}
	if got := w.do(request{path: api.PathTasks, key: keys[1]}); got.StatusCode != 429 || got.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth: %d %v", got.StatusCode, got.Header)
	}
}

// TestAdminRoutes calls each of the operator's routes for accounts, usage, suppliers and requests.
func TestAdminRoutes(t *testing.T) {
	w := newWorld(t, options{})
	log := fixture.Must(requestlog.Open(requestlog.Config{Dir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = log.Close() })
	w.Operator.Requests, w.Operator.RoutesFunc = log, nil
	admin := socket(t, w)
	accounts := api.PathAdminAccounts
	made := decode[api.Account](t, admin(http.MethodPost, accounts, `{"name":"shop","limits":{"open_tasks":3}}`))
	if got := decode[api.Account](t, admin(http.MethodGet, accounts+"/shop", "")); got.ID != made.ID || got.Limits.OpenTasks != 3 {
		t.Errorf("%+v", got)
	}
	if got := decode[api.Account](t, admin(http.MethodPatch, accounts+"/"+made.ID, `{"limits":{"open_tasks":0}}`)); got.Limits != (api.Limits{}) {
		t.Errorf("%+v", got)
	}
	if got := decode[api.AccountList](t, admin(http.MethodGet, accounts, "")); len(got.Data) != 2 {
		t.Errorf("%d accounts, want the default one and the shop", len(got.Data))
	}
	if got := decode[api.SignInLink](t, admin(http.MethodPost, accounts+"/shop/links", `{"member":"ann"}`)); got.Role != "member" || got.Account != "shop" {
		t.Errorf("%+v", got)
	}
	id := w.post("counted-by-usage", chat("hello")).task(t).ID
	usage := decode[api.UsageReport](t, admin(http.MethodGet, api.PathAdminUsage+"?by=capability", ""))
	if len(usage.Data) != 1 || usage.Data[0].Succeeded != 1 || usage.Data[0].Group != "text.chat" {
		t.Errorf("%+v", usage)
	}
	log.Add(requestlog.Entry{ID: task.NewID(task.PrefixRequest, time.Now()), KeyID: "key_1", At: time.Now(), TaskID: id, Status: 200})
	if got := decode[api.RequestList](t, admin(http.MethodGet, api.PathAdminRequests+"?id="+id, "")); len(got.Data) != 1 || got.Data[0].TaskID != id {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]int{
		accounts + "/nobody": 404, api.PathAdminUsage + "?by=week": 400, api.PathAdminUsage + "?by=day&by=key": 400, api.PathAdminUsage + "?x=1": 400,
		api.PathAdminRequests: 400, api.PathAdminRequests + "?id=" + task.NewID(task.PrefixTask, time.Now()): 404, api.PathAdminSuppliers: 400,
		api.PathAdminLog: 200, api.PathAdminLog + "?cursor=x": 400,
	} {
		if got := admin(http.MethodGet, path, ""); got.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, got.StatusCode, want)
		}
	}
	for path, body := range map[string]string{
		accounts: `{"name":"shop"}`, accounts + "/shop/links": `{"member":"ann","role":"boss"}`, api.PathAdminKeys + "/key_x/rotate": `{"overlap_seconds":-1}`,
	} {
		if got := admin(http.MethodPost, path, body); got.StatusCode != 400 {
			t.Errorf("POST %s %s: %d", path, body, got.StatusCode)
		}
	}
	key := decode[api.Key](t, admin(http.MethodPost, api.PathAdminKeys, `{"name":"old","mode":"test"}`))
	next := decode[api.Key](t, admin(http.MethodPost, api.PathAdminKeys+"/"+key.ID+"/rotate", `{}`))
	if next.Secret == "" || w.do(request{path: api.PathCapabilities, key: key.Secret}).StatusCode != 401 {
		t.Errorf("rotated to %s; the old key is still taken", next.ID)
	}
}
