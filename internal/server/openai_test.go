package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/supplier/openapicheck"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// published is OpenAI's document.
var published = sync.OnceValues(func() (*openapicheck.Document, error) {
	return openapicheck.Load("../supplier/openai/testdata/openapi.json")
})

// ofOpenAI judges an answer at OpenAI's door: the headers, the shape of an error, and OpenAI's document.
func ofOpenAI(req *http.Request, resp *http.Response, body []byte) []string {
	var problems []string
	id := resp.Header.Get(api.HeaderRequestID)
	if !requestID.MatchString(id) || resp.Header.Get("Cache-Control") != "no-store" {
		problems = append(problems, "no request id in the header, or no Cache-Control")
	}
	if resp.StatusCode >= http.StatusBadRequest {
		var e openai.ErrorResponse
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil || e.RequestID != id || e.Error.Message == "" || e.Error.Type == "" || !e.Error.ServiceCode.Valid() {
			problems = append(problems, "not an error of OpenAI's shape")
		}
		if retry := resp.Header.Get(openai.HeaderShouldRetry); retry != "true" && retry != "false" {
			problems = append(problems, "doesn't say whether to retry: "+retry)
		}
		return problems
	}
	d, err := published()
	name := req.Method + strings.Replace(req.URL.Path, openai.Root+"v1", " ", 1)
	name = strings.Replace(name, "  ", " ", 1)
	other := strings.HasPrefix(name, "GET /models/") // than published, as docs/doors.md says
	if strings.Contains(name, " /responses/") {
		name = "POST /responses" // whose answers are alike
	}
	for _, mark := range []string{`"error":{`, `"embedding":"`, `"violence/graphic":null`, `"segments":[`, `"words":[`} {
		other = other || bytes.Contains(body, []byte(mark))
	}
	if err == nil && !other {
		err = d.Answer(name, resp.StatusCode, resp.Header.Get("Content-Type"), body)
	}
	if err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

// completion is the request of a chat completion with a prompt and other members.
func completion(prompt string, more ...string) string {
	return `{"model":"text.chat","messages":[{"role":"user","content":"` + prompt + `"}]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// openAIWorld is a world with OpenAI's door open.
func openAIWorld(t *testing.T) *world { return newWorld(t, options{openAI: true}) }

func (w *world) complete(key, body string, header ...string) response {
	w.t.Helper()
	r := request{method: http.MethodPost, path: openai.PathChat, key: key, body: body, header: map[string]string{"Content-Type": "application/json"}}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	return w.do(r)
}

func (r response) openAIError(t testing.TB) openai.Error {
	t.Helper()
	return decode[openai.ErrorResponse](t, r).Error
}

// answered is what a test reads of a completion.
type answered struct {
	ID      string
	Model   string
	Choices []struct {
		Message struct{ Content string }
		Finish  string `json:"finish_reason"`
	}
	Usage struct {
		Total int `json:"total_tokens"`
	}
}

func completionOf(t testing.TB, r response) answered {
	t.Helper()
	var a answered
	if err := json.Unmarshal(r.body, &a); err != nil || r.StatusCode != http.StatusOK || len(a.Choices) != 1 {
		t.Fatalf("%s: %v\n%s", r.Status, err, r.body)
	}
	return a
}

// TestOpenAI calls the paths of the door; each call is a task of the caller's account, as one that the API made.
func TestOpenAI(t *testing.T) {
	w := openAIWorld(t)
	models := decode[openai.Models](t, w.do(request{path: openai.PathModels, key: w.test}))
	if len(models.Data) != 7 || models.Data[4].ID != "text.chat" || models.Data[5].ID != "text.embed" {
		t.Errorf("the models are %+v", models)
	}
	if one := decode[openai.Model](t, w.do(request{path: openai.PathModels + "/text.chat", key: w.test})); one != models.Data[4] {
		t.Errorf("the model is %+v", one)
	}
	if live := decode[openai.Models](t, w.do(request{path: openai.PathModels, key: w.live})); len(live.Data) != 2 {
		t.Errorf("a live key sees %+v", live)
	}

	r := w.complete(w.live, completion("hello", `"max_tokens":20`))
	a := completionOf(t, r)
	if a.Choices[0].Message.Content != "paid" || a.Choices[0].Finish != "stop" || a.Usage.Total != 12 || a.Model != "text.chat" {
		t.Errorf("answered %s", r.body)
	}
	if r.Header.Get(openai.HeaderTaskID) != a.ID {
		t.Errorf("the task is %s, the answer's id %s", r.Header.Get(openai.HeaderTaskID), a.ID)
	}
	made := w.do(request{path: api.PathTasks + "/" + a.ID, key: w.live}).task(t)
	if made.State != task.Succeeded || made.Capability != "text.chat" {
		t.Errorf("the task is %+v", made)
	}

	r = w.do(request{
		method: http.MethodPost, path: openai.PathEmbeddings, key: w.test, header: map[string]string{"Content-Type": "application/json"},
		body: `{"model":"text.embed","input":["a","b"],"encoding_format":"base64"}`,
	})
	if r.StatusCode != http.StatusOK || strings.Count(string(r.body), `"embedding":"`) != 2 || r.Header.Get(openai.HeaderTaskID) == "" {
		t.Errorf("embeddings: %s\n%s", r.Status, r.body)
	}
}

