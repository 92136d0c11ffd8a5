package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// heard is a delivery as a receiver got it.
type heard struct {
	http.Header
	body []byte
}

// newReceiver returns the address of a receiver that answers with the status, and what it hears.
func newReceiver(t *testing.T, status int) (url string, all <-chan heard) {
	t.Helper()
	ch := make(chan heard, 64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		ch <- heard{r.Header.Clone(), body}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/hook", ch
}

func next[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case got := <-ch:
		return got
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came within 30 s")
		panic("unreachable")
	}
}

func (w *world) hooks(method, path, body string) response {
	w.t.Helper()
	r := request{method: method, path: api.PathWebhooks + path, key: w.test, body: body}
	if body != "" {
		r.header = map[string]string{"Content-Type": "application/json"}
	}
	return w.do(r)
}

// TestWebhook: an end is told to the address, signed, with the request that was accepted; the delivery is listed with
// its attempt and replayed; a rotated secret signs beside the old one.
func TestWebhook(t *testing.T) {
	w := newWorld(t, options{hooks: []string{"127.0.0.1"}})
	url, all := newReceiver(t, http.StatusNoContent)
	r := w.hooks(http.MethodPost, "", `{"url":"`+url+`","description":"tests"}`)
	if r.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	made := decode[api.Webhook](t, r)
	secret, err := webhook.ParseSecret(made.Secret)
	if err != nil {
		t.Fatal(err)
	}
	created := w.post("hook-key-1", `{"capability":"text.chat","input":{"prompt":"1+1"},"metadata":{"team":"a"}}`)
	got := next(t, all)
	if err := webhook.Verify(got.Header, time.Now(), got.body, secret); err != nil {
		t.Error(err)
	}
	var body struct {
		Type string
		Data struct {
			ID, Capability, State string
			RequestID             string `json:"request_id"`
			Metadata              map[string]string
		}
	}
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatal(err)
	}
	id := created.task(t).ID
	if body.Type != "task.succeeded" || body.Data.ID != id || body.Data.State != "succeeded" || body.Data.Metadata["team"] != "a" ||
		body.Data.RequestID != created.Header.Get(api.HeaderRequestID) || got.Get(webhook.HeaderID) != id+".0" {
		t.Errorf("%s with %v", got.body, got.Header)
	}
	one := "/" + made.ID
	list := w.delivered(one, id+".0")
	if len(list.Data) != 1 || len(list.Data[0].Attempts) != 1 || *list.Data[0].Attempts[0].Status != http.StatusNoContent {
		t.Errorf("%+v", list.Data)
	}
	rotated := decode[api.Webhook](t, w.hooks(http.MethodPost, one+"/rotate", `{}`))
	if r := w.hooks(http.MethodPost, one+"/rotate", `{}`); r.StatusCode != http.StatusConflict {
		t.Errorf("rotated while the old secret signs: %d %s", r.StatusCode, r.body)
	}
	if r := w.hooks(http.MethodPost, one+"/deliveries/"+id+".0/replay", ""); r.StatusCode != http.StatusNoContent {
		t.Fatalf("replay: %d %s", r.StatusCode, r.body)
	}
	again := next(t, all)
	for _, text := range []string{made.Secret, rotated.Secret} {
		s, _ := webhook.ParseSecret(text)
		if err := webhook.Verify(again.Header, time.Now(), again.body, s); err != nil || string(again.body) != string(got.body) {
			t.Errorf("%v: %s", err, again.body)
		}
	}
	trial := decode[api.WebhookTest](t, w.hooks(http.MethodPost, one+"/test", ""))
	if next(t, all); !trial.Delivered {
		t.Errorf("%+v", trial)
	}
	if log := w.log.String(); strings.Contains(log, made.Secret) || strings.Contains(log, rotated.Secret) {
		t.Error("a secret is in the log")
	}
}

