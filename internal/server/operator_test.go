package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/requestlog"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// operatorKey makes an operator key as the owner of the data folder does.
func (w *world) operatorKey() api.Key {
	w.t.Helper()
	owner := operator.Owner{Operator: w.Operator}
	return fixture.Must(owner.CreateKey(w.t.Context(), api.KeyCreate{Name: "ops", Mode: account.Operator}))(w.t)
}

// operate makes an operator's request with a key.
func (w *world) operate(key, method, path, body string) response {
	w.t.Helper()
	return w.do(request{method: method, path: path, key: key, body: body, header: map[string]string{"Content-Type": "application/json"}})
}

// TestOperatorAPI: an operator key opens the operator's actions, each of which answers as the document says, and each
// change is logged with the key's id.
func TestOperatorAPI(t *testing.T) {
	requests := make(chan server.Request, 100)
	w := newWorld(t, options{operators: true, onRequest: func(r server.Request) { requests <- r }})
	ops := w.operatorKey()
	w.Operator.AskFunc = func(context.Context, string, bool) ([]requestlog.Entry, []string) {
		return []requestlog.Entry{{ID: task.NewID(task.PrefixRequest, time.Now()), At: time.Now(), Method: http.MethodGet, Status: 200}}, []string{"silent"}
	}
	var made api.Key
	for _, step := range []struct {
		method, path, body string
		want               int
		logged             string
	}{
		{http.MethodGet, api.PathAdminInfo, "", 200, ""},
		{http.MethodPost, api.PathAdminAccounts, `{"name":"shop","limits":{"open_tasks":9}}`, 201, "account created"},
		{http.MethodGet, api.PathAdminAccounts, "", 200, ""},
		{http.MethodGet, api.PathAdminAccounts + "/shop", "", 200, ""},
		{http.MethodPatch, api.PathAdminAccounts + "/shop", `{"capabilities":["text.*"]}`, 200, "account updated"},
		{http.MethodPost, api.PathAdminAccounts + "/shop/links", `{"member":"ann"}`, 201, "sign-in link created"},
		{http.MethodGet, api.PathAdminAccounts + "/shop/sessions", "", 200, ""},
		{http.MethodPost, api.PathAdminAccounts + "/shop/sessions/end", `{"member":"ann"}`, 200, "sessions ended"},
		{http.MethodPost, api.PathAdminAccounts + "/shop/close", `{"name":"shop"}`, 200, "account closed"},
		{http.MethodGet, api.PathAdminAccounts + "/shop", "", 200, ""},
		{http.MethodPost, api.PathAdminAccounts + "/shop/resume", "", 200, "account resumed"},
		{http.MethodPost, api.PathAdminAccounts + "/shop/suspend", "", 200, "account suspended"},
		{http.MethodPatch, api.PathAdminAccounts + "/shop", `{"name":"shopping"}`, 200, "account updated"},
		{http.MethodPatch, api.PathAdminAccounts + "/shopping", `{"name":"shop"}`, 200, "account updated"},
		{http.MethodPost, api.PathAdminAccounts + "/shop/resume", "", 200, "account resumed"},
		{http.MethodPost, api.PathAdminKeys, `{"name":"app","mode":"live","account":"shop","creates_per_minute":60}`, 201, "key created"},
		{http.MethodGet, api.PathAdminKeys, "", 200, ""},
		{http.MethodPatch, api.PathAdminKeys + "/KEY", `{"limits":{"budget":"5","budget_period":"day"}}`, 200, "key updated"},
		{http.MethodPost, api.PathAdminKeys + "/KEY/rotate", `{"overlap_seconds":60}`, 201, "key rotated"},
		{http.MethodPost, api.PathAdminKeys + "/KEY/revoke", "", 200, "key revoked"},
		{http.MethodGet, api.PathAdminUsage + "?by=supplier", "", 200, ""},
		{http.MethodGet, api.PathAdminUsage, "", 200, ""},
		{http.MethodPost, api.PathAdminSuppliers + "/SUPPLIER/pause", "", 200, "supplier paused"},
		{http.MethodGet, api.PathAdminSuppliers, "", 200, ""},
		{http.MethodPost, api.PathAdminSuppliers + "/SUPPLIER/resume", "", 200, "supplier resumed"},
		{http.MethodPost, api.PathAdminSuppliers + "/SUPPLIER/reset", "", 200, "supplier reset"},
		{http.MethodPost, api.PathAdminSuppliers + "/SUPPLIER/test", "", 200, "supplier tested"},
		{http.MethodGet, api.PathAdminSuppliers, "", 200, ""},
		{http.MethodPost, api.PathAdminSuppliers + "/unknown/test", "", 404, ""},
		{http.MethodPost, api.PathAdminSuppliers + "/unknown/pause", "", 404, ""},
		{http.MethodGet, api.PathAdminRequests + "?id=" + task.NewID(task.PrefixTask, time.Now()), "", 200, ""},
		{http.MethodGet, api.PathAdminLog, "", 200, ""},
	} {
		path := strings.NewReplacer("KEY", made.ID, "SUPPLIER", w.Operator.RoutesFunc()[0].Supplier).Replace(step.path)
		got := w.operate(ops.Secret, step.method, path, step.body)
		if got.StatusCode != step.want {
			t.Errorf("%s %s: %d %s", step.method, path, got.StatusCode, got.body)
		}
		if step.method == http.MethodPost && step.path == api.PathAdminKeys {
			made = decode[api.Key](t, got)
		}
		if r := <-requests; r.KeyID != ops.ID || r.Account != "" {
			t.Errorf("%s %s is recorded as %+v", step.method, path, r)
		}
		if id := got.Header.Get(api.HeaderRequestID); step.logged != "" && !w.logged(step.logged, ops.ID, id) {
			t.Errorf("%s %s: no line %q of key %s and request %s in the log", step.method, path, step.logged, ops.ID, id)
		}
	}
	follow := func(cursor string) (api.LogPage, []string) {
		page := decode[api.LogPage](t, w.operate(ops.Secret, http.MethodGet, api.PathAdminLog+"?cursor="+cursor, ""))
		<-requests
		var routes []string
		for _, e := range page.Data {
			routes = append(routes, e.Request.Method+" "+e.Request.Route)
		}
		return page, routes
	}
	from, _ := follow("")
	w.operate(ops.Secret, http.MethodGet, api.PathAdminInfo, "")
	<-requests
	if page, routes := follow(from.Next); len(routes) != 1 || page.Data[0].Request.KeyID != ops.ID {
		t.Errorf("followed %+v", routes) // its own calls are no events
	}
	if got := w.do(request{path: api.PathCapabilities, key: made.Secret}); got.StatusCode != 401 {
		t.Errorf("the revoked key: %d", got.StatusCode)
	}
}