// TestOpenAIRefuses has errors in OpenAI's shape, with the statuses of the API.
func TestOpenAIRefuses(t *testing.T) {
	w := openAIWorld(t)
	json := map[string]string{"Content-Type": "application/json"}
	images := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}})
	for _, tt := range []struct {
		name   string
		r      request
		status int
		code   string // OpenAI's
		own    fault.Code
		param  string
	}{
		{"no key", request{path: openai.PathModels}, 401, "invalid_api_key", fault.Unauthenticated, ""},
		{"an unknown path without a key", request{path: openai.Root + "v1/secrets"}, 401, "invalid_api_key", fault.Unauthenticated, ""},
		{"an unknown path", request{path: openai.Root + "v1/files", key: w.test}, 404, "unknown_url", fault.NotFound, ""},
		{"a path that isn't clean", request{path: openai.Root + "v1//models", key: w.test}, 404, "unknown_url", fault.NotFound, ""},
		{"plain completions", request{method: "POST", path: openai.Root + "v1/completions", key: w.test, body: "{}", header: json}, 404, "unknown_url", fault.NotFound, ""},
		{"another method", request{path: openai.PathChat, key: w.test}, 405, "", fault.InvalidRequest, ""},
		{"an unknown model", request{method: "POST", path: openai.PathChat, key: w.test, body: strings.Replace(completion("a"), "text.chat", "gpt-5", 1), header: json}, 404, "model_not_found", fault.NotFound, "model"},
		{"a model of another kind", request{method: "POST", path: openai.PathChat, key: w.test, body: strings.Replace(completion("a"), "text.chat", "text.embed", 1), header: json}, 404, "model_not_found", fault.NotFound, "model"},
		{"a model that isn't served", request{method: "POST", path: openai.PathEmbeddings, key: w.live, body: `{"model":"text.embed","input":"a"}`, header: json}, 404, "model_not_found", fault.NotFound, "model"},
		{"a model out of scope", request{method: "POST", path: openai.PathChat, key: images, body: completion("a"), header: json}, 404, "model_not_found", fault.NotFound, "model"},
		{"one out of scope", request{path: openai.PathModels + "/text.chat", key: images}, 404, "model_not_found", fault.NotFound, "model"},
		{"a member", request{method: "POST", path: openai.PathChat, key: w.test, body: completion("a", `"n":2`), header: json}, 400, "", fault.InvalidRequest, "n"},
		{"a value", request{method: "POST", path: openai.PathChat, key: w.test, body: completion("a", `"max_tokens":0`), header: json}, 400, "", fault.InvalidRequest, "max_tokens"},
		{"a form", request{method: "POST", path: openai.PathChat, key: w.test, body: "a=b", header: map[string]string{"Content-Type": "text/plain"}}, 415, "", fault.InvalidRequest, "Content-Type"},
		{"content", request{method: "POST", path: openai.PathChat, key: w.test, body: completion("@fail:CONTENT_POLICY_VIOLATION"), header: json}, 422, "content_policy_violation", fault.ContentPolicyViolation, ""},
		{"an outage", request{method: "POST", path: openai.PathChat, key: w.live, body: completion("refuse"), header: json}, 502, "", fault.ProviderUnavailable, ""},
		{"an outage before a stream", request{method: "POST", path: openai.PathChat, key: w.live, body: completion("refuse", `"stream":true`), header: json}, 502, "", fault.ProviderUnavailable, ""},
	} {
		r := w.do(tt.r)
		e := r.openAIError(t)
		var code, param string
		if e.Code != nil {
			code = *e.Code
		}
		if e.Param != nil {
			param = *e.Param
		}
		if r.StatusCode != tt.status || code != tt.code || e.ServiceCode != tt.own || param != tt.param {
			t.Errorf("%s: %s\n%s", tt.name, r.Status, r.body)
		}
		if retry := r.Header.Get(openai.HeaderShouldRetry); (retry == "true") != tt.own.Retryable() {
			t.Errorf("%s: retry %s", tt.name, retry)
		}
	}
}

