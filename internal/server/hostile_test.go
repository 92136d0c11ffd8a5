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

// TestBodyOfUnknownLength: a body without a length is bounded too.
func TestBodyOfUnknownLength(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Body: 1000}})
	for size, want := range map[int]int{100: 200, 2000: 413} {
		body := io.MultiReader(strings.NewReader(chat(strings.Repeat("a", size))))
		req := must(http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+api.PathTasks, body))(t)
		req.Header = http.Header{"Authorization": {"Bearer " + w.test}, "Content-Type": {"application/json; charset=UTF-8"}, api.HeaderIdempotencyKey: {"unknown-length"}}
		if got := w.send(req); got.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, got.StatusCode, want)
		}
	}
}

// TestSlowBody: a body that stops arriving ends in an error, and the next request is served.
func TestSlowBody(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{BodyTime: 200 * time.Millisecond}})
	conn := must((&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(t)
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nIdempotency-Key: slow-body\r\n"+
		"Content-Length: 100\r\n\r\n{", api.PathTasks, w.test)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body := must(io.ReadAll(resp.Body))(t)
	_ = resp.Body.Close()
	if resp.StatusCode != 400 || !bytes.Contains(body, []byte("INVALID_REQUEST")) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if got := w.post("slow-body", chat("fast")); got.StatusCode != 200 {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

// TestLog: one line a request, with what an operator looks for and nothing secret.
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
