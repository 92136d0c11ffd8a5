package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/fixture"
)

var streamed = with("Accept", sse.ContentType)

// told is a stream that was read to its end.
type told struct {
	tasks  []api.Task
	pieces []string
}

func (got response) events(t *testing.T) told {
	t.Helper()
	var all told
	if kind := got.Header.Get("Content-Type"); kind != sse.ContentType || got.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %s: %s", got.StatusCode, kind, got.body)
	}
	for e, err := range sse.Read(bytes.NewReader(got.body), 64<<20) {
		if err != nil {
			t.Fatal(err)
		}
		var now api.Task
		var piece api.Delta
		if e.Name == api.EventTask {
			err = json.Unmarshal([]byte(e.Data), &now)
			all.tasks = append(all.tasks, now)
		} else if err = json.Unmarshal([]byte(e.Data), &piece); err == nil {
			all.pieces = append(all.pieces, piece.Text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func (t told) last() api.Task { return t.tasks[len(t.tasks)-1] }

// TestStreamedTask streams by the sandbox: the pieces add up to the task's text, and a later read is the last event.
func TestStreamedTask(t *testing.T) {
	w := newWorld(t, options{})
	first := w.post("streamed-1", chat("repeat one two three four five six"), streamed)
	got := first.events(t)
	if text := strings.Join(got.pieces, ""); text != "one two three four five six" || got.last().State != task.Succeeded || text != *got.last().Output.Text {
		t.Errorf("told %q, last %+v", got.pieces, got.last())
	}
	id := got.last().ID
	if at := first.Header.Get("Location"); at != api.PathTasks+"/"+id || first.Header.Get(api.HeaderIdempotentReplay) != "" {
		t.Errorf("header %v", first.Header)
	}
	byRequest := cmpopts.IgnoreFields(api.Task{}, "RequestID")
	for name, again := range map[string]response{
		"a replay": w.post("streamed-1", chat("repeat one two three four five six"), streamed),
		"a read":   w.do(request{path: api.PathTasks + "/" + id, key: w.test, header: map[string]string{"Accept": "application/json;q=0.1, Text/Event-Stream"}}),
	} {
		if diff := cmp.Diff(told{tasks: []api.Task{got.last()}}, again.events(t), byRequest, cmp.AllowUnexported(told{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if replayed := again.Header.Get(api.HeaderIdempotentReplay) == "true"; replayed != (name == "a replay") {
			t.Errorf("%s: %v", name, again.Header)
		}
	}
	plain := w.do(request{path: api.PathTasks + "/" + id, key: w.test}).task(t)
	if diff := cmp.Diff(got.last(), plain, byRequest); diff != "" {
		t.Errorf("the last event isn't the task (-event +task):\n%s", diff)
	}
	slow := w.post("streamed-2", image("a fox"), streamed).events(t)
	if slow.last().State != task.Succeeded || len(slow.last().Output.Images) != 1 || len(slow.pieces) != 0 {
		t.Errorf("a picture's stream ends with %+v", slow.last())
	}
}

// TestNoStream has JSON answered if no stream is wanted, and if no event was sent before the end.
func TestNoStream(t *testing.T) {
	w := newWorld(t, options{})
	for i, accept := range []string{"*/*", "application/json", "text/*", "text/event-stream;q=0", "text/event-stream; q=0.000, */*", "text/event-streams"} {
		if got := w.post(fmt.Sprintf("no-stream-%d", i), chat("hello"), with("Accept", accept)); got.task(t).State != task.Succeeded {
			t.Errorf("%s: %s", accept, got.body)
		}
	}
	for body, want := range map[string]fault.Code{
		chat("@fail:CONTENT_POLICY_VIOLATION"):  fault.ContentPolicyViolation,
		chat("@fail:PROVIDER_UNAVAILABLE"):      fault.ProviderUnavailable,
		`{"capability":"text.chat","input":{}}`: fault.InvalidRequest,
	} {
		for range 2 { // the second time it is a replay, or reopened
			got := w.post("no-stream-"+string(want), body, streamed)
			if e := got.error(t); e.Error.Code != want || (e.TaskID == "") != (want == fault.InvalidRequest) {
				t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
			}
		}
	}
	if got := w.post("no-stream-9", chat("hello"), streamed, by("svc_test_unknown")); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got.StatusCode)
	}
	unknown := w.do(request{path: api.PathTasks + "/" + task.NewID(task.PrefixTask, time.Now()), key: w.test, header: map[string]string{"Accept": sse.ContentType}})
	if unknown.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown task: %d", unknown.StatusCode)
	}
}

// TestStreamBreaksOff has the supplier break off in the middle: the last event is the failed task, as a
// read has it, and the same key goes on under the same id.
func TestStreamBreaksOff(t *testing.T) {
	w := newWorld(t, options{})
	got := w.post("breaks-off", chat("break"), streamed, by(w.live)).events(t)
	if got.last().State != task.Failed || got.last().Error.Code != fault.ProviderTimeout || !got.last().Error.Retryable {
		t.Errorf("the last event is %+v", got.last())
	}
	if strings.Join(got.pieces, "") != "half of " {
		t.Errorf("told %q", got.pieces)
	}
	again := w.post("breaks-off", chat("break"), streamed, by(w.live)).events(t)
	if again.last().ID != got.last().ID || again.last().State != task.Failed {
		t.Errorf("the retry: %+v", again.last())
	}
}

// connect opens a stream on a connection of its own and doesn't read the answer.
func (w *world) connect(idempotencyKey, key, body string) net.Conn {
	w.t.Helper()
	conn := fixture.Must((&net.Dialer{}).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(w.t)
	_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept: %s\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		api.PathTasks, key, sse.ContentType, idempotencyKey, len(body), body)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// TestSlowReader sends more than a client that doesn't read has room for: the task ends all the same, and the client
// is cut off.
func TestSlowReader(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{WriteTime: time.Second}})
	conn := w.connect("slow-reader", w.live, chat(flood))
	defer func() { _ = conn.Close() }()
	started := make([]byte, 2<<10)
	_ = fixture.Must(io.ReadFull(conn, started))(t)
	id := string(regexp.MustCompile(`task_[0-9a-z]{26}`).Find(started))
	w.until("the task ends while its stream isn't read", func() bool {
		return fixture.Must(w.Operator.Task(t.Context(), id))(t).State == task.Succeeded
	})
	w.until("the stream is given up", func() bool { return strings.Contains(w.log.String(), id) })
	if got, err := io.ReadAll(conn); bytes.Contains(got, []byte("event: task\ndata: {\"id\":\""+id+`","capability":"text.chat","mode":"live","state":"succeeded"`)) {
		t.Errorf("%d bytes to their end for a client that didn't take them, %v", len(got), err)
	}
}

// TestStreamStorm has many clients hang up at any moment: every task ends, once, and no goroutine is left.
func TestStreamStorm(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	w := newWorld(t, options{})
	const clients = 120
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body := chat(fmt.Sprintf("repeat %d %s", i, strings.Repeat("word ", 200)))
			req := fixture.Must(http.NewRequestWithContext(ctx, http.MethodPost, w.base+api.PathTasks, strings.NewReader(body)))(t)
			for name, value := range map[string]string{
				"Authorization": "Bearer " + w.test, "Accept": sse.ContentType, "Content-Type": "application/json",
				api.HeaderIdempotencyKey: fmt.Sprintf("storm-%04d", i),
			} {
				req.Header.Set(name, value)
			}
			if i%10 > 0 { // the others hang up depending on their reads alone, so that some are accepted on any machine
				time.AfterFunc(rand.N(30*time.Millisecond), cancel)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return
			}
			defer func() { _ = resp.Body.Close() }()
			lines := bufio.NewScanner(resp.Body)
			for n := rand.N(300); n > 0 && lines.Scan(); n-- {
			}
		})
	}
	all.Wait()
	http.DefaultClient.CloseIdleConnections()
	var ended int
	for cursor, more := "", true; more; {
		list := decode[api.TaskList](t, w.do(request{path: api.PathTasks + "?limit=200" + cursor, key: w.test}))
		for _, one := range list.Data {
			if got := w.end(w.test, one.ID); got.State != task.Succeeded || !strings.Contains(*got.Output.Text, "word") {
				t.Errorf("%+v", got)
			}
			ended++
		}
		if more = list.NextCursor != nil; more {
			cursor = "&cursor=" + *list.NextCursor
		}
	}
	if ended == 0 || ended > clients {
		t.Errorf("%d tasks of %d clients", ended, clients)
	}
}
