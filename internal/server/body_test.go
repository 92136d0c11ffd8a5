package server_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// rawConn is a connection that sends exactly a test's bytes.
type rawConn struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

// dial connects to the world.
func (w *world) dial(t *testing.T) *rawConn {
	t.Helper()
	c := fixture.Must((&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return &rawConn{c, t, bufio.NewReader(c)}
}

// announce begins a creation whose body has so many bytes; they are not sent.
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

// TestAnswerBeforeTheBody: answers that don't need the body are sent at once, although the body never comes.
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
		start := time.Now()
		c := w.dial(t)
		c.announce(tt.key, tt.length)
		if got := c.answer(); got.status != tt.want || !got.closed {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if took := time.Since(start); took > 30*time.Second { // of the minute that a body has
			t.Errorf("%s: answered after %s", tt.name, took)
		}
	}
}

// TestRefusedBodyKeepsNoConnection: a client that was answered and sends no more of its body loses its connection, by
// whichever answer, long before the time that a body has.
func TestRefusedBodyKeepsNoConnection(t *testing.T) {
	w := newWorld(t, options{})
	for _, tt := range []struct {
		name, path, framing string
	}{
		{"a bad key", api.PathTasks, "Content-Length: 100"},
		{"an unknown path", "/no/such/path", "Content-Length: 100"},
		{"an unknown path and pieces", "/no/such/path", "Transfer-Encoding: chunked"},
		{"an unknown path and a longer body", "/no/such/path", "Content-Length: 100000"},
	} {
		c := w.dial(t)
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", tt.path, tt.framing)
		if got := c.answer(); !got.closed {
			t.Errorf("%s: %+v", tt.name, got)
		}
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := c.in.ReadByte(); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection is open after 20 seconds", tt.name)
		}
	}
}

// TestRefusedBodyKeepsTheConnection: a short body that has arrived is read although it isn't needed, so that the
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

// TestBodiesShareMemory: bodies in reused memory keep their bytes, however many there are at once.
func TestBodiesShareMemory(t *testing.T) {
	w := newWorld(t, options{})
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			says := strings.Repeat(string(rune('a'+n%26)), 5_000)
			got := w.post(fmt.Sprintf("a-body-of-many-%d", n), strings.Repeat(" ", 9_000*(n%8))+chat("say "+says))
			if text := got.task(t).Output.Text; text == nil || *text != says {
				t.Errorf("the answer to letters %c isn't what was asked for", says[0])
			}
		})
	}
	all.Wait()
}

// TestLargeBodiesOfOneAccount: bodies of one account that stall take its own room alone, and its next one, by
// whichever key, is told so before it is read; another account's is taken. Their files are removed.
func TestLargeBodiesOfOneAccount(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, options{limits: server.Limits{Body: 4 << 20, BodyDisk: 48 << 20}, bodies: dir})
	const size = 3 << 20
	answers := make(chan *http.Response, 3)
	for _, key := range []string{w.test, w.key(api.KeyCreate{Mode: task.Test}), w.test} { // one more than the 6 MiB that an account has
		c := w.dial(t)
		c.announce(key, size)
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
	body := strings.Repeat(" ", size) + chat("large")
	if got := w.post("a-large-one", body, by(w.otherAccountsKey())); got.StatusCode != 200 {
		t.Errorf("another account's: %d %s", got.StatusCode, got.body)
	}
	if got := w.post("a-small-one", chat("small")); got.StatusCode != 200 {
		t.Errorf("the account's own small one: %d %s", got.StatusCode, got.body)
	}
	if left := fixture.Must(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("%d files are left, such as %s", len(left), left[0].Name())
	}
}

// TestBodiesFull: if the whole room is taken, a large body is CAPACITY_EXHAUSTED.
func TestBodiesFull(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Body: 8 << 20, BodyDisk: 1}})
	c := w.dial(t)
	c.announce(w.key(api.KeyCreate{Mode: task.Test}), 4<<20)
	_, _ = c.Write(make([]byte, 64<<10)) // two pieces of it, of which one may be there alone
	if got := c.answer(); got.status != 503 || got.body.Error.Code != fault.CapacityExhausted || got.header.Get("Retry-After") == "" || !got.closed {
		t.Errorf("%+v", got)
	}
}

// TestEndlessBodiesThatShareTheRoom: bodies without an end that all of them together have no room for don't keep one
// another waiting, piece by piece, until their time is over: some give way, and the rest go on.
func TestEndlessBodiesThatShareTheRoom(t *testing.T) {
	const senders, fit = 40, 8
	w := newWorld(t, options{limits: server.Limits{Body: 1 << 20, BodyDisk: fit << 20}})
	statuses, start := make(chan int, senders), make(chan struct{})
	for n := range senders {
		c := w.dial(t)
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Idempotency-Key: an-endless-body\r\nTransfer-Encoding: chunked\r\n\r\n", api.PathTasks, w.key(api.KeyCreate{Mode: task.Test, Account: fmt.Sprintf("sender-%d", n)}))
		go func() {
			piece := "8000\r\n" + strings.Repeat(" ", 32<<10) + "\r\n"
			<-start
			for err := error(nil); err == nil; _, err = io.WriteString(c, piece) {
				time.Sleep(5 * time.Millisecond) // so that they come side by side
			}
		}()
		go func() {
			resp, err := http.ReadResponse(c.in, nil)
			if err != nil {
				statuses <- 0
				return
			}
			_ = resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	sent := time.Now()
	close(start)
	got := map[int]int{}
	for range senders {
		got[<-statuses]++
	}
	if got[413] < fit/2 || got[413]+got[503] != senders {
		t.Errorf("%v, want at least %d that are too large, and no room for the others", got, fit/2)
	}
	if took := time.Since(sent); took > 10*time.Second { // of the two that each waits for room
		t.Errorf("the last was answered after %s", took)
	}
}
