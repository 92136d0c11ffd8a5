package http1_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/upstream/http1"
)

// reading is a client's reading of an answer.
type reading struct {
	Failed bool
	Status int
	Fields map[string]string // the first values
	Body   string
}

func (s *reading) read(status int, body io.Reader, names []string, get func(name string) string) {
	s.Status, s.Fields = status, map[string]string{}
	for _, name := range names {
		if v := get(name); v != "" {
			s.Fields[textproto.CanonicalMIMEHeaderKey(name)] = v
		}
	}
	b, err := io.ReadAll(body)
	s.Failed, s.Body = err != nil, string(b)
}

// namesIn returns whatever the bytes of an answer may name a field.
func namesIn(raw string) []string {
	names := []string{"Cache-Control", "Content-Encoding", "Content-Length"}
	for line := range strings.Lines(raw) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// answering returns a dial to a server that answers /first with the parts, a write each, and anything else with a
// body of its own. It ends a connection after an answer if last says so.
func answering(last bool, first ...string) func(context.Context, string, string) (net.Conn, error) {
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		for in := bufio.NewReader(c); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			parts := []string{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"}
			if r.URL.Path == "/first" {
				parts = first
			}
			for _, part := range parts {
				if _, err := io.WriteString(c, part); err != nil {
					return
				}
			}
			if last {
				return
			}
		}
	}
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go serve(theirs)
		return ours, nil
	}
}

// FuzzAnswer gives any bytes as an answer, once through Transport and once through net/http's Transport,
// which must read the same, except for a switch to a protocol that wasn't requested: that is no answer. No part of
// the bytes may become the answer to the next request.
func FuzzAnswer(f *testing.F) {
	for _, raw := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.0 200\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n" + zipped("hello"), "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length:5\n\nhel", "HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/1.1 429 Slow\r\ncontent-length: 05 \r\nRetry-After:\t3 \r\nX-Y: \xff\r\nx-y: z\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nX: a\x00\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nPragma: no-cache\r\n\r\nhi", "HTTP/1.1 999\r\nX:\rY\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTrailer: X\r\n\r\nhi", "HTTP/1.1 +20 OK\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", strings.Repeat("HTTP/1.1 100\r\n\r\n", 9) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 101\r\n\r\n",
	} {
		f.Add(raw, uint16(0))
		f.Add(raw, uint16(20))
	}
	f.Fuzz(func(t *testing.T, raw string, cut uint16) {
		names, dial := namesIn(raw), answering(true, raw)
		if 0 < cut && int(cut) < len(raw) {
			dial = answering(true, raw[:cut], raw[cut:])
		}
		std, delimited := throughTransport(t, dial, names)
		if std.Status == http.StatusSwitchingProtocols {
			std, delimited = reading{Failed: true}, false
		}
		if diff := cmp.Diff(std, newHost(t, dial).get("/first", names)); diff != "" {
			t.Fatalf("%q (-net/http +http1):\n%s", raw, diff)
		}
		if !delimited || std.Failed || len(raw) > 4<<10 {
			return // it takes the connection's end to end it, or it doesn't arrive at once
		}
		h := newHost(t, answering(false, raw))
		for _, call := range [][2]string{{"/first", std.Body}, {"/second", "second"}} {
			if got := h.get(call[0], nil); got.Failed || got.Body != call[1] {
				t.Errorf("%q: %s gives %+v, want the body %q", raw, call[0], got, call[1])
			}
		}
	})
}

// host is a transport to a host.
type host struct {
	t         *testing.T
	transport *http1.Transport
}

func newHost(t *testing.T, dial http1.Dialer) host {
	t.Helper()
	transport, err := http1.New(&url.URL{Scheme: "http", Host: "supplier.example"}, dial)
	if err != nil {
		t.Fatal(err)
	}
	return host{t, transport}
}

func (h host) get(path string, names []string) (got reading) {
	var answer http1.Response
	r := http1.Request{Method: http.MethodGet, Target: path, Fields: http1.NewFields("", http.Header{})}
	if h.transport.Carry(h.t.Context(), r, time.Minute, &answer) != nil {
		return reading{Failed: true}
	}
	defer func() { _ = answer.Body.Close() }()
	got.read(answer.Status, answer.Body, names, answer.Header.Get)
	return got
}

// throughTransport asks for /first; delimited says whether the answer has its length.
func throughTransport(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), names []string) (got reading, delimited bool) {
	t.Helper()
	transport := &http.Transport{DialContext: dial, MaxResponseHeaderBytes: 64 << 10}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://supplier.example/first", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return reading{Failed: true}, false
	}
	defer func() { _ = resp.Body.Close() }()
	delimited = resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0
	got.read(resp.StatusCode, resp.Body, names, resp.Header.Get)
	return got, delimited
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.String()
}
