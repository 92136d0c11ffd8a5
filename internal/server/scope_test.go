package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// answerParts is all of an answer that could tell one thing from another.
type answerParts struct {
	Status int
	Header string
	Body   string
}

// saidOf removes from an answer the parts that differ between any two, and the id that the request itself named.
func saidOf(r response, id string) answerParts {
	h := r.Header.Clone()
	for _, name := range []string{"Date", api.HeaderRequestID, api.HeaderRateLimit, "Content-Length"} {
		h.Del(name)
	}
	body := strings.ReplaceAll(string(r.body), r.Header.Get(api.HeaderRequestID), "req")
	return answerParts{r.StatusCode, strings.ReplaceAll(fmt.Sprint(h), id, "id"), strings.ReplaceAll(body, id, "id")}
}

// TestScopeAtEveryDoor asks with a key whose scope is pictures for a chat of the same account and mode, and in the
// same way for one that isn't there: both answers of each entrance are the same, and the chat stays unchanged.
func TestScopeAtEveryDoor(t *testing.T) {
	w := newWorld(t, options{})
	scoped := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*", "text.embed"}})
	hidden := w.post("hidden-chat", chat("@stuck:running"), with("Prefer", "wait=0")).task(t)
	unknown := task.NewID(task.PrefixTask, time.Now())
	one := func(method, format string, header ...string) func(id string) response {
		return func(id string) response {
			r := request{method: method, path: fmt.Sprintf(format, id), key: scoped, header: map[string]string{}}
			for i := 0; i < len(header); i += 2 {
				r.header[header[i]] = header[i+1]
			}
			return w.do(r)
		}
	}
	const path = api.PathTasks + "/%s"
	for name, ask := range map[string]func(id string) response{
		"GET":               one(http.MethodGet, path),
		"HEAD":              one(http.MethodHead, path),
		"GET that waits":    one(http.MethodGet, path, "Prefer", "wait=1"),
		"GET with a tag":    one(http.MethodGet, path, "If-None-Match", "*"),
		"stream":            one(http.MethodGet, path, "Accept", "text/event-stream"),
		"cancel":            one(http.MethodPost, path+"/cancel"),
		"input":             one(http.MethodGet, path+"/input"),
		"timeline":          one(http.MethodGet, path+"/timeline"),
		"list":              one(http.MethodGet, api.PathTasks+"?cursor=%s"),
		"list of the chats": one(http.MethodGet, api.PathTasks+"?capability=text.chat&cursor=%s"),
	} {
		if diff := cmp.Diff(saidOf(ask(unknown), unknown), saidOf(ask(hidden.ID), hidden.ID)); diff != "" {
			t.Errorf("%s tells the chat from one that isn't there (-unknown +hidden):\n%s", name, diff)
		}
	}
	if list := decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: scoped})); len(list.Data) != 0 {
		t.Errorf("the list holds %v", list.Data)
	}
	if now := w.do(request{path: api.PathTasks + "/" + hidden.ID, key: w.test}).task(t); now.State.Terminal() {
		t.Errorf("the chat is %s", now.State)
	}
}