// TestOpenAIIsOff: a closed door says in OpenAI's shape, to anybody, which setting opens it.
func TestOpenAIIsOff(t *testing.T) {
	w := newWorld(t, options{})
	for _, path := range []string{openai.PathModels, openai.PathChat, openai.Root} {
		for _, key := range []string{w.test, ""} {
			if r := w.do(request{path: path, key: key}); r.StatusCode != http.StatusNotFound || !strings.Contains(string(r.body), "doors: [openai]") {
				t.Errorf("%s: %s %s", path, r.Status, r.body)
			}
		}
	}
}

// TestOpenAIIdempotency honours a key that was sent, over both ways to the same task.
func TestOpenAIIdempotency(t *testing.T) {
	w := openAIWorld(t)
	first := completionOf(t, w.complete(w.live, completion("hello"), api.HeaderIdempotencyKey, "openai-0001"))
	again := w.complete(w.live, completion("hello"), api.HeaderIdempotencyKey, "openai-0001")
	if completionOf(t, again).ID != first.ID || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("a replay: %s", again.body)
	}
	other := w.complete(w.live, completion("good bye"), api.HeaderIdempotencyKey, "openai-0001")
	if other.StatusCode != http.StatusConflict || other.Header.Get(openai.HeaderShouldRetry) != "false" || other.Header.Get(openai.HeaderTaskID) != first.ID {
		t.Errorf("another request: %s, retry %q\n%s", other.Status, other.Header.Get(openai.HeaderShouldRetry), other.body)
	}
	if short := w.complete(w.live, completion("hello"), api.HeaderIdempotencyKey, "short"); short.StatusCode != http.StatusBadRequest {
		t.Errorf("a short key: %s", short.Status)
	}
	one, two := completionOf(t, w.complete(w.live, completion("hello"))), completionOf(t, w.complete(w.live, completion("hello")))
	if one.ID == two.ID || one.ID == first.ID {
		t.Error("calls without a key are one task")
	}
}

// ids returns the ids of the key's tasks, newest first.
func (w *world) ids(key string) (ids []string) {
	w.t.Helper()
	for _, one := range decode[api.TaskList](w.t, w.do(request{path: api.PathTasks, key: key})).Data {
		ids = append(ids, one.ID)
	}
	return ids
}

// hangUp sends the key's first request and leaves once its task is there, before the answer.
func (w *world) hangUp(path, key, body string) {
	w.t.Helper()
	ctx, leave := context.WithCancel(w.t.Context())
	defer leave()
	req := fixture.Must(http.NewRequestWithContext(ctx, http.MethodPost, w.base+path, strings.NewReader(body)))(w.t)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	left := make(chan error, 1)
	go func() {
		resp, err := w.client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		left <- err
	}()
	w.until("the task is there", func() bool { return len(w.ids(key)) > 0 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		w.t.Errorf("hung up: %v", err)
	}
}

// TestOpenAIRetry has a client hang up and retry as OpenAI's libraries do, without an Idempotency-Key: it gets the
// answer of the task that it left. A call that says it is no retry is a task of its own.
func TestOpenAIRetry(t *testing.T) {
	w := openAIWorld(t)
	slow := completion("@slow:1s hello")
	w.hangUp(openai.PathChat, w.test, slow)
	again := w.complete(w.test, slow, openai.HeaderRetryCount, "1")
	a := completionOf(t, again)
	if diff := cmp.Diff([]string{a.ID}, w.ids(w.test)); diff != "" || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("after a retry (-want +got):\n%s", diff)
	}
	for name, r := range map[string]response{
		"once more":    w.complete(w.test, slow, openai.HeaderRetryCount, "2"), // that one's answer was delivered
		"no retry":     w.complete(w.test, slow, openai.HeaderRetryCount, "0"),
		"another body": w.complete(w.test, slow+" ", openai.HeaderRetryCount, "1"),
	} {
		if completionOf(t, r).ID == a.ID {
			t.Errorf("%s: the same task", name)
		}
	}
}

