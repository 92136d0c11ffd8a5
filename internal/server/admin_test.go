package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/secret"
	"unitask/internal/server"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// socket serves a world's operator on a Unix socket and returns a client of it.
func socket(t *testing.T, w *world) func(method, path, body string) response {
	t.Helper()
	path := filepath.Join(t.TempDir(), "admin.sock")
	ln := fixture.Must((&net.ListenConfig{}).Listen(t.Context(), "unix", path))(t)
	admin := server.NewAdmin(w.Operator, http.NotFoundHandler(), nil)
	served := make(chan error, 1)
	go func() { served <- admin.Serve(ln) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := admin.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	client := http.Client{Transport: transport}
	return func(method, path, body string) response {
		t.Helper()
		req := fixture.Must(http.NewRequestWithContext(t.Context(), method, "http://admin"+path, strings.NewReader(body)))(t)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		out := response{resp, fixture.Must(io.ReadAll(resp.Body))(t)}
		if !requestID.MatchString(resp.Header.Get(api.HeaderRequestID)) || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: header %v", method, path, resp.Header)
		}
		return out
	}
}

func TestAdminKeys(t *testing.T) {
	w := newWorld(t, options{})
	admin := socket(t, w)
	made := admin(http.MethodPost, api.PathAdminKeys,
		`{"name":"shop","account":"acme","mode":"test","scopes":["text.*"],"expires_in_seconds":3600,
		"creates_per_minute":60,"open_tasks":9,"budget":"5.50","budget_period":"day"}`)
	k := decode[api.Key](t, made)
	want := api.Key{Account: "acme", Name: "shop", Mode: task.Test, Scopes: []string{"text.*"}, Hint: k.Secret[len(k.Secret)-4:]}
	want.Limits = api.Limits{CreatesPerMinute: 60, OpenTasks: 9, Budget: "5.5", BudgetPeriod: "day"}
	if diff := cmp.Diff(want, k, cmpopts.IgnoreFields(api.Key{}, "ID", "Secret", "CreatedAt", "ExpiresAt", "RequestID")); made.StatusCode != 201 || diff != "" {
		t.Errorf("%d\n%s", made.StatusCode, diff)
	}
	list := decode[api.CapabilityList](t, w.do(request{path: api.PathCapabilities, key: k.Secret}))
	texts := 0
	for name := range fixture.Must(catalog.Default())(t).Names() {
		if strings.HasPrefix(string(name), "text.") {
			texts++
		}
	}
	if len(list.Data) != texts {
		t.Errorf("the scope lets %d capabilities through", len(list.Data))
	}
	keys := admin(http.MethodGet, api.PathAdminKeys, "")
	all := decode[api.KeyList](t, keys)
	if got := all.Data[len(all.Data)-1]; got.ID != k.ID || got.Account != "acme" || got.Limits != want.Limits || bytes.Contains(keys.body, []byte("svc_")) {
		t.Errorf("the list: %s", keys.body)
	}
	update := admin(http.MethodPatch, api.PathAdminKeys+"/"+k.ID, `{"name":"till","scopes":["text.chat"],"limits":{"open_tasks":2}}`)
	changed := decode[api.Key](t, update)
	want = api.Key{ID: k.ID, Account: "acme", Name: "till", Mode: task.Test, Scopes: []string{"text.chat"}, Hint: k.Hint, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt}
	want.Limits = api.Limits{CreatesPerMinute: 60, OpenTasks: 2, Budget: "5.5", BudgetPeriod: "day"}
	if diff := cmp.Diff(want, changed, cmpopts.IgnoreFields(api.Key{}, "LastUsedAt", "RequestID")); update.StatusCode != 200 || diff != "" {
		t.Errorf("update: %d\n%s", update.StatusCode, diff)
	}
	for path, body := range map[string]string{
		api.PathAdminKeys + "/" + k.ID: `{"limits":{"open_tasks":-1}}`, api.PathAdminKeys: `{"name":"x","mode":"test","creates_per_minute":-1}`,
	} {
		method := map[bool]string{true: http.MethodPost, false: http.MethodPatch}[path == api.PathAdminKeys]
		if got := admin(method, path, body); got.StatusCode != 400 || !bytes.Contains(got.body, []byte("must not be negative")) {
			t.Errorf("%s %s: %d %s", method, body, got.StatusCode, got.body)
		}
	}
	if list := decode[api.CapabilityList](t, w.do(request{path: api.PathCapabilities, key: k.Secret})); len(list.Data) != 1 {
		t.Errorf("the changed scope lets %d capabilities through", len(list.Data))
	}
	for range 2 {
		if got := admin(http.MethodPost, api.PathAdminKeys+"/"+k.ID+"/revoke", ""); got.StatusCode != 200 || decode[api.Key](t, got).RevokedAt == nil {
			t.Errorf("revoke: %d %s", got.StatusCode, got.body)
		}
	}
	if got := w.do(request{path: api.PathCapabilities, key: k.Secret}); got.StatusCode != 401 {
		t.Errorf("a revoked key: %d", got.StatusCode)
	}
	if got := admin(http.MethodPatch, api.PathAdminKeys+"/"+k.ID, `{"name":"again"}`); got.StatusCode != 400 {
		t.Errorf("a change of a revoked key: %d", got.StatusCode)
	}
	if got := admin(http.MethodPost, api.PathAdminKeys+"/key_x/revoke", ""); got.StatusCode != 404 {
		t.Errorf("an unknown key: %d", got.StatusCode)
	}
}