// TestScopeUnderIdempotencyKeys posts with a key whose scope is pictures under the Idempotency-Keys of a chat and of
// a picture, and under fresh ones.
func TestScopeUnderIdempotencyKeys(t *testing.T) {
	w := newWorld(t, options{})
	scoped := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}})
	failed, _ := w.unshown(t, "hidden", chat("say hi @unknown"))
	w.post("hidden-chat", chat("hello"))
	w.post("own-picture", image("a fox"), by(scoped))
	say := func(key, body string, change ...func(*request)) answerParts {
		return saidOf(w.post(key, body, append(change, by(scoped))...), "no id")
	}

	outside := say("fresh-key-1", chat("hello"))
	if outside.Status != http.StatusBadRequest || !strings.Contains(outside.Body, `"field":"capability"`) {
		t.Errorf("a chat under a fresh key: %+v", outside)
	}
	for what, got := range map[string]answerParts{
		"a chat under its key":            say("hidden-chat", chat("hello")),
		"another chat under its key":      say("hidden-chat", chat("another")),
		"a chat for a stream":             say("hidden-chat", chat("hello"), streamed),
		"a failed chat under its key":     say(failed, chat("say hi @unknown")),
		"a chat under a picture's":        say("own-picture", chat("hello")),
		"a chat that breaks its schema":   say("hidden-chat", `{"capability":"text.chat","input":{"prompt":7}}`),
		"a capability that there isn't":   say("hidden-chat", `{"capability":"no.such","input":{}}`),
		"the same under a fresh key":      say("fresh-key-2", `{"capability":"no.such","input":{}}`),
		"a capability within no scope":    say("fresh-key-3", `{"capability":"text.embed","input":{"texts":["a"]}}`),
		"a chat under a fresh key, again": say("fresh-key-1", chat("hello")),
	} {
		if diff := cmp.Diff(outside, got); diff != "" {
			t.Errorf("%s isn't answered as under a fresh key (-want +got):\n%s", what, diff)
		}
	}

	taken := say("own-picture", image("another"))
	if taken.Status != http.StatusConflict || strings.Contains(taken.Body, "task_") {
		t.Errorf("another picture under the key of a picture: %+v", taken)
	}
	if diff := cmp.Diff(taken, say("hidden-chat", image("a fox"))); diff != "" {
		t.Errorf("a picture under the key of a chat isn't answered as under that of a picture:\n%s", diff)
	}
	if got := w.post("fresh-key-1", image("a fox"), by(scoped)); got.StatusCode != http.StatusAccepted {
		t.Errorf("a chat that was refused left a trace under its key: %d %s", got.StatusCode, got.body)
	}
	if got := w.post(failed, chat("say hi @unknown")); got.StatusCode != http.StatusGatewayTimeout || got.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("the failed chat was shown or reopened by the wrong key: %d %s", got.StatusCode, got.body)
	}
}

// TestScopeOfArtifacts takes a picture into an edit: to a key whose scope lacks its capability its id is like an
// unknown one.
func TestScopeOfArtifacts(t *testing.T) {
	w := newWorld(t, options{})
	made := w.end(w.test, w.post("made-picture", image("a fox")).task(t).ID)
	if made.State != task.Succeeded {
		t.Fatal(made)
	}
	edit := func(name, id string, scopes ...string) (answerParts, response) {
		r := w.post("edit "+name, fmt.Sprintf(
			`{"capability":"image.edit","input":{"prompt":"a red fox","images":[{"artifact":%q}],"authorization":{"person":"none"}}}`, id),
			by(w.key(api.KeyCreate{Mode: task.Test, Scopes: scopes})))
		return saidOf(r, id), r
	}
	id := made.Output.Images[0].ID
	want, refused := edit("of none", task.NewID(task.PrefixArtifact, time.Now()), "image.edit")
	if e := refused.error(t); e.Error.Code != fault.InvalidRequest || e.Error.Details[0].Field != "input.images.0.artifact" {
		t.Errorf("an artifact that isn't there: %s", refused.body)
	}
	got, _ := edit("by another scope", id, "image.edit")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an artifact out of the scope is told from none (-want +got):\n%s", diff)
	}
	for _, scopes := range [][]string{nil, {"*"}, {"image.*"}, {"image.edit", "image.generate"}} {
		if _, r := edit(fmt.Sprint("by ", scopes), id, scopes...); r.StatusCode != http.StatusAccepted {
			t.Errorf("scopes %v: %d %s", scopes, r.StatusCode, r.body)
		}
	}
	bare := w.do(request{path: api.PathArtifacts + id})
	none := task.NewID(task.PrefixArtifact, time.Now())
	if diff := cmp.Diff(saidOf(w.do(request{path: api.PathArtifacts + none}), none), saidOf(bare, id)); diff != "" {
		t.Errorf("without a signature an artifact is told from none:\n%s", diff)
	}
}
