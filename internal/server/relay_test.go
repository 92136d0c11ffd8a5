package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestRelayedStream: a stream of a task that another node works on has the pieces that are said there; the other node is
// asked as the caller asked, and not again by a node.
func TestRelayedStream(t *testing.T) {
	asked := make(chan *http.Request, 9)
	var status atomic.Int64
	status.Store(http.StatusOK)
	heard := make(chan struct{})
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked <- r
		rw.Header().Set("Content-Type", sse.ContentType)
		rw.WriteHeader(int(status.Load()))
		_, _ = rw.Write(sse.Append(nil, api.EventDelta, []byte(`{"text":"Once "}`)))
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-heard:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(other.Close)
	shared := memstore.Shared{DB: memstore.New(time.Now)}
	if err := shared.Renew(t.Context(), "another", time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Exchange(t.Context(), "another", []byte(`{"runs":"v1","address":"`+other.URL+`"}`)); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, options{engine: shared})
	for end := time.Now().Add(30 * time.Second); len(w.Gateway.Fleet()) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the node knows of %v", w.Gateway.Fleet())
		}
	}
	owner := fixture.Must(w.Operator.GetAccount(t.Context(), "default"))(t)
	begin := func(n byte) store.Lease {
		t.Helper()
		made, err := w.db.CreateTask(t.Context(), store.NewTask{
			ID: task.NewID(task.PrefixTask, time.Now()), Scope: task.Scope{Account: owner.ID, Mode: task.Test}, Capability: "text.chat", Sync: true,
			IdempotencyHash: task.Hash{n}, Input: []byte(`{"prompt":"a tale"}`), Parameters: []byte(`{}`), Deadline: time.Hour,
			First: &store.First{Node: "another", Plans: []task.Plan{{Supplier: "elsewhere", Model: "m"}}},
		})
		if err != nil || made.Lease == nil {
			t.Fatalf("%+v %v", made, err)
		}
		return *made.Lease
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	question := func() *http.Request {
		t.Helper()
		select {
		case r := <-asked:
			return r
		case <-ctx.Done():
			t.Fatal("the other node isn't asked")
			return nil
		}
	}
	// read reads a stream whose task ends once then has returned, after the first event of a name.
	read := func(l store.Lease, header map[string]string, name string, then func()) (all []string) {
		t.Helper()
		req := fixture.Must(http.NewRequestWithContext(ctx, http.MethodGet, w.base+api.PathTasks+"/"+l.Ref.TaskID, nil))(t)
		req.Header.Set("Authorization", "Bearer "+w.test)
		req.Header.Set("Accept", sse.ContentType)
		for name, value := range header {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		end := sync.OnceFunc(func() {
			then()
			_, err := w.db.Advance(t.Context(), l.Ref, store.Step{
				Close: &task.Closing{State: task.OK, Usage: &task.Usage{}},
				Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"Once upon"}`)}, task.Usage{})},
			})
			if err != nil {
				t.Error(err)
			}
		})
		for e, err := range sse.Read(resp.Body, 1<<20) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Name == api.EventDelta {
				all = append(all, e.Data)
			}
			if e.Name == name {
				end()
			}
		}
		return all
	}
	const first, rest, whole = `{"text":"Once "}`, `{"text":"upon"}`, `{"text":"Once upon"}`
	l := begin(1)
	var r *http.Request
	if got := fmt.Sprint(read(l, nil, api.EventDelta, func() { r = question() })); got != fmt.Sprint([]string{first, rest}) {
		t.Errorf("told %s", got)
	}
	if r.URL.Path != api.PathTasks+"/"+l.Ref.TaskID || r.Header.Get("Authorization") != "Bearer "+w.test || r.Header.Get("X-Forwarded-For") != "127.0.0.1" ||
		r.Host != strings.TrimPrefix(w.base, "http://") || r.Header.Get("Unitask-Relay") == "" {
		t.Errorf("the other node was asked %s of %s: %v", r.URL, r.Host, r.Header)
	}
	if got := fmt.Sprint(read(begin(2), map[string]string{"Unitask-Relay": "1"}, api.EventTask, func() {})); got != fmt.Sprint([]string{whole}) || len(asked) != 0 {
		t.Errorf("asked by a node: told %s, and asked %d more", got, len(asked))
	}
	status.Store(http.StatusUnauthorized)
	if got := fmt.Sprint(read(begin(3), nil, api.EventTask, func() { question() })); got != fmt.Sprint([]string{whole}) || len(asked) != 0 {
		t.Errorf("refused by the other node: told %s", got)
	}
	// A caller who may not read the task has the other node asked by no word.
	if got := w.do(request{path: api.PathTasks + "/" + begin(4).Ref.TaskID, key: w.live, header: map[string]string{"Accept": sse.ContentType}}); got.StatusCode != 404 || len(asked) != 0 {
		t.Errorf("a stranger: %d, and %d asked", got.StatusCode, len(asked))
	}
	close(heard)
}
