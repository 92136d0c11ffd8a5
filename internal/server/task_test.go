package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestWholeWay takes a synchronous and an asynchronous task from the directory to the bytes, on the
// real engine.
func TestWholeWay(t *testing.T) {
	db := fixture.Must(boltstore.Open(boltstore.Config{Path: t.TempDir() + "/db"}))(t)
	t.Cleanup(func() { _ = db.Close() })
	w := newWorld(t, options{engine: db})

	directory := decode[api.CapabilityList](t, w.do(request{path: api.PathCapabilities, key: w.test}))
	schemas := fixture.Must(catalog.Default())(t)
	if len(directory.Data) != len(schemas.All()) {
		t.Errorf("%d capabilities for a test key", len(directory.Data))
	}
	for _, c := range directory.Data {
		got := w.post("example of "+string(c.Name), string(c.Example))
		if got.StatusCode >= 300 {
			t.Errorf("the example of %s: %d %s", c.Name, got.StatusCode, got.body)
			continue
		}
		output := fixture.Must(json.Marshal(w.end(w.test, got.task(t).ID).Output))(t)
		if err := schemas.ValidateOutput(c.Name, output); err != nil {
			t.Errorf("the result of %s's example doesn't fit its output_schema: %v\n%s", c.Name, err, output)
		}
	}
	live := decode[api.CapabilityList](t, w.do(request{path: api.PathCapabilities, key: w.live}))
	if len(live.Data) != 2 || live.Data[1].Name != "text.chat" || live.Data[1].Price.Output != "0.08" {
		t.Errorf("a live key's directory: %+v", live.Data)
	}

	got := w.post("whole-way-1", `{"capability":"text.chat","input":{"prompt":"pay"},"parameters":{"max_output_tokens":10}}`, by(w.live))
	first := got.task(t)
	want := api.Task{
		Capability: "text.chat", Mode: task.Live, State: task.Succeeded, Progress: new(1.0),
		Output: &api.Output{JSON: json.RawMessage(`{"text":"paid","finish_reason":"stop"}`), Text: new("paid"), FinishReason: "stop"},
		Usage:  &api.Usage{Work: api.Work{InputTokens: 9, OutputTokens: 3}, Cost: api.Cost{Currency: "USD", Amount: "0.00000069"}},
	}
	if diff := cmp.Diff(want, first, changing); got.StatusCode != http.StatusOK || diff != "" {
		t.Errorf("status %d (-want +got):\n%s", got.StatusCode, diff)
	}

	got = w.post("whole-way-2", image("a red fox"))
	second := got.task(t)
	if got.StatusCode != http.StatusAccepted || got.Header.Get("Location") != api.PathTasks+"/"+second.ID || got.Header.Get("Retry-After") != "2" {
		t.Errorf("status %d, header %v", got.StatusCode, got.Header)
	}
	done := w.end(w.test, second.ID)
	if done.State != task.Succeeded || len(done.Output.Images) != 1 {
		t.Fatalf("the picture: %+v", done)
	}
	timeline := decode[api.Timeline](t, w.do(request{path: api.PathTasks + "/" + second.ID + "/timeline", key: w.test}))
	var states []task.State
	for _, m := range timeline.Data {
		states = append(states, m.State)
	}
	if diff := cmp.Diff([]task.State{task.Queued, task.Running, task.Transferring, task.Succeeded}, states); diff != "" {
		t.Error(diff)
	}
}

// changing removes the parts that differ from run to run.
var changing = cmpopts.IgnoreFields(api.Task{}, "ID", "RequestID", "CreatedAt", "UpdatedAt", "FinishedAt")

