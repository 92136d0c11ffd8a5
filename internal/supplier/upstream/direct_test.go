package upstream_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// counted is newClient with a count of the connections it opens.
func counted(t *testing.T, c upstream.Config) (*upstream.Client, *atomic.Int64) {
	t.Helper()
	dials, dial := new(atomic.Int64), c.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dial(ctx, network, address)
	}
	return newClient(t, c), dials
}

// scripted returns the base URL of a server that reads requests and gives each the raw answer, as long
// as answer says that it goes on with the connection.
func scripted(t *testing.T, answer func(c net.Conn, r *http.Request) (goOn bool)) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for in := bufio.NewReader(c); ; {
					r, err := http.ReadRequest(in)
					if err != nil || !answer(c, r) {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.String()
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// TestAnswers gives two requests the same raw answer and looks at the result, and at whether the connection was kept
// for the second.
func TestAnswers(t *testing.T) {
	lost := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	cut := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown, Status: 200}
	text := zipped("hello")
	tests := []struct {
		name, raw string
		body      string
		want      outcome
		dials     int64
	}{
		{"a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 1},
		{"no body", "HTTP/1.1 204 No Content\r\n\r\n", "", outcome{}, 1},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hel") + chunk("lo") + "0\r\n\r\n", "hello", outcome{}, 1},
		{"a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hello") + "0\r\nX: y\r\n\r\n", "hello", outcome{}, 1},
		{"zipped", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text, "hello", outcome{}, 1},
		{"zipped chunks", "HTTP/1.1 200 OK\r\nContent-Encoding: GZIP\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(text[:9]) + chunk(text[9:]) + "0\r\n\r\n", "hello", outcome{}, 1},
		{"zipped, cut", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n" + text[:12], "", cut, 1},
		{"no gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "", cut, 1},
		{"early hints", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 1},
		{"many hints", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 9) + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 1},
		{"hints without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 3000), "", lost, 2},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "", lost, 2},
		{"the last", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 2},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 2},
		{"more than its length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n", "hello", outcome{}, 2},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "", lost, 2},
		{"two equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 1},
		{"a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", "", lost, 2},
		{"a signed length", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "", lost, 2},
		{"an empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello", "", lost, 2},
		{"a length beyond numbers", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello", "", lost, 2},
		{"a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hello") + "0\r\n\r\n", "hello", outcome{}, 1},
		{"chunks and a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n" + chunk("hello") + "0\r\n\r\n", "hello", outcome{}, 1},
		{"chunks twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hello") + "0\r\n\r\n", "", lost, 2},
		{"another encoding and a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", "", lost, 2},
		{"more than its chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hello") + "0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "hello", outcome{}, 2},
		{"more than nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "", outcome{}, 2},
		{"a folded field", "HTTP/1.1 200 OK\r\nX: y\r\n Content-Length: 2\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 1},
		{"a folded first field", "HTTP/1.1 200 OK\r\n Content-Length: 2\r\nContent-Length: 5\r\n\r\nhello", "", lost, 2},
		{"a space in a name", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\nContent-Length: 5\r\n\r\nhello", "hello", outcome{}, 1},
		{"an illegal name", "HTTP/1.1 200 OK\r\nX\x00: y\r\nContent-Length: 5\r\n\r\nhello", "", lost, 2},
		{"an illegal value", "HTTP/1.1 200 OK\r\nX: y\x00\r\nContent-Length: 5\r\n\r\nhello", "", lost, 2},
		{"a lone CR", "HTTP/1.1 200 OK\r\nX: y\rContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello", "", lost, 2},
		{"lone LFs", "HTTP/1.1 200 OK\nX: y\nContent-Length: 5\n\nhello", "hello", outcome{}, 1},
		{"no colon", "HTTP/1.1 200 OK\r\nX\r\nContent-Length: 5\r\n\r\nhello", "", lost, 2},
		{"a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 100), "", lost, 2},
		{"no HTTP", "220 mail.example ESMTP\r\n", "", lost, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, dials := counted(t, upstream.Config{Timeout: 10 * time.Second, BaseURL: scripted(t, func(c net.Conn, r *http.Request) bool {
				_, _ = io.Copy(io.Discard, r.Body)
				_, err := io.WriteString(c, tt.raw)
				return err == nil
			})})
			for range 2 {
				a, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: []byte("{}")})
				if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" || string(a.Body) != tt.body {
					t.Errorf("body %q, outcome (-want +got):\n%s", a.Body, diff)
				}
			}
			if got := dials.Load(); got != tt.dials {
				t.Errorf("%d connections, want %d", got, tt.dials)
			}
		})
	}
}

// TestGivenUp gives a connection up whose answer wasn't read.
func TestGivenUp(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer srv.Close()
	c, dials := counted(t, upstream.Config{BaseURL: srv.URL})
	for range 2 {
		s, err := c.Open(t.Context(), upstream.Call{Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		s.Close()
		if n, err := s.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, io.EOF) {
			t.Errorf("a closed stream gives %d bytes, %v", n, err)
		}
	}
	if got := dials.Load(); got != 2 {
		t.Errorf("%d connections, want 2", got)
	}
}

// TestClosedMeanwhile has the server close the connection after each answer without a word: the next request must not
// go there, because its outcome would be unknown.
func TestClosedMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name  string
		shape func(net.Conn) net.Conn
	}{
		{"a socket", func(c net.Conn) net.Conn { return c }},
		{"no socket", func(c net.Conn) net.Conn { return struct{ net.Conn }{c} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			closed := make(chan struct{}, 1)
			base := scripted(t, func(c net.Conn, r *http.Request) bool {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
				_ = c.Close()
				closed <- struct{}{}
				return false
			})
			c, dials := counted(t, upstream.Config{BaseURL: base, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return tt.shape(conn), nil
			}})
			for range 20 {
				if _, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
				<-closed
			}
			if got := dials.Load(); got != 20 {
				t.Errorf("%d connections, want 20", got)
			}
		})
	}
}