// logged reports whether the log has a change by an operator key in a request.
func (w *world) logged(message, by, requestID string) bool {
	return slices.ContainsFunc(strings.Split(w.log.String(), "\n"), func(line string) bool {
		var l struct {
			Msg       string
			By        string
			RequestID string `json:"request_id"`
		}
		return json.Unmarshal([]byte(line), &l) == nil && l.Msg == message && l.By == by && l.RequestID == requestID
	})
}

// TestOperatorAPIRefuses: other keys open no operator's path and an operator key no other, what outlives a key is not
// given to it, and the socket's own paths aren't there.
func TestOperatorAPIRefuses(t *testing.T) {
	w := newWorld(t, options{operators: true})
	ops, closed := w.operatorKey(), w.operatorKey()
	fixture.Must(w.Operator.RevokeKey(t.Context(), closed.ID))(t)
	for name, key := range map[string]string{
		"live": w.live, "test": w.test, "revoked": closed.Secret, "none": "",
		"never issued": account.NewKeySecret("svc", account.Operator), "another mode": strings.Replace(w.live, "_live_", "_operator_", 1),
	} {
		got := w.operate(key, http.MethodGet, api.PathAdminKeys, "")
		if e := got.error(t); got.StatusCode != 401 || e.Error.Code != fault.Unauthenticated || !strings.Contains(e.Error.Message, "operator key") {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	for _, path := range []string{api.PathCapabilities, api.PathTasks, "/api/nothing"} {
		if got := w.do(request{path: path, key: ops.Secret}); got.StatusCode != 401 {
			t.Errorf("an operator key at %s: %d", path, got.StatusCode)
		}
	}
	if got := w.post("by an operator", chat("hello"), by(ops.Secret)); got.StatusCode != 401 {
		t.Errorf("a task by an operator key: %d", got.StatusCode)
	}
	for _, step := range []struct{ method, path, body string }{
		{http.MethodPost, api.PathAdminKeys, `{"name":"more","mode":"operator"}`},
		{http.MethodPost, api.PathAdminKeys + "/" + ops.ID + "/rotate", `{}`},
		{http.MethodPatch, api.PathAdminKeys + "/" + ops.ID, `{"expires_in_seconds":0}`},
		{http.MethodPost, api.PathAdminAccounts + "/default/links", `{"member":"eve","role":"operator"}`},
		{http.MethodPost, api.PathAdminAccounts + "/default/sessions/end", `{}`},
		{http.MethodPost, api.PathAdminAccounts + "/default/close", `{"name":"shop"}`},
		{http.MethodGet, api.PathAdminKeys + "?all=yes", ""},
		{http.MethodGet, api.PathAdminUsage + "?what=all", ""},
	} {
		if got := w.operate(ops.Secret, step.method, step.path, step.body); got.StatusCode != 400 {
			t.Errorf("%s %s: %d %s", step.method, step.path, got.StatusCode, got.body)
		}
	}
	if got := w.operate(ops.Secret, http.MethodPost, api.PathAdminAccounts, `{"name":"`+strings.Repeat("a", 1<<20)+`"}`); got.StatusCode != 413 {
		t.Errorf("too large: %d %s", got.StatusCode, got.body)
	}
	for _, path := range []string{
		api.PathMetrics, api.PathAdminSession, api.PathAdminBackup, api.PathAdminReload, api.PathAdminArrivals, "/debug/pprof/heap",
		api.PathAdminTasks + "/" + task.NewID(task.PrefixTask, time.Now()),
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if got := w.operate(ops.Secret, method, path, ""); got.StatusCode != 404 {
				t.Errorf("%s %s: %d", method, path, got.StatusCode)
			}
		}
	}
}

// TestOperatorAPIIsOff: without the setting the paths aren't there, whichever key asks.
func TestOperatorAPIIsOff(t *testing.T) {
	w := newWorld(t, options{})
	for _, key := range []string{w.operatorKey().Secret, w.live, ""} {
		if got := w.operate(key, http.MethodGet, api.PathAdminKeys, ""); got.StatusCode != 404 {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
	}
}

// TestOperatorKeysAreSlowed: an address that guesses operator keys waits for each further refusal.
func TestOperatorKeysAreSlowed(t *testing.T) {
	const free = 2
	now := time.Now()
	w := newWorld(t, options{operators: true, limits: server.Limits{RefusedKeys: free}, now: func() time.Time { return now }})
	for n := range free + 1 {
		start := time.Now()
		w.operate("svc_operator_wrong", http.MethodGet, api.PathAdminKeys, "")
		if took := time.Since(start); n >= free && took < time.Second {
			t.Errorf("refusal %d took %s", n, took)
		}
	}
}

// TestPlainOperator: an operator key that others could read on its way is refused in words, before it is looked at.
func TestPlainOperator(t *testing.T) {
	w := newWorld(t, options{operators: true})
	got := w.do(request{path: api.PathAdminKeys, key: w.operatorKey().Secret, header: map[string]string{"X-Forwarded-Proto": "https"}})
	if e := got.error(t); got.StatusCode != 400 || e.Error.Code != fault.InvalidRequest || !strings.Contains(e.Error.Message, "trusted_proxies") {
		t.Errorf("through a proxy that isn't trusted: %d %s", got.StatusCode, got.body)
	}

	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	xff := http.Header{"X-Forwarded-For": {"198.51.100.9"}}
	for _, tt := range []struct {
		peer   string
		header http.Header
		want   bool
	}{
		{"127.0.0.1", nil, true},
		{"::1", nil, true},
		{"127.0.0.1", xff, false},
		{"127.0.0.1", http.Header{"Forwarded": {"for=198.51.100.9;proto=https"}}, false},
		{"192.0.2.1", nil, false},
		{"192.0.2.1", http.Header{"X-Forwarded-Proto": {"https"}}, false},
		{"10.0.0.1", nil, false},
		{"10.0.0.1", xff, false},
		{"10.0.0.1", http.Header{"X-Forwarded-Proto": {"https"}}, true},
		{"10.0.0.1", http.Header{"X-Forwarded-Proto": {"HTTPS, https"}}, true},
		{"10.0.0.1", http.Header{"X-Forwarded-Proto": {"http"}}, false},
		{"10.0.0.1", http.Header{"X-Forwarded-Proto": {"https, http"}}, false},
		{"10.0.0.1", http.Header{"X-Forwarded-Proto": {"http", "https"}}, false},
		{"10.0.0.1", http.Header{"X-Forwarded-Proto": {""}}, false},
		{"10.0.0.1", http.Header{"Forwarded": {`for=198.51.100.9;proto="https"`}}, true},
		{"10.0.0.1", http.Header{"Forwarded": {"for=198.51.100.9;proto=https, for=10.0.0.2"}}, false},
		{"10.0.0.1", http.Header{"Forwarded": {"proto=https"}, "X-Forwarded-Proto": {"http"}}, false},
	} {
		if got := server.Private(trusted, netip.MustParseAddr(tt.peer), tt.header); got != tt.want {
			t.Errorf("%s with %v: %v", tt.peer, tt.header, got)
		}
	}
}