func TestReplayAndConflict(t *testing.T) {
	w := newWorld(t, options{})
	first := w.post("replayed-key", chat("hello"))
	if first.StatusCode != http.StatusOK || first.Header.Get(api.HeaderIdempotentReplay) != "" {
		t.Fatalf("first: %d %v", first.StatusCode, first.Header)
	}
	again := w.post("\u00a0replayed-key ", "{\n\"input\": {\"prompt\": \"h\\u0065llo\"}, \"parameters\": {}, \"capability\": \"text.chat\" }")
	if again.StatusCode != http.StatusOK || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("again: %d %v", again.StatusCode, again.Header)
	}
	if diff := cmp.Diff(first.task(t), again.task(t), cmpopts.IgnoreFields(api.Task{}, "RequestID")); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]int{w.test: http.StatusConflict, w.live: http.StatusOK, w.otherAccountsKey(): http.StatusOK} {
		if got := w.post("replayed-key", chat("other"), by(key)); got.StatusCode != want || got.Header.Get(api.HeaderIdempotentReplay) != "" {
			t.Errorf("status %d, want %d", got.StatusCode, want)
		}
	}
	if got := w.post("replayed-key", chat("hello"), by(w.key(api.KeyCreate{Mode: task.Test}))); got.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Error("a rotated key breaks a retry")
	}
}

func TestFailedTasks(t *testing.T) {
	w := newWorld(t, options{})
	sync := w.post("failed-sync", chat("@fail:CONTENT_POLICY_VIOLATION"))
	e := sync.error(t)
	if sync.StatusCode != http.StatusUnprocessableEntity || e.TaskID == "" || e.Error.Code != fault.ContentPolicyViolation {
		t.Errorf("synchronous: %d %+v", sync.StatusCode, e)
	}
	replay := w.post("failed-sync", chat("@fail:CONTENT_POLICY_VIOLATION"))
	if replay.StatusCode != sync.StatusCode || replay.error(t).TaskID != e.TaskID || replay.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("its replay: %d %+v %v", replay.StatusCode, replay.error(t), replay.Header)
	}
	read := w.do(request{path: api.PathTasks + "/" + e.TaskID, key: w.test})
	if got := read.task(t); read.StatusCode != http.StatusOK || got.State != task.Failed || !cmp.Equal(*got.Error, e.Error) {
		t.Errorf("read: %d %+v, want the error %+v", read.StatusCode, got, e.Error)
	}

	async := w.post("failed-async", image("@fail:CONTENT_POLICY_VIOLATION"), with("Prefer", "wait=20"))
	if got := async.task(t); async.StatusCode != http.StatusOK || got.State != task.Failed || got.Error.Code != fault.ContentPolicyViolation {
		t.Errorf("asynchronous: %d %+v", async.StatusCode, got)
	}
}

// TestReopening: a retryable failure goes on under the same key and id, and is no replay.
func TestReopening(t *testing.T) {
	w := newWorld(t, options{})
	first := w.post("reopened-key", chat("@fail:PROVIDER_TIMEOUT"))
	if first.StatusCode != http.StatusGatewayTimeout || !first.error(t).Error.Retryable || first.Header.Get("Retry-After") == "" {
		t.Fatalf("first: %d %s", first.StatusCode, first.body)
	}
	for range task.MaxReopenings {
		got := w.post("reopened-key", chat("@fail:PROVIDER_TIMEOUT"))
		if got.error(t).TaskID != first.error(t).TaskID || got.Header.Get(api.HeaderIdempotentReplay) != "" {
			t.Errorf("again: %s %v", got.body, got.Header)
		}
	}
	last := w.post("reopened-key", chat("@fail:PROVIDER_TIMEOUT"))
	if last.StatusCode != http.StatusGatewayTimeout || last.error(t).Error.Retryable || last.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("past the last reopening: %d %s", last.StatusCode, last.body)
	}
}