// delivered waits until an event is delivered and returns the list.
func (w *world) delivered(one, event string) api.DeliveryList {
	w.t.Helper()
	for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		list := decode[api.DeliveryList](w.t, w.hooks(http.MethodGet, one+"/deliveries?state=delivered&limit=10", ""))
		if len(list.Data) > 0 && list.Data[0].ID == event {
			return list
		}
	}
	w.t.Fatalf("%s isn't delivered within 30 s", event)
	panic("unreachable")
}

// TestWebhookActions: what a webhook's paths answer, and that other keys find nothing there.
func TestWebhookActions(t *testing.T) {
	w := newWorld(t, options{hooks: []string{}})
	made := decode[api.Webhook](t, w.hooks(http.MethodPost, "", `{"url":"https://hooks.example.com/"}`))
	one := "/" + made.ID
	if r := w.hooks(http.MethodPatch, one, `{"capabilities":["text.caht"]}`); r.StatusCode != http.StatusBadRequest || !strings.Contains(string(r.body), "perhaps text.chat") {
		t.Errorf("a slip in a capability: %d %s", r.StatusCode, r.body)
	}
	chat := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"text.chat"}})
	scoped := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"text.chat", api.ScopeWebhooks}})
	for _, key := range []string{chat, scoped, w.live, w.otherAccountsKey()} {
		for _, r := range []request{{path: one}, {method: http.MethodDelete, path: one}, {path: one + "/deliveries"}, {path: one + "/events"}} {
			r.path, r.key = api.PathWebhooks+r.path, key
			if got := w.do(r); got.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s: %d %s", r.method, r.path, got.StatusCode, got.body)
			}
		}
	}
	alone := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{api.ScopeWebhooks}})
	if got := w.do(request{path: api.PathWebhooks + one, key: alone}); got.StatusCode != http.StatusOK {
		t.Errorf("a key of webhooks alone: %d %s", got.StatusCode, got.body)
	}
	if got := w.do(request{path: api.PathWebhooks, key: chat}); got.StatusCode != http.StatusNotFound {
		t.Errorf("without the scope: %d", got.StatusCode)
	}
	tests := []struct {
		method, path, body string
		status             int
	}{
		{http.MethodPost, "", `{"url":"https://127.0.0.1/"}`, 400},
		{http.MethodPost, "", `{"url":"https://example.com/","nonsense":1}`, 400},
		{http.MethodPost, "", `{"url":"https://example.com/","url":"https://example.org/"}`, 400},
		{http.MethodPost, "", `{"url":"https://example.com/"} {}`, 400},
		{http.MethodPost, "", `{"url":"https://example.com/"}]`, 400},
		{http.MethodPost, "", ``, 415},
		{http.MethodPut, "", `{}`, 405},
		{http.MethodGet, "?limit=1", ``, 400},
		{http.MethodGet, one + "/deliveries?state=done", ``, 400},
		{http.MethodGet, one + "/deliveries?limit=201", ``, 400},
		{http.MethodGet, one + "/events", ``, 400},
		{http.MethodPost, one + "/deliveries/task_06gztwr81bcb6csfsxswat9e1m.0/replay", ``, 404},
		{http.MethodPatch, one, `{"disabled":true,"states":["failed"]}`, 200},
		{http.MethodPatch, one, `{"states":["running"]}`, 400},
		{http.MethodPost, one + "/rotate", `{"keep_old_for_seconds":-1}`, 400},
		{http.MethodPost, one + "/rotate", `{"keep_old_for_seconds":0.5}`, 400},
		{http.MethodPost, one + "/rotate", ``, 200},
		{http.MethodGet, one, ``, 200},
		{http.MethodDelete, one, ``, 204},
		{http.MethodGet, one, ``, 404},
	}
	for _, tt := range tests {
		if got := w.hooks(tt.method, tt.path, tt.body); got.StatusCode != tt.status {
			t.Errorf("%s %s %s: %d %s, want %d", tt.method, tt.path, tt.body, got.StatusCode, got.body, tt.status)
		}
	}
	for body, want := range map[string]string{
		`{}`: "url is required", `{"url":5}`: "url must be a string", `{"listener":1}`: "listener must be true or false",
		`{"URL":"https://example.com/"}`: "URL is not a known member", `{"states":"failed"}`: "states must be a list",
		`{"states":["failed",1]}`: "states.1 must be a string", `{"url":"a","url":"b"}`: "url is given twice",
		`[]`: "body must be one JSON object", ` null`: "body must be one JSON object", `{} {}`: "body must be one JSON object",
		`{"url":"\ud800"}`: "body must be one JSON object", `{"a\u0000b":1}`: `"a\x00b" is not a known member`,
	} {
		got := w.hooks(http.MethodPost, "", body)
		if e := got.error(t).Error; got.StatusCode != http.StatusBadRequest || e.Message != want || len(e.Details) != 1 {
			t.Errorf("%s: %d %s, want %s", body, got.StatusCode, got.body, want)
		}
	}
	if got := w.hooks(http.MethodPost, "", `{"url":"`+strings.Repeat("a", 1<<20)+`"}`); got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d %s", got.StatusCode, got.body)
	}
	if account.Allows([]string{api.ScopeWebhooks}, "text.chat") {
		t.Error("the scope opens a capability")
	}
}

