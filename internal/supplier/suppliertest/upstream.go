package suppliertest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"unitask/internal/supplier"
)

const (
	secretKey = "suppliertest-secret-key-1"
	// leak is in every failing answer; a supplier's text must not get into an error.
	leak = "suppliertest-leak"
	// The limit of an exchange that should end long before, by its context or its answer.
	exchangeTimeout = time.Minute
)

func fixedKey() (string, error) { return secretKey, nil }

// Respond returns a handler that gives one canned answer. headers alternate names and values.
func Respond(status int, contentType, body string, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for pair := range slices.Chunk(headers, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// JSON is Respond with a JSON body.
func JSON(status int, body string, headers ...string) http.Handler {
	return Respond(status, "application/json", body, headers...)
}

// Events is Respond with server-sent events, one for each of data.
func Events(data ...string) http.Handler {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return Respond(http.StatusOK, "text/event-stream", b.String())
}

// received is one request as the upstream saw it.
type received struct {
	Method string
	Header http.Header
	Key    string
	Body   []byte
}

// server is an upstream that records its requests.
type server struct {
	URL string

	mu       sync.Mutex
	requests []received
}

// serve starts an upstream that ends with the test. unread keeps it from reading the bodies.
func serve(t *testing.T, h Harness, answer http.Handler, unread bool) *server {
	t.Helper()
	checkLeaks(t)
	s := &server{}
	key := h.Upstream.Key
	if key == nil {
		key = func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := received{Method: r.Method, Header: r.Header, Key: key(r)}
		if !unread {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			got.Body = body
			hold(t, r, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		s.mu.Lock()
		s.requests = append(s.requests, got)
		s.mu.Unlock()
		answer.ServeHTTP(w, r)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	s.URL = srv.URL
	return s
}

func (s *server) received() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// checkLeaks fails the test if goroutines outlive its later clean-ups.
func checkLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// newAdapter makes an adapter as the harness configures it.
func newAdapter(t *testing.T, h Harness, baseURL string, key supplier.KeyFunc) supplier.Adapter {
	t.Helper()
	c := h.Config
	c.APIKey, c.Timeout = key, exchangeTimeout
	if c.Name == "" {
		c.Name = "suppliertest"
	}
	if h.Upstream != nil {
		c.BaseURL = baseURL + Base(h.Kind)
	}
	a, err := h.Kind.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// kill resets a connection in the middle of a request.
func kill(w http.ResponseWriter) {
	conn := hijack(w)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// write sends raw bytes in the place of an answer and ends the connection.
func write(w http.ResponseWriter, raw string) {
	conn := hijack(w)
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // the upstreams here speak HTTP/1.1
	}
	return conn
}