// TestOpenAIRetryOfAStream has a client of a stream hang up: its retry follows the same task.
func TestOpenAIRetryOfAStream(t *testing.T) {
	w := openAIWorld(t)
	slow := completion("@slow:1s say hello", `"stream":true`)
	w.hangUp(openai.PathChat, w.test, slow)
	again := w.complete(w.test, slow, openai.HeaderRetryCount, "1")
	if all := chunks(t, again); all[len(all)-1] != "[DONE]" || !strings.Contains(strings.Join(all, ""), "hello") {
		t.Errorf("the retry's stream is %q", all)
	}
	if diff := cmp.Diff([]string{again.Header.Get(openai.HeaderTaskID)}, w.ids(w.test)); diff != "" {
		t.Errorf("after a retry (-want +got):\n%s", diff)
	}
	if next := w.complete(w.test, slow, openai.HeaderRetryCount, "2"); next.Header.Get(openai.HeaderTaskID) == again.Header.Get(openai.HeaderTaskID) {
		t.Error("a stream that was delivered is joined")
	}
}

// TestOpenAIRetryOfAFailure reopens the task whose failure a retry mends, as one with an Idempotency-Key would.
func TestOpenAIRetryOfAFailure(t *testing.T) {
	w := openAIWorld(t)
	first := w.complete(w.live, completion("refuse"), openai.HeaderRetryCount, "0")
	again := w.complete(w.live, completion("refuse"), openai.HeaderRetryCount, "1")
	if id := first.Header.Get(openai.HeaderTaskID); first.StatusCode != 502 || id == "" || again.Header.Get(openai.HeaderTaskID) != id {
		t.Errorf("%s of %q, then %s of %q", first.Status, id, again.Status, again.Header.Get(openai.HeaderTaskID))
	}
	if n := len(w.ids(w.live)); n != 1 {
		t.Errorf("there are %d tasks", n)
	}
}

// chunks returns the data of a stream's events.
func chunks(t *testing.T, r response) (all []string) {
	t.Helper()
	if r.Header.Get("Content-Type") != sse.ContentType {
		t.Fatalf("%s\n%s", r.Status, r.body)
	}
	for e, err := range sse.Read(bytes.NewReader(r.body), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Data)
	}
	return all
}

// TestOpenAIStream streams an answer, follows a finished task's, and ends a stream that breaks off with an error.
func TestOpenAIStream(t *testing.T) {
	w := openAIWorld(t)
	body := completion("hello", `"stream":true`, `"stream_options":{"include_usage":true}`)
	var text [2]string
	for i := range text {
		r := w.complete(w.test, body, api.HeaderIdempotencyKey, "openai-stream")
		all := chunks(t, r)
		if len(all) < 5 || all[len(all)-1] != "[DONE]" || !strings.Contains(all[len(all)-2], `"choices":[],"usage":{"prompt_tokens":`) || !strings.Contains(all[0], `"role":"assistant"`) {
			t.Errorf("the stream is %q", all)
		}
		for _, data := range all[:len(all)-1] {
			var c struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				t.Fatal(err)
			}
			for _, one := range c.Choices {
				text[i] += one.Delta.Content
			}
		}
		if r.Header.Get(openai.HeaderTaskID) == "" {
			t.Error("a stream without a task's id")
		}
	}
	if text[0] == "" || text[0] != text[1] {
		t.Errorf("the stream says %q, the finished one %q", text[0], text[1])
	}
	broken := chunks(t, w.complete(w.live, completion("break", `"stream":true`)))
	if last := broken[len(broken)-1]; !strings.Contains(last, `"service_code":"PROVIDER_TIMEOUT"`) || !strings.Contains(strings.Join(broken, ""), `"content":"half of "`) {
		t.Errorf("a broken stream is %q", broken)
	}
}