// TestIdle closes connections that were idle for a while, and not before.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		c, dials := counted(t, upstream.Config{BaseURL: "http://supplier.example", Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			open.Add(1)
			go func() {
				defer open.Add(-1)
				in := bufio.NewReader(theirs)
				for {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					if _, err := io.WriteString(theirs, "HTTP/1.1 204 No Content\r\n\r\n"); err != nil {
						return
					}
				}
			}()
			return ours, nil
		}})
		for _, step := range []struct {
			pause       time.Duration
			calls       int
			dials, open int64
		}{{0, 3, 3, 3}, {3 * time.Second, 1, 3, 3}, {2 * time.Second, 0, 3, 1}, {3 * time.Second, 0, 3, 0}, {0, 2, 5, 2}, {time.Hour, 0, 5, 0}} {
			time.Sleep(step.pause)
			start := make(chan struct{})
			for range step.calls {
				go func() {
					s, err := c.Open(t.Context(), upstream.Call{Path: "/"})
					<-start
					if err == nil {
						_, err = s.Answer()
					}
					if err != nil {
						t.Error(err)
					}
				}()
			}
			synctest.Wait()
			time.Sleep(time.Millisecond) // as long as an idle pipe is listened to
			synctest.Wait()
			close(start)
			synctest.Wait()
			if got := dials.Load(); got != step.dials || open.Load() != step.open {
				t.Errorf("after %s: %d connections opened and %d open, want %d and %d", step.pause, got, open.Load(), step.dials, step.open)
			}
		}
	})
}

