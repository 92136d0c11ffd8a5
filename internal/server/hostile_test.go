package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/test/fixture"
)

// panicking is a store that fails in the worst way.
type panicking struct{ *memstore.DB }

func (panicking) ListTasks(context.Context, store.ListQuery) (store.Page, error) { panic("a bug") }

func TestPanic(t *testing.T) {
	w := newWorld(t, options{engine: panicking{memstore.New(time.Now)}})
	got := w.do(request{path: api.PathTasks, key: w.test})
	if e := got.error(t); got.StatusCode != 500 || e.Error.Code != fault.Internal || !e.Error.Retryable || strings.Contains(string(got.body), "a bug") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	if !strings.Contains(w.log.String(), "a bug") || !strings.Contains(w.log.String(), got.Header.Get(api.HeaderRequestID)) {
		t.Error("the log doesn't tell of the panic")
	}
	if got := w.do(request{path: api.PathHealth}); got.StatusCode != 200 {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

// slow is a store whose lists last as long as their callers have patience.
type slow struct {
	*memstore.DB
	asked chan struct{}
}

func (s slow) ListTasks(ctx context.Context, _ store.ListQuery) (store.Page, error) {
	close(s.asked)
	<-ctx.Done()
	return store.Page{}, ctx.Err()
}

// TestHungUp: a caller who leaves before the answer is no fault of the service.
func TestHungUp(t *testing.T) {
	requests := make(chan server.Request, 1)
	engine := slow{memstore.New(time.Now), make(chan struct{})}
	w := newWorld(t, options{engine: engine, onRequest: func(r server.Request) { requests <- r }})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-engine.asked
		leave()
	}()
	r := fixture.Must(http.NewRequestWithContext(ctx, http.MethodGet, w.base+api.PathTasks, nil))(t)
	r.Header.Set("Authorization", "Bearer "+w.test)
	if resp, err := w.client.Do(r); err == nil {
		_ = resp.Body.Close()
		t.Error("it was answered")
	}
	if got := <-requests; got.Status != 499 || got.Code != "" {
		t.Errorf("recorded with %d %q", got.Status, got.Code)
	}
	if strings.Contains(w.log.String(), "ERROR") {
		t.Errorf("logged as a fault:\n%s", w.log.String())
	}
}

// TestBodyOfUnknownLength: a body without a length is bounded too.
func TestBodyOfUnknownLength(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Body: 1000}})
	for size, want := range map[int]int{100: 200, 2000: 413} {
		body := io.MultiReader(strings.NewReader(chat(strings.Repeat("a", size))))
		req := fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+api.PathTasks, body))(t)
		req.Header = http.Header{"Authorization": {"Bearer " + w.test}, "Content-Type": {"application/json; charset=UTF-8"}, api.HeaderIdempotencyKey: {"unknown-length"}}
		if got := w.send(req); got.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, got.StatusCode, want)
		}
	}
}

// TestSlowBody: a body that stops arriving ends in an error, one that says it is too long isn't waited
// for, and the next request is served.
func TestSlowBody(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{BodyTime: 200 * time.Millisecond}})
	for length, want := range map[int]int{100: 400, 1 << 30: 413} {
		status, body := w.begin(length)
		if status != want || !bytes.Contains(body, []byte("INVALID_REQUEST")) {
			t.Errorf("of %d bytes: %d %s", length, status, body)
		}
	}
	if got := w.post("slow-body", chat("fast")); got.StatusCode != 200 {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

// TestBodySizes: a body is taken whole whatever its size, beside the one up to which memory is laid out for it.
func TestBodySizes(t *testing.T) {
	w := newWorld(t, options{})
	for _, size := range []int{100, 4<<10 - 1, 4 << 10, 4<<10 + 1, 100 << 10} {
		body := chat("hello")
		body = strings.Repeat(" ", size-len(body)) + body
		if got := w.post(fmt.Sprintf("body-of-%d", size), body); got.StatusCode != 200 {
			t.Errorf("of %d bytes: %d %s", size, got.StatusCode, got.body)
		}
	}
	if got := w.post("empty-body", ""); got.error(t).Error.Code != fault.InvalidRequest {
		t.Errorf("of none: %d %s", got.StatusCode, got.body)
	}
}

// begin sends a creation's header and one byte of its body, and returns the answer to that.
func (w *world) begin(length int) (status int, body []byte) {
	w.t.Helper()
	conn := fixture.Must((&net.Dialer{}).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(w.t)
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nIdempotency-Key: slow-body\r\n"+
		"Content-Length: %d\r\n\r\n{", api.PathTasks, w.test, length)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, fixture.Must(io.ReadAll(resp.Body))(w.t)
}

// TestLog: one line a request, with the values that an operator searches and no secret.
func TestLog(t *testing.T) {
	w := newWorld(t, options{})
	got := w.post("a-very-secret-idempotency-key", chat("a very secret prompt"))
	w.do(request{path: api.PathTasks + "?capability=secret.query", key: w.test})
	log := w.log.String()
	for _, want := range []string{
		`"route":"/api/ai/v1/tasks"`, `"method":"POST"`, `"status":200`, got.task(t).ID, got.Header.Get(api.HeaderRequestID), `"key_id":"key_`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in the log:\n%s", want, log)
		}
	}
	for _, secret := range []string{"secret", w.test} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
}
