package server_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/door/anthropic"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/supplier/openapicheck"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// publishedByAnthropic is Anthropic's document.
var publishedByAnthropic = sync.OnceValues(func() (*openapicheck.Document, error) {
	return openapicheck.Load("../supplier/anthropic/testdata/openapi.json")
})

// ofAnthropic judges an answer at Anthropic's door: the headers, the shape of an error, and Anthropic's document.
func ofAnthropic(req *http.Request, resp *http.Response, body []byte) []string {
	var problems []string
	id := resp.Header.Get(api.HeaderRequestID)
	if !requestID.MatchString(id) || resp.Header.Get(anthropic.HeaderRequestID) != id || resp.Header.Get("Cache-Control") != "no-store" {
		problems = append(problems, "no request id in both headers, or no Cache-Control")
	}
	if resp.StatusCode >= http.StatusBadRequest {
		var e anthropic.ErrorResponse
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil || e.Type != "error" || e.RequestID != id || e.Error.Message == "" || !e.Error.ServiceCode.Valid() {
			problems = append(problems, "not an error of Anthropic's shape")
		}
		if retry := resp.Header.Get(openai.HeaderShouldRetry); retry != "true" && retry != "false" {
			problems = append(problems, "doesn't say whether to retry: "+retry)
		}
		return problems
	}
	path := req.URL.Path
	if req.Method == http.MethodHead || path == anthropic.PathCount || strings.HasPrefix(path, anthropic.PathModels+"/") || bytes.Contains(body, []byte("event: error")) {
		return problems // the document has no such answer
	}
	d, err := publishedByAnthropic()
	if err == nil {
		err = d.Answer(req.Method+" "+strings.TrimPrefix(path, "/anthropic"), resp.StatusCode, resp.Header.Get("Content-Type"), body)
	}
	if err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

// asked is the request of a message with a prompt and other members.
func asked(prompt string, more ...string) string {
	return `{"model":"text.chat","max_tokens":100,"messages":[{"role":"user","content":"` + prompt + `"}]` +
		strings.Join(append([]string{""}, more...), ",") + `}`
}

// atAnthropic sends a request with the key in Anthropic's header.
func (w *world) atAnthropic(path, key, body string, header ...string) response {
	w.t.Helper()
	r := request{path: path, header: map[string]string{"Anthropic-Version": anthropic.Versions()[0]}}
	if key != "" {
		r.header["X-Api-Key"] = key
	}
	if body != "" {
		r.method, r.body, r.header["Content-Type"] = http.MethodPost, body, "application/json"
	}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	return w.do(r)
}

// TestAnthropic calls the paths of the door; each message is a task of the caller's account, as one that the API made.
func TestAnthropic(t *testing.T) {
	w := newWorld(t, options{anthropic: true})
	models := decode[anthropic.Models](t, w.atAnthropic(anthropic.PathModels, w.test, ""))
	if len(models.Data) != 1 || models.Data[0].ID != "text.chat" || *models.LastID != "text.chat" {
		t.Errorf("the models are %+v", models)
	}
	if one := decode[anthropic.Model](t, w.atAnthropic(anthropic.PathModels+"/text.chat", w.test, "")); one != models.Data[0] {
		t.Errorf("the model is %+v", one)
	}
	r := w.atAnthropic(anthropic.PathMessages+"?beta=true", w.live, asked("hello"), "Anthropic-Beta", "claude-code-20250219, pdfs-2024-09-25")
	var m struct {
		ID      string
		Content []struct{ Text string }
		Stop    string `json:"stop_reason"`
	}
	if err := json.Unmarshal(r.body, &m); err != nil || len(m.Content) != 1 || m.Content[0].Text != "paid" || m.Stop != "end_turn" {
		t.Fatalf("answered %s: %s", r.Status, r.body)
	}
	made := w.do(request{path: api.PathTasks + "/" + m.ID, key: w.live}).task(t)
	if made.State != task.Succeeded || r.Header.Get(openai.HeaderTaskID) != m.ID {
		t.Errorf("the task is %+v", made)
	}
	if r := w.atAnthropic(anthropic.PathMessages, w.test, asked("repeat a b", `"stream":true`)); !bytes.Contains(r.body, []byte("message_stop")) {
		t.Errorf("streamed %s: %s", r.Status, r.body)
	}
	if r := w.do(request{path: anthropic.PathModels, key: w.test}); r.StatusCode != http.StatusOK {
		t.Errorf("by Authorization: %s", r.Status)
	}
	if r := w.atAnthropic(anthropic.PathModels, w.test, "", "Authorization", ""); r.StatusCode != http.StatusOK {
		t.Errorf("beside an empty Authorization: %s", r.Status)
	}

	tasks := len(decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: w.test})).Data)
	n := decode[anthropic.TokenCount](t, w.atAnthropic(anthropic.PathCount, w.test, strings.Replace(asked("hello"), `"max_tokens":100,`, "", 1)))
	if n.InputTokens < 5 {
		t.Errorf("counted %+v", n)
	}
	if now := len(decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: w.test})).Data); now != tasks {
		t.Errorf("a count made a task: %d, before %d", now, tasks)
	}
}