// TestTimeOfItsOwn gives a request on a connection that was used before as much time as the first had.
func TestTimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dials := counted(t, upstream.Config{BaseURL: "http://supplier.example", Timeout: 3 * time.Second, Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				for in := bufio.NewReader(theirs); ; {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					time.Sleep(2 * time.Second)
					_, _ = io.WriteString(theirs, "HTTP/1.1 204 No Content\r\n\r\n")
				}
			}()
			return ours, nil
		}})
		for range 3 {
			if _, err := c.Do(t.Context(), upstream.Call{Path: "/"}); err != nil {
				t.Error(err)
			}
		}
		if got := dials.Load(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
		time.Sleep(time.Minute)
	})
}

// TestLongRequest sends more than a socket holds.
func TestLongRequest(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<19)
	t.Run("read", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, long) || r.ContentLength != int64(len(long)) {
				t.Errorf("%d bytes came, of %d, %v", len(got), r.ContentLength, err)
			}
		}))
		defer srv.Close()
		c := newClient(t, upstream.Config{BaseURL: srv.URL})
		for range 3 {
			if _, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: long}); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("refused unread", func(t *testing.T) {
		c, dials := counted(t, upstream.Config{Timeout: 10 * time.Second, BaseURL: scripted(t, func(c net.Conn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
			<-t.Context().Done()
			return false
		})})
		for n := range int64(2) {
			a, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: long})
			if err != nil || a.Status != http.StatusRequestEntityTooLarge || string(a.Body) != "no" || dials.Load() != n+1 {
				t.Errorf("%d %q on connection %d, %v", a.Status, a.Body, dials.Load(), err)
			}
		}
	})
	t.Run("nobody reads", func(t *testing.T) {
		// As much time as a busy machine needs to begin to send: before that the outcome is another.
		c := newClient(t, upstream.Config{Timeout: 3 * time.Second, BaseURL: scripted(t, func(net.Conn, *http.Request) bool {
			<-t.Context().Done()
			return false
		})})
		_, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: long})
		if diff := cmp.Diff(outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown}, outcomeOf(err)); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
	})
}

// TestCanceled ends each part of an exchange with its context.
func TestCanceled(t *testing.T) {
	errStop := errors.New("stop")
	for _, tt := range []struct {
		name string
		head string // the bytes before the pause
		want outcome
	}{
		{"before the answer", "", outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown}},
		{"in its head", "HTTP/1.1 200 OK\r\nContent-", outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown}},
		{"in its body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown, Status: 200}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := piped(t, time.Hour, func(c net.Conn) {
					_, _ = io.WriteString(c, tt.head)
					_, _ = io.Copy(io.Discard, c)
				})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(errStop) })
				start := time.Now()
				_, err := c.Do(ctx, upstream.Call{Path: "/", Body: []byte("{}")})
				if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" || !errors.Is(err, errStop) || time.Since(start) != time.Second {
					t.Errorf("after %s: %v (-want +got):\n%s", time.Since(start), err, diff)
				}
				_, err = c.Do(ctx, upstream.Call{Path: "/"})
				if diff := cmp.Diff(outcome{Code: fault.ProviderTimeout, Sent: supplier.NotSent}, outcomeOf(err)); diff != "" {
					t.Errorf("a call started too late (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestHost tells the server the name that the base URL has.
func TestHost(t *testing.T) {
	errDialled := errors.New("dialled")
	for _, tt := range []struct{ base, want string }{
		{"http://supplier.example", "supplier.example:80"},
		{"https://supplier.example", "supplier.example:443"},
		{"http://Supplier_1:8080", "Supplier_1:8080"},
		{"http://[::1]", "[::1]:80"},
		{"https://bücher.example:8443", "xn--bcher-kva.example:8443"},
	} {
		var got string
		c := newClient(t, upstream.Config{BaseURL: tt.base, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			got = address
			return nil, errDialled
		}})
		if _, err := c.Do(t.Context(), upstream.Call{Path: "/"}); !errors.Is(err, errDialled) && supplier.AsError(err).Sent != supplier.NotSent {
			t.Errorf("%s: %v", tt.base, err)
		}
		if got != tt.want {
			t.Errorf("%s: dialled %s, want %s", tt.base, got, tt.want)
		}
	}
}