func TestAdminRefuses(t *testing.T) {
	admin := socket(t, newWorld(t, options{}))
	for body, field := range map[string]string{
		`{"name":"a","mode":"both"}`: "mode", `{"name":"a"}`: "mode", `{"mode":"test"}`: "name",
		`{"name":"a","mode":"test","scopes":["text"," "]}`: "scopes", `{"name":"a","mode":"test","scopes":[]}`: "scopes", `{"name":"a","mode":"test","expires_in_seconds":-1}`: "expires_in_seconds",
		`{"name":"a","mode":"test","expires_in_seconds":9000000000000000}`: "expires_in_seconds",
		`{"name":"a","mode":"live","budget":"1"}`:                          "budget", `{"name":"a","mode":"live","budget_period":"day"}`: "budget",
		`{"name":"a","mode":"live","budget":"0","budget_period":"day"}`: "budget", `{"name":"a","mode":"live","budget":"1","budget_period":"week"}`: "budget_period",
		`{"name":"a","mode":"test","rate":5}`: "", `{`: "", ``: "",
	} {
		got := admin(http.MethodPost, api.PathAdminKeys, body)
		e := got.error(t)
		if got.StatusCode != 400 || e.Error.Code != fault.InvalidRequest || (field != "" && e.Error.Details[0].Field != field) {
			t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
		}
	}
	for path, want := range map[string]int{api.PathAdminInfo: 405, "/admin/v1/nothing": 404, "/": 404} {
		if got := admin(http.MethodPost, path, ""); got.StatusCode != want {
			t.Errorf("POST %s: %d", path, got.StatusCode)
		}
	}
}

func TestAdminSessionAndInfo(t *testing.T) {
	w := newWorld(t, options{})
	w.Operator.Server = api.Info{Version: "v1", BaseURL: w.base, PID: 7}
	admin := socket(t, w)
	session := decode[api.Key](t, admin(http.MethodPost, api.PathAdminSession, ""))
	if session.Mode != task.Test || session.ExpiresAt == nil || time.Until(session.ExpiresAt.Time) > 20*time.Minute {
		t.Errorf("%+v", session)
	}
	if got := w.post("by a session", chat("hello"), by(session.Secret)); got.StatusCode != 200 {
		t.Errorf("a task by a session: %d", got.StatusCode)
	}
	for _, k := range fixture.Must(w.Operator.ListKeys(t.Context()))(t) {
		if k.ID == session.ID {
			t.Error("the session's key is kept")
		}
	}
	info := decode[api.Info](t, admin(http.MethodGet, api.PathAdminInfo, ""))
	if diff := cmp.Diff(w.Operator.Server, info, cmpopts.IgnoreFields(api.Info{}, "RequestID")); diff != "" {
		t.Error(diff)
	}
}

