package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestKeptInput: an account that keeps requests reads them by its keys, and no key of another account, mode or scope,
// no operator and no log has a part of them.
func TestKeptInput(t *testing.T) {
	w := newWorld(t, options{operators: true})
	const secret = "a plum-coloured secret"
	before := w.post("kept-before", chat(secret)).task(t)
	operators := w.operatorKey().Secret
	if got := w.operate(operators, http.MethodPatch, api.PathAdminAccounts+"/default", `{"keep_inputs_days":2}`); decode[api.Account](t, got).KeepInputsDays != 2 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	made := w.post("kept-after", `{"parameters":{"temperature":0},"input":{"prompt":"`+secret+`"},"capability":"text.chat"}`).task(t)
	path := api.PathTasks + "/" + made.ID + "/input"
	got := decode[api.TaskInput](t, w.do(request{path: path, key: w.test}))
	want := api.TaskInput{
		TaskID: made.ID, Capability: "text.chat", Input: []byte(`{"prompt":"` + secret + `"}`), Parameters: []byte(`{"temperature":0}`),
		KeptUntil: api.Timestamp{Time: made.CreatedAt.Add(48 * time.Hour)}, RequestID: got.RequestID,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e := w.do(request{path: strings.ReplaceAll(path, made.ID, before.ID), key: w.test}).error(t)
	if e.Error.Code != fault.NotFound || !strings.Contains(e.Error.Message, "isn't kept") {
		t.Errorf("an input from before: %+v", e.Error)
	}

	strangers := map[string]string{
		"another account": w.otherAccountsKey(), "another mode": w.live, "an operator": operators,
		"another scope": w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}}),
	}
	for name, key := range strangers {
		if r := w.do(request{path: path, key: key}); r.StatusCode != 404 && r.StatusCode != 401 || strings.Contains(string(r.body), secret) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	for _, at := range []string{"/accounts/default", "/accounts", "/requests?id=" + made.ID, "/usage", "/info"} {
		if r := w.operate(operators, http.MethodGet, "/admin/v1"+at, ""); strings.Contains(string(r.body), secret) {
			t.Errorf("an operator reads %s at %s", r.body, at)
		}
	}
	if strings.Contains(w.log.String(), "plum-coloured") {
		t.Error("the log has a part of it")
	}
	for _, days := range []string{"-1", "31", `"7d"`, "1.5"} {
		if r := w.operate(operators, http.MethodPatch, api.PathAdminAccounts+"/default", `{"keep_inputs_days":`+days+`}`); r.StatusCode != 400 {
			t.Errorf("%s days: %d %s", days, r.StatusCode, r.body)
		}
	}
	w.operate(operators, http.MethodPatch, api.PathAdminAccounts+"/default", `{"keep_inputs_days":0}`)
	if r := w.do(request{path: path, key: w.test}); r.StatusCode != 404 {
		t.Errorf("an account that keeps none: %d %s", r.StatusCode, r.body)
	}
}
