package wire_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/wire"
)

// seen is what a client makes of an answer.
type seen struct {
	Failed bool
	Status int
	Header http.Header
	Body   string
}

// FuzzAnswer gives any bytes as an answer, once through a direct connection and once through net/http's
// Transport, which must make the same of it.
func FuzzAnswer(f *testing.F) {
	for _, raw := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.0 200\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n" + zipped("hello"), "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length:5\n\nhel", "HTTP/2.0 200 OK\r\n\r\n",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer func() { _ = theirs.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
					_, _ = io.WriteString(theirs, raw)
				}
			}()
			return ours, nil
		}
		c := newClient(t, wire.Config{BaseURL: "http://supplier.example", Timeout: time.Minute, Dial: dial})
		var direct, std seen
		if s, err := c.Open(t.Context(), wire.Call{Method: http.MethodGet, Path: "/"}); err != nil {
			direct.Failed = true
		} else {
			body, err := io.ReadAll(s)
			direct = seen{err != nil, s.Status, s.Header, string(body)}
			s.Close()
		}
		transport := &http.Transport{DialContext: dial, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: false}
		defer transport.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://supplier.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := transport.RoundTrip(req); err != nil {
			std.Failed = true
		} else {
			body, err := io.ReadAll(resp.Body)
			std = seen{err != nil, resp.StatusCode, resp.Header, string(body)}
			_ = resp.Body.Close()
		}
		if diff := cmp.Diff(std, direct); diff != "" {
			t.Errorf("%q (-net/http +direct):\n%s", raw, diff)
		}
	})
}
