package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/test/rig"
)

// rawConn is a connection that says what a test wants, and no more.
type rawConn struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

// dial connects to the world.
func (w *world) dial(t *testing.T) *rawConn {
	t.Helper()
	c := rig.Must((&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return &rawConn{c, t, bufio.NewReader(c)}
}

// announce begins a creation whose body has so many bytes; none of them is sent.
func (c *rawConn) announce(key string, length int) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Idempotency-Key: a-body-that-stalls\r\nContent-Length: %d\r\n\r\n", api.PathTasks, key, length); err != nil {
		c.t.Fatal(err)
	}
}

// refusal is an error's answer, read to its end.
type refusal struct {
	status int
	header http.Header
	closed bool // with it the connection
	body   api.ErrorResponse
}

// answer reads an answer.
func (c *rawConn) answer() refusal {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var e api.ErrorResponse
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		c.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return refusal{resp.StatusCode, resp.Header, resp.Close, e}
}

// TestAnswerBeforeTheBody: what can be said without the body is said at once, although the body never comes.
func TestAnswerBeforeTheBody(t *testing.T) {
	w := newWorld(t, options{})
	for _, tt := range []struct {
		name, key string
		length    int
		want      int
	}{
		{"a bad key", "svc_live_x", 100, 401},
		{"a bad key and a large body", "svc_live_x", 1 << 20, 401},
		{"a body too large", w.test, 1 << 30, 413},
	} {
		begun := time.Now()
		c := w.dial(t)
		c.announce(tt.key, tt.length)
		if got := c.answer(); got.status != tt.want || !got.closed {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if took := time.Since(begun); took > 30*time.Second { // of the minute that a body has
			t.Errorf("%s: answered after %s", tt.name, took)
		}
	}
}

// TestRefusedBodyKeepsTheConnection: a short body that is here is read although nobody wants it, so that the
// connection serves the next request.
func TestRefusedBodyKeepsTheConnection(t *testing.T) {
	w := newWorld(t, options{})
	c := w.dial(t)
	for range 2 {
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
			api.PathTasks, w.test)
		if got := c.answer(); got.status != 415 || got.closed {
			t.Errorf("%+v", got)
		}
	}
}

// TestLargeBodiesOfOneKey: bodies of one key that stall take its own room alone, and its next one is told so before it
// is read; another key's is taken. Nothing of them stays on the disk.
func TestLargeBodiesOfOneKey(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, options{limits: server.Limits{Body: 4 << 20, BodyDisk: 32 << 20}, bodies: dir})
	const size = 2 << 20
	answers := make(chan *http.Response, 3)
	for range 3 { // one more than the 4 MiB that a key has
		c := w.dial(t)
		c.announce(w.test, size)
		go func() {
			if resp, err := http.ReadResponse(c.in, nil); err == nil { //nolint:bodyclose // the test closes the one it receives
				answers <- resp
			}
		}()
	}
	resp := <-answers
	_ = resp.Body.Close()
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" || !resp.Close {
		t.Errorf("the one too many: %d %v, closed %v", resp.StatusCode, resp.Header, resp.Close)
	}
	other := w.key(api.KeyCreate{Mode: task.Test})
	body := strings.Repeat(" ", size) + chat("large")
	if got := w.post("a-large-one", body, by(other)); got.StatusCode != 200 {
		t.Errorf("another key's: %d %s", got.StatusCode, got.body)
	}
	if got := w.post("a-small-one", chat("small")); got.StatusCode != 200 {
		t.Errorf("the key's own small one: %d %s", got.StatusCode, got.body)
	}
	if left := rig.Must(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("%d files are left, such as %s", len(left), left[0].Name())
	}
}

// TestBodiesFull: where the whole room is taken, a large body is CAPACITY_EXHAUSTED.
func TestBodiesFull(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Body: 8 << 20, BodyDisk: 1}})
	c := w.dial(t)
	c.announce(w.key(api.KeyCreate{Mode: task.Test}), 4<<20)
	_, _ = c.Write(make([]byte, 64<<10)) // two pieces of it, of which one may be there alone
	if got := c.answer(); got.status != 503 || got.body.Error.Code != fault.CapacityExhausted || got.header.Get("Retry-After") == "" || !got.closed {
		t.Errorf("%+v", got)
	}
}
