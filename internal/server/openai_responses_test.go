package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// responding is the request of a response.
func responding(input string, more ...string) string {
	return `{"model":"text.chat","input":"` + input + `"` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func (w *world) respond(key, body string, header ...string) response {
	w.t.Helper()
	r := request{method: http.MethodPost, path: openai.PathResponses, key: key, body: body, header: map[string]string{"Content-Type": "application/json"}}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	return w.do(r)
}

// responded is what a test reads of a response.
type responded struct {
	ID, Status string
	Output     []struct {
		Type    string
		Content []struct{ Text string }
	}
	Error *struct {
		Code    string
		Service fault.Code `json:"service_code"`
	}
}

func (r *responded) text() (said string) {
	for _, i := range r.Output {
		for _, c := range i.Content {
			said += c.Text
		}
	}
	return said
}

func responseIn(t testing.TB, r response) (one responded) {
	t.Helper()
	if err := json.Unmarshal(r.body, &one); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", r.Status, err, r.body)
	}
	if id, ok := openai.TaskOf(one.ID); !ok || id != r.Header.Get(openai.HeaderTaskID) {
		t.Fatalf("the response %q is of task %q", one.ID, r.Header.Get(openai.HeaderTaskID))
	}
	return one
}

// retrieve reads a response until it is of another status.
func (w *world) retrieve(key, id string, not ...string) responded {
	w.t.Helper()
	for {
		one := responseIn(w.t, w.do(request{path: openai.PathResponses + "/" + id, key: key}))
		if !strings.Contains(strings.Join(not, " "), one.Status) {
			return one
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestOpenAIResponse answers with a response, which is a task and can be read again, as can one of the API's.
func TestOpenAIResponse(t *testing.T) {
	w := openAIWorld(t)
	r := w.respond(w.live, responding("hello", `"max_output_tokens":20`, `"metadata":{"team":"search"}`))
	first := responseIn(t, r)
	if first.Status != "completed" || first.text() != "paid" {
		t.Errorf("answered %s", r.body)
	}
	if r.ContentLength != int64(len(r.body)) {
		t.Error("the answer goes out in pieces")
	}
	id := r.Header.Get(openai.HeaderTaskID)
	made := w.do(request{path: api.PathTasks + "/" + id, key: w.live}).task(t)
	if made.State != task.Succeeded || made.Capability != "text.chat" || made.Metadata["team"] != "search" {
		t.Errorf("the task is %+v", made)
	}
	if again := w.retrieve(w.live, first.ID); again.text() != "paid" || again.Status != "completed" {
		t.Errorf("read again: %+v", again)
	}
	if streamed := w.do(request{path: openai.PathResponses + "/" + first.ID + "?stream=true&include_obfuscation=false", key: w.live}); !bytes.Contains(streamed.body, []byte(`"delta":"paid"`)) {
		t.Errorf("streamed: %s\n%s", streamed.Status, streamed.body)
	}
	chat := completionOf(t, w.complete(w.live, completion("hello")))
	if one := w.retrieve(w.live, strings.Replace(chat.ID, task.PrefixTask, "resp_", 1)); one.text() != "paid" {
		t.Errorf("a completion read as a response: %+v", one)
	}
	referring := strings.Replace(responding("x"), `"x"`, `[{"role":"user","content":"hello"},{"type":"item_reference","id":"`+strings.Replace(first.ID, "resp_", "msg_", 1)+`"},{"role":"user","content":"hello"}]`, 1)
	if one := responseIn(t, w.respond(w.live, referring)); one.text() != "paid" {
		t.Errorf("after a reference: %+v", one)
	}
	if r := w.respond(w.test, referring); r.StatusCode != http.StatusBadRequest || *r.openAIError(t).Param != "input[1].id" {
		t.Errorf("a reference to another mode's: %s\n%s", r.Status, r.body)
	}
}

// TestOpenAIResponseInBackground answers at once, shows the response until its end, and ends it before its time.
func TestOpenAIResponseInBackground(t *testing.T) {
	w := openAIWorld(t)
	first := responseIn(t, w.respond(w.test, responding("@slow:1s hello", `"background":true`)))
	if first.Status != "queued" || len(first.Output) != 0 {
		t.Errorf("at first it is %+v", first)
	}
	if end := w.retrieve(w.test, first.ID, "queued", "in_progress"); end.Status != "completed" || !strings.Contains(end.text(), "hello") {
		t.Errorf("at last it is %+v", end)
	}
	failing := responseIn(t, w.respond(w.live, responding("refuse", `"background":true`)))
	end := w.retrieve(w.live, failing.ID, "queued", "in_progress")
	if end.Status != "failed" || end.Error == nil || end.Error.Code != "server_error" || end.Error.Service != fault.ProviderUnavailable {
		t.Errorf("a failed one is %+v", end)
	}
	long := responseIn(t, w.respond(w.test, responding("@slow:60s hello", `"background":true`)))
	cancel := request{method: http.MethodPost, path: openai.PathResponses + "/" + long.ID + "/cancel", key: w.test}
	if canceled := responseIn(t, w.do(cancel)); canceled.Status != "cancelled" {
		t.Errorf("canceled it is %+v", canceled)
	}
	if again := responseIn(t, w.do(cancel)); again.Status != "cancelled" {
		t.Errorf("canceled again it is %+v", again)
	}
	if streamed := w.do(request{path: openai.PathResponses + "/" + long.ID + "?stream=true", key: w.test}); !bytes.Contains(streamed.body, []byte("event: response.failed")) {
		t.Errorf("streamed: %s\n%s", streamed.Status, streamed.body)
	}
}

// TestOpenAIResponseStream streams the events of a response, of one in the background too, and of its failure.
func TestOpenAIResponseStream(t *testing.T) {
	w := openAIWorld(t)
	for _, tt := range []struct{ key, body, ends, says string }{
		{w.test, responding("say one two three", `"stream":true`), "response.completed", "one two three"},
		{w.test, responding("say one two three", `"stream":true`, `"background":true`), "response.completed", "one two three"},
		{w.live, responding("refuse", `"stream":true`, `"background":true`), "response.failed", ""},
		{w.live, responding("break", `"stream":true`), "response.failed", "half of "},
	} {
		r := w.respond(tt.key, tt.body)
		said, last := "", ""
		for e, err := range sse.Read(bytes.NewReader(r.body), 0) {
			if err != nil {
				t.Fatal(err)
			}
			var d struct{ Delta string }
			if err := json.Unmarshal([]byte(e.Data), &d); err != nil {
				t.Fatal(err)
			}
			said, last = said+d.Delta, e.Name
		}
		if last != tt.ends || !strings.Contains(said, tt.says) || r.Header.Get(openai.HeaderTaskID) == "" {
			t.Errorf("%s: %s, it ends with %s\n%s", tt.body, r.Status, last, r.body)
		}
	}
	const key = "openai-failed-stream"
	final := responding("@fail:CONTENT_POLICY_VIOLATION", `"stream":true`, `"background":true`)
	w.respond(w.test, final, api.HeaderIdempotencyKey, key)
	if r := w.respond(w.test, final, api.HeaderIdempotencyKey, key); r.Header.Get("Content-Type") != sse.ContentType || !bytes.Contains(r.body, []byte("event: response.failed")) {
		t.Errorf("a failed one again: %s\n%s", r.Status, r.body)
	}
	if r := w.respond(w.live, responding("refuse", `"stream":true`)); r.StatusCode != http.StatusBadGateway {
		t.Errorf("a failure before the stream: %s", r.Status)
	}
}

// TestOpenAIResponseRetry has a retry of OpenAI's libraries join the response whose answer was lost.
func TestOpenAIResponseRetry(t *testing.T) {
	w := openAIWorld(t)
	slow := responding("@slow:1s hello")
	w.hangUp(openai.PathResponses, w.test, slow)
	again := w.respond(w.test, slow, openai.HeaderRetryCount, "1")
	responseIn(t, again)
	if diff := cmp.Diff([]string{again.Header.Get(openai.HeaderTaskID)}, w.ids(w.test)); diff != "" || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("after a retry (-want +got):\n%s", diff)
	}
	const key = "openai-response"
	first := responseIn(t, w.respond(w.test, responding("hello", `"background":true`), api.HeaderIdempotencyKey, key))
	if same := responseIn(t, w.respond(w.test, responding("hello", `"background":true`), api.HeaderIdempotencyKey, key)); same.ID != first.ID {
		t.Errorf("the same key: %s, then %s", first.ID, same.ID)
	}
	if r := w.respond(w.test, responding("good bye"), api.HeaderIdempotencyKey, key); r.StatusCode != http.StatusConflict || r.Header.Get(openai.HeaderShouldRetry) != "false" {
		t.Errorf("a conflict: %s", r.Status)
	}
}

// TestOpenAIResponseOfAnother holds that a response is seen by the keys of its account, mode and scope alone.
func TestOpenAIResponseOfAnother(t *testing.T) {
	w := openAIWorld(t)
	mine := responseIn(t, w.respond(w.test, responding("hello"))).ID
	images := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}})
	image := w.post("openai-image-1", `{"capability":"image.generate","input":{"prompt":"a fox"}}`).task(t).ID
	json := map[string]string{"Content-Type": "application/json"}
	for _, tt := range []struct {
		name, method, path, key string
		status                  int
		param                   string
	}{
		{"another mode's", "GET", "/" + mine, w.live, 404, "response_id"},
		{"out of scope", "GET", "/" + mine, images, 404, "response_id"},
		{"none", "GET", "/resp_" + strings.Repeat("2", 26), w.test, 404, "response_id"},
		{"a task's own id", "GET", "/" + strings.Replace(mine, "resp_", "task_", 1), w.test, 404, "response_id"},
		{"an image", "GET", "/" + strings.Replace(image, "task_", "resp_", 1), w.test, 404, "response_id"},
		{"to be canceled", "POST", "/" + mine + "/cancel", w.live, 404, "response_id"},
		{"an unknown parameter", "GET", "/" + mine + "?after=3", w.test, 400, "after"},
		{"a later start", "GET", "/" + mine + "?stream=true&starting_after=3", w.test, 400, "starting_after"},
		{"a deletion", "DELETE", "/" + mine, w.test, 405, ""},
		{"its input", "GET", "/" + mine + "/input_items", w.test, 404, ""},
		{"no key", "GET", "/" + mine, "", 401, ""},
	} {
		r := w.do(request{method: tt.method, path: openai.PathResponses + tt.path, key: tt.key, header: json})
		e := r.openAIError(t)
		param := ""
		if e.Param != nil {
			param = *e.Param
		}
		if r.StatusCode != tt.status || param != tt.param {
			t.Errorf("%s: %s\n%s", tt.name, r.Status, r.body)
		}
	}
}