// TestFinalFailure: a failure that can't be retried advises no pause, in any answer that shows it. The inspector
// holds the headers against the bodies.
func TestFinalFailure(t *testing.T) {
	w := newWorld(t, options{})
	final := func(where string, e *api.Error, h http.Header) {
		t.Helper()
		if e == nil || e.Retryable || e.RetryAfterSeconds != 0 || h.Get("Retry-After") != "" {
			t.Errorf("%s: %+v, Retry-After %q", where, e, h.Get("Retry-After"))
		}
	}
	for i, body := range []string{chat("@fail:PROVIDER_TIMEOUT"), image("@fail:PROVIDER_UNAVAILABLE")} {
		key := fmt.Sprintf("final-failure-%d", i)
		var last response
		for range task.MaxReopenings + 2 {
			last = w.post(key, body, with("Prefer", "wait=20"))
		}
		var id string
		if i == 0 {
			e := last.error(t)
			final("the answer", &e.Error, last.Header)
			id = e.TaskID
		} else {
			done := last.task(t)
			final("the answer", done.Error, last.Header)
			id = done.ID
		}
		path := api.PathTasks + "/" + id
		read := w.do(request{path: path, key: w.test})
		final("a read", read.task(t).Error, read.Header)
		followed := w.do(request{path: path, key: w.test, header: map[string]string{"Accept": sse.ContentType}})
		final("a stream", followed.events(t).last().Error, followed.Header)
		list := w.do(request{path: api.PathTasks, key: w.test})
		final("a list", decode[api.TaskList](t, list).Data[0].Error, list.Header)
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t, options{})
	id := w.post("to-be-canceled", image("@stuck:running")).task(t).ID
	cancel := request{method: http.MethodPost, path: api.PathTasks + "/" + id + "/cancel", key: w.test}
	first := w.do(cancel).task(t)
	if first.State != task.Canceled {
		first = w.end(w.test, id)
	}
	if again := w.do(cancel).task(t); !cmp.Equal(first, again, cmpopts.IgnoreFields(api.Task{}, "RequestID")) || again.State != task.Canceled {
		t.Errorf("canceled once: %+v, twice: %+v", first, again)
	}
	if got := w.post("to-be-canceled", image("@stuck:running")); got.StatusCode != http.StatusOK || got.task(t).State != task.Canceled {
		t.Errorf("a replay: %d %s", got.StatusCode, got.body)
	}
	cancel.key = w.otherAccountsKey()
	if got := w.do(cancel); got.StatusCode != http.StatusNotFound {
		t.Errorf("another account cancels: %d", got.StatusCode)
	}
}

func TestList(t *testing.T) {
	w := newWorld(t, options{})
	var ids []string
	for _, word := range []string{"one", "two", "three"} {
		ids = append([]string{w.post("listed-"+word, chat(word)).task(t).ID}, ids...)
		nextMillisecond() // ids sort by it, and at random within it
	}
	w.post("listed-failed", chat("@fail:INVALID_REQUEST"))
	w.post("listed-live", chat("x"), by(w.live))
	list := func(query, key string) ([]string, api.TaskList) {
		page := decode[api.TaskList](t, w.do(request{path: api.PathTasks + query, key: key}))
		got := []string{}
		for _, one := range page.Data {
			got = append(got, one.ID)
		}
		return got, page
	}
	first, page := list("?state=succeeded&capability=text.chat&limit=2", w.test)
	if diff := cmp.Diff(ids[:2], first); diff != "" || page.NextCursor == nil {
		t.Fatalf("first page, cursor %v:\n%s", page.NextCursor, diff)
	}
	rest, page := list("?state=succeeded&limit=2&cursor="+*page.NextCursor, w.test)
	if diff := cmp.Diff(ids[2:], rest); diff != "" || page.NextCursor != nil {
		t.Errorf("last page, cursor %v:\n%s", page.NextCursor, diff)
	}
	if all, _ := list("", w.test); len(all) != 4 {
		t.Errorf("%d tasks without a filter", len(all))
	}
	for query, key := range map[string]string{
		"?capability=image.generate": w.test, "": w.otherAccountsKey(), "?limit=200": w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}}),
	} {
		if got, _ := list(query, key); len(got) != 0 {
			t.Errorf("%q lists %v", query, got)
		}
	}
	whole, _ := list("", w.test)
	if same, _ := list("?state=&capability=&limit=&cursor=", w.test); len(whole) == 0 || len(same) != len(whole) {
		t.Errorf("parameters without a value list %d tasks of %d", len(same), len(whole))
	}
	for query, field := range map[string]string{
		"?state=done": "state", "?limit=0": "limit", "?limit=201": "limit", "?limit=x": "limit", "?cursor=x": "cursor",
		"?page=2": "page", "?limit=1&limit=2": "limit",
	} {
		got := w.do(request{path: api.PathTasks + query, key: w.test})
		if e := got.error(t); got.StatusCode != http.StatusBadRequest || len(e.Error.Details) != 1 || e.Error.Details[0].Field != field {
			t.Errorf("%s: %d %s", query, got.StatusCode, got.body)
		}
	}
	if got := w.do(request{path: api.PathTasks + "?limit=%zz", key: w.test}); got.StatusCode != http.StatusBadRequest {
		t.Errorf("a malformed query: %d", got.StatusCode)
	}
}