// TestAdminTask: the operator sees the supplier and the cost, never the content.
func TestAdminTask(t *testing.T) {
	w := newWorld(t, options{})
	admin := socket(t, w)
	id := w.post("an operator's view", chat("a private prompt"), by(w.live)).task(t).ID
	got := admin(http.MethodGet, api.PathAdminTasks+"/"+id, "")
	seen := decode[api.AdminTask](t, got)
	if len(seen.Attempts) != 1 || seen.Attempts[0].Supplier != upstreamName || seen.Attempts[0].State != task.OK || seen.State != task.Succeeded ||
		seen.Cost != "0.00000069" || seen.Account != "default" || len(seen.Timeline) != 4 {
		t.Errorf("%+v", seen)
	}
	for _, private := range []string{"private", "paid"} {
		if bytes.Contains(got.body, []byte(private)) {
			t.Errorf("%q is shown: %s", private, got.body)
		}
	}
	for _, unknown := range []string{"x", task.NewID(task.PrefixTask, time.Now())} {
		if got := admin(http.MethodGet, api.PathAdminTasks+"/"+unknown, ""); got.StatusCode != 404 {
			t.Errorf("%s: %d", unknown, got.StatusCode)
		}
	}
}

func TestBootstrap(t *testing.T) {
	w := newWorld(t, options{})
	full := account.NewKeySecret("svc", task.Test)
	for range 2 {
		if err := w.Operator.Bootstrap(t.Context(), secret.New(full)); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.do(request{path: api.PathCapabilities, key: full}); got.StatusCode != 200 {
		t.Errorf("the bootstrap key: %d", got.StatusCode)
	}
	err := w.Operator.Bootstrap(t.Context(), secret.New("svc_live_hello"))
	if fault.CodeOf(err) != fault.InvalidRequest || strings.Contains(err.Error(), "hello") {
		t.Errorf("a malformed one: %v", err)
	}
}

func decodeAny(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func codeNames() []string {
	var names []string
	for _, c := range fault.Codes() {
		names = append(names, string(c))
	}
	return names
}

// TestAdminProfiles: the socket gives Go's profiles of the process, and the API's listener doesn't.
func TestAdminProfiles(t *testing.T) {
	w := newWorld(t, options{})
	do := socket(t, w)
	for path, want := range map[string]int{
		"/debug/pprof/": http.StatusOK, "/debug/pprof/heap": http.StatusOK, "/debug/pprof/profile?seconds=1": http.StatusOK,
		"/debug/pprof/none": http.StatusNotFound,
	} {
		if got := do(http.MethodGet, path, ""); got.StatusCode != want || len(got.body) == 0 {
			t.Errorf("%s: %d with %d bytes, want %d", path, got.StatusCode, len(got.body), want)
		}
	}
	if got := w.do(request{path: "/debug/pprof/heap", key: w.live}); got.StatusCode != http.StatusNotFound {
		t.Errorf("the API's listener: %d", got.StatusCode)
	}
}

// TestAdminBackup: an archive comes as it is made; an error before it begins is an answer, and after that a broken
// connection.
func TestAdminBackup(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  string
		err    error
		status int
		code   fault.Code
	}{
		{"whole", "the archive", nil, http.StatusOK, ""},
		{"no room", "", store.ErrFull, http.StatusServiceUnavailable, fault.CapacityExhausted},
		{"a fault", "", io.ErrUnexpectedEOF, http.StatusInternalServerError, fault.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, options{})
			w.Operator.BackupFunc = func(_ context.Context, out io.Writer) error {
				if tt.err != nil {
					return tt.err
				}
				_, err := io.WriteString(out, tt.first)
				return err
			}
			got := socket(t, w)(http.MethodPost, api.PathAdminBackup, "")
			var body api.ErrorResponse
			if tt.code != "" {
				fixture.Must(0, json.Unmarshal(got.body, &body))(t)
			}
			if got.StatusCode != tt.status || body.Error.Code != tt.code || (tt.code == "" && string(got.body) != tt.first) {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		})
	}
	w := newWorld(t, options{})
	if got := socket(t, w)(http.MethodPost, api.PathAdminBackup, ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("without a server: %d", got.StatusCode)
	}
}