// TestAnthropicRefuses has errors in Anthropic's shape, with the statuses of the API.
func TestAnthropicRefuses(t *testing.T) {
	w := newWorld(t, options{anthropic: true})
	for _, tt := range []struct {
		name, path, key, body string
		header                []string
		status                int
		kind                  string
		own                   fault.Code
		param                 string
	}{
		{"no key", anthropic.PathModels, "", "", nil, 401, "authentication_error", fault.Unauthenticated, ""},
		{"another key", anthropic.PathModels, "unitask_nokey", "", nil, 401, "authentication_error", fault.Unauthenticated, ""},
		{"an unknown path without a key", anthropic.Root + "v1/files", "", "", nil, 401, "authentication_error", fault.Unauthenticated, ""},
		{"an unknown path", anthropic.Root + "v1/files", w.test, "", nil, 404, "not_found_error", fault.NotFound, ""},
		{"another method", anthropic.PathMessages, w.test, "", nil, 405, "invalid_request_error", fault.InvalidRequest, ""},
		{"an unknown model", anthropic.PathMessages, w.test, strings.Replace(asked("a"), "text.chat", "claude-5", 1), nil, 404, "not_found_error", fault.NotFound, "model"},
		{"one to count for", anthropic.PathCount, w.test, `{"model":"text.embed","messages":[{"role":"user","content":"a"}]}`, nil, 404, "not_found_error", fault.NotFound, "model"},
		{"a member", anthropic.PathMessages, w.test, asked("a", `"top_k":2`), nil, 400, "invalid_request_error", fault.InvalidRequest, "top_k"},
		{"a value", anthropic.PathMessages, w.test, asked("a", `"temperature":9`), nil, 400, "invalid_request_error", fault.InvalidRequest, "temperature"},
		{"another version", anthropic.PathMessages, w.test, asked("a"), []string{"Anthropic-Version", "2030-01-01"}, 400, "invalid_request_error", fault.InvalidRequest, "anthropic-version"},
		{"another beta", anthropic.PathMessages, w.test, asked("a"), []string{"Anthropic-Beta", "telepathy"}, 400, "invalid_request_error", fault.InvalidRequest, "anthropic-beta"},
		{"content", anthropic.PathMessages, w.test, asked("@fail:CONTENT_POLICY_VIOLATION"), nil, 422, "invalid_request_error", fault.ContentPolicyViolation, ""},
	} {
		r := w.atAnthropic(tt.path, tt.key, tt.body, tt.header...)
		e := decode[anthropic.ErrorResponse](t, r).Error
		if r.StatusCode != tt.status || e.Type != tt.kind || e.ServiceCode != tt.own || e.Param != tt.param || r.Header.Get(openai.HeaderShouldRetry) != "false" {
			t.Errorf("%s: %s %+v", tt.name, r.Status, e)
		}
	}
}

// TestAnthropicRetry has a retry without an Idempotency-Key join the call whose end failed, and one by key replayed.
func TestAnthropicRetry(t *testing.T) {
	w := newWorld(t, options{anthropic: true})
	first := w.atAnthropic(anthropic.PathMessages, w.test, asked("@fail:PROVIDER_UNAVAILABLE"), openai.HeaderRetryCount, "0")
	again := w.atAnthropic(anthropic.PathMessages, w.test, asked("@fail:PROVIDER_UNAVAILABLE"), openai.HeaderRetryCount, "1")
	if id := first.Header.Get(openai.HeaderTaskID); id == "" || again.Header.Get(openai.HeaderTaskID) != id {
		t.Errorf("the task %q, retried as %q", id, again.Header.Get(openai.HeaderTaskID))
	}
	const key = "order-00001"
	first = w.atAnthropic(anthropic.PathMessages, w.test, asked("hello"), api.HeaderIdempotencyKey, key)
	again = w.atAnthropic(anthropic.PathMessages, w.test, asked("hello"), api.HeaderIdempotencyKey, key)
	if !bytes.Equal(first.body, again.body) || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("by its key: %s, then %s", first.body, again.body)
	}
	if r := w.atAnthropic(anthropic.PathMessages, w.test, asked("other"), api.HeaderIdempotencyKey, key); r.StatusCode != http.StatusConflict || r.Header.Get(openai.HeaderShouldRetry) != "false" {
		t.Errorf("a conflict: %s", r.Status)
	}
}