func nextMillisecond() {
	for start := time.Now().UnixMilli(); time.Now().UnixMilli() == start; {
		runtime.Gosched()
	}
}

// atOnce is the time of an answer that isn't held, on a busy machine; one that is held would take 20 s.
const atOnce = 10 * time.Second

func TestWaitAndETag(t *testing.T) {
	w := newWorld(t, options{})
	stuck := w.post("stuck-key", image("@stuck:running"), with("Prefer", "wait=1"))
	if stuck.StatusCode != http.StatusAccepted || stuck.Header.Get(api.HeaderPreferenceApplied) != "wait=1" {
		t.Fatalf("a wait too short: %d %v", stuck.StatusCode, stuck.Header)
	}
	path := api.PathTasks + "/" + stuck.task(t).ID
	read := w.do(request{path: path, key: w.test})
	for tag := ""; tag != read.Header.Get("ETag"); { // until its job is known, after which it stays unchanged
		tag = read.Header.Get("ETag")
		if got := w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": tag, "Prefer": "wait=3"}}); got.StatusCode == http.StatusOK {
			read = got
		}
	}
	tag, stale := read.Header.Get("ETag"), `W/"1"`
	if !strings.HasPrefix(tag, `W/"`) || read.Header.Get("Retry-After") != "2" {
		t.Errorf("header of a running task: %v", read.Header)
	}
	start := time.Now()
	same := w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": `"x", ` + tag}})
	if same.StatusCode != http.StatusNotModified || len(same.body) != 0 || same.Header.Get("ETag") != tag || time.Since(start) > atOnce {
		t.Errorf("unchanged: %d %q %v", same.StatusCode, same.body, same.Header)
	}
	start = time.Now()
	held := w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": tag, "Prefer": "respond-async, wait=1"}})
	if took := time.Since(start); held.StatusCode != http.StatusNotModified || took < 900*time.Millisecond ||
		held.Header.Get(api.HeaderPreferenceApplied) != "wait=1" {
		t.Errorf("held for %v: %d %v", took, held.StatusCode, held.Header)
	}
	start = time.Now()
	older := w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": stale, "Prefer": "wait=20"}})
	if older.StatusCode != http.StatusOK || older.Header.Get("ETag") != tag || time.Since(start) > atOnce {
		t.Errorf("with an older tag: %d %v", older.StatusCode, older.Header)
	}
	answered := make(chan response, 1)
	go func() {
		answered <- w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": tag, "Prefer": "wait=20"}})
	}()
	w.do(request{method: http.MethodPost, path: path + "/cancel", key: w.test})
	got := <-answered
	if got.StatusCode != http.StatusOK || got.Header.Get("ETag") == tag {
		t.Errorf("after a change: %d %v", got.StatusCode, got.Header)
	}
	ended := w.do(request{path: path, key: w.test, header: map[string]string{"Prefer": "wait=99999999999999999999"}})
	if ended.Header.Get("Retry-After") != "" || ended.Header.Get(api.HeaderPreferenceApplied) != "wait=60" {
		t.Errorf("a terminal task: %v", ended.Header)
	}
	async := w.post("waited-for", image("a boat"), with("Prefer", "wait=20"))
	if async.StatusCode != http.StatusOK || async.task(t).State != task.Succeeded || async.Header.Get("Retry-After") != "" {
		t.Errorf("an asynchronous task that was waited for: %d %s", async.StatusCode, async.body)
	}
	slow := w.post("slow-chat", chat("@slow:2s hello"), with("Prefer", "wait=0"))
	if slow.StatusCode != http.StatusAccepted {
		t.Errorf("a synchronous task that isn't waited for: %d", slow.StatusCode)
	}
	if got := w.end(w.test, slow.task(t).ID); got.State != task.Succeeded {
		t.Errorf("it ended %+v", got)
	}
}