// TestListener: a listener's stream has the end of a task; without an outcome it comes again, in another stream too.
func TestListener(t *testing.T) {
	w := newWorld(t, options{hooks: []string{}})
	made := decode[api.Webhook](t, w.hooks(http.MethodPost, "", `{"listener":true,"states":["succeeded"]}`))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+api.PathWebhooks+"/"+made.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.test)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	w.post("listen-key-1", `{"capability":"text.chat","input":{"prompt":"1+1"}}`)
	var e api.WebhookEvent
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if !strings.HasSuffix(e.ID, ".0") || !strings.Contains(string(e.Body), "task.succeeded") {
		t.Fatalf("%+v", e)
	}
	path := "/" + made.ID + "/deliveries/" + e.ID + "/outcome"
	if r := w.hooks(http.MethodPost, path, `{"claim":"`+e.Claim+`","status":200}`); r.StatusCode != http.StatusNoContent {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := w.hooks(http.MethodPost, path, `{"claim":"`+e.Claim+`","status":200}`); r.StatusCode != http.StatusBadRequest {
		t.Errorf("again: %d %s", r.StatusCode, r.body)
	}
	w.delivered("/"+made.ID, e.ID)
}

// TestListenerOfARevokedKey: the stream of a key that was revoked tells of no further end, and HEAD takes none.
func TestListenerOfARevokedKey(t *testing.T) {
	w := newWorld(t, options{hooks: []string{}})
	made := decode[api.Webhook](t, w.hooks(http.MethodPost, "", `{"listener":true}`))
	caller, err := w.Gate.Authenticate(t.Context(), "Bearer "+w.test)
	if err != nil {
		t.Fatal(err)
	}
	key, err := w.Operator.CreateKey(t.Context(), api.KeyCreate{Name: "leaked", Mode: task.Test, Account: caller.Account.ID})
	if err != nil {
		t.Fatal(err)
	}
	path := w.base + api.PathWebhooks + "/" + made.ID + "/events"
	open := func(method string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key.Secret)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", method, resp, err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	head := open(http.MethodHead) //nolint:bodyclose // a cleanup closes it
	if body, err := io.ReadAll(head.Body); err != nil || len(body) > 0 {
		t.Errorf("HEAD: %q, %v", body, err)
	}
	stream := open(http.MethodGet) //nolint:bodyclose // a cleanup closes it
	if _, err := w.Operator.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	w.post("listen-key-2", `{"capability":"text.chat","input":{"prompt":"1+1"}}`)
	if told, err := io.ReadAll(stream.Body); err != nil || strings.Contains(string(told), "data:") {
		t.Errorf("the stream: %q, %v", told, err)
	}
}