// TestAnthropicPages pages through the models, forth and back.
func TestAnthropicPages(t *testing.T) {
	w := newWorld(t, options{anthropic: true, models: map[catalog.Name][]string{"text.chat": {"a", "b", "c"}}})
	for _, tt := range []struct {
		query string
		ids   string
		more  bool
	}{
		{"", "text.chat a b c", false},
		{"?limit=3&beta=true", "text.chat a b", true},
		{"?limit=2&after_id=a", "b c", false},
		{"?limit=1&after_id=a", "b", true},
		{"?after_id=c", "", false},
		{"?limit=1&before_id=b", "a", true},
		{"?limit=2&before_id=b", "text.chat a", false},
		{"?before_id=text.chat", "", false},
	} {
		page := decode[anthropic.Models](t, w.atAnthropic(anthropic.PathModels+tt.query, w.test, ""))
		var ids []string
		for _, m := range page.Data {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != tt.ids || page.HasMore != tt.more {
			t.Errorf("%s: %q, more %t", tt.query, got, page.HasMore)
		}
		if len(ids) == 0 && (page.FirstID != nil || page.LastID != nil) || len(ids) > 0 && (*page.FirstID != ids[0] || *page.LastID != ids[len(ids)-1]) {
			t.Errorf("%s: from %v to %v", tt.query, page.FirstID, page.LastID)
		}
	}
	for query, param := range map[string]string{
		"?limit=0": "limit", "?limit=1001": "limit", "?limit=x": "limit", "?after_id=z": "after_id", "?before_id=z": "before_id", "?after_id=a&before_id=c": "before_id",
	} {
		r := w.atAnthropic(anthropic.PathModels+query, w.test, "")
		if e := decode[anthropic.ErrorResponse](t, r).Error; r.StatusCode != http.StatusBadRequest || e.Param != param {
			t.Errorf("%s: %s %+v", query, r.Status, e)
		}
	}
}

// TestAnthropicVersions takes the versions that are known, and none.
func TestAnthropicVersions(t *testing.T) {
	w := newWorld(t, options{anthropic: true})
	for _, version := range []string{"2023-06-01", "2026-10-21", ""} {
		if r := w.atAnthropic(anthropic.PathModels, w.test, "", "Anthropic-Version", version); r.StatusCode != http.StatusOK {
			t.Errorf("version %q: %s", version, r.Status)
		}
	}
	for _, path := range []string{anthropic.PathModels, anthropic.PathModels + "/text.chat"} {
		r := w.do(request{method: http.MethodHead, path: path, header: map[string]string{"X-Api-Key": w.test}})
		if r.StatusCode != http.StatusOK || len(r.body) > 0 || r.Header.Get(anthropic.HeaderRequestID) == "" {
			t.Errorf("HEAD %s: %s %q", path, r.Status, r.body)
		}
	}
}

func TestAnthropicIsOff(t *testing.T) {
	w := newWorld(t, options{openAI: true})
	for _, path := range []string{anthropic.PathModels, anthropic.PathMessages, anthropic.Root} {
		if r := w.do(request{path: path, key: w.test}); r.StatusCode != http.StatusNotFound || !strings.Contains(string(r.body), "doors: [anthropic]") {
			t.Errorf("%s: %s %s", path, r.Status, r.body)
		}
	}
	if r := w.do(request{path: openai.PathModels, header: map[string]string{"X-Api-Key": w.test}}); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("the header at another door: %s", r.Status)
	}
}

// TestAnthropicKeyStaysSecret finds the keys of x-api-key in no line of the log, at its finest level, and in no answer.
func TestAnthropicKeyStaysSecret(t *testing.T) {
	log := &fixture.Log{}
	w := newWorld(t, options{anthropic: true, logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	const wrong = "svc_test_0123456789abcdefghijklmnopqrstuvwxyz"
	var said strings.Builder
	for _, r := range []response{
		w.atAnthropic(anthropic.PathModels, w.test, ""),
		w.atAnthropic(anthropic.PathMessages, w.live, asked("hello")),
		w.atAnthropic(anthropic.PathMessages, w.test, asked("@fail:PROVIDER_UNAVAILABLE", `"stream":true`)),
		w.atAnthropic(anthropic.PathMessages, w.test, `{"model":`),
		w.atAnthropic(anthropic.PathModels, wrong, ""),
		w.atAnthropic(anthropic.PathModels, wrong, "", "Authorization", "Bearer "+w.test),
		w.atAnthropic(anthropic.Root+"v1/files", w.test, ""),
	} {
		said.Write(r.body)
		for name, values := range r.Header {
			said.WriteString(name + strings.Join(values, " "))
		}
	}
	if !strings.Contains(log.String(), anthropic.PathMessages) {
		t.Fatalf("the log tells nothing of the requests: %s", log)
	}
	for _, key := range []string{w.test, w.live, wrong} {
		if strings.Contains(log.String(), key) || strings.Contains(said.String(), key) {
			t.Errorf("%s… is in the log or an answer", key[:12])
		}
	}
}
