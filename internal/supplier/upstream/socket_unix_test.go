//go:build unix

package upstream_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestSentInPart: a request whose beginning alone found room on a connection that has had an exchange counts as
// sent, for the supplier may make something of that.
func TestSentInPart(t *testing.T) {
	narrow := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1) })
		if failed != nil {
			return failed
		}
		return err
	}}
	l, err := narrow.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = c.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
		}
		_, _ = c.Read(make([]byte, 1)) // of the second request
		cancel()
		<-t.Context().Done()
		_ = c.Close()
	}()
	c, dials := counted(t, upstream.Config{BaseURL: "http://" + l.Addr().String(), Timeout: time.Minute, Dial: dialNarrow})
	if _, err := c.Do(t.Context(), upstream.Call{Method: http.MethodGet, Path: "/first"}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(ctx, upstream.Call{Path: "/second", Body: make([]byte, 32<<10)})
	want := outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown}
	if diff := cmp.Diff(want, outcomeOf(err)); diff != "" || dials.Load() != 1 {
		t.Errorf("outcome over %d connections (-want +got):\n%s", dials.Load(), diff)
	}
}

// dialNarrow opens a connection with hardly any room for unread bytes.
func dialNarrow(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(1)
	}
	return c, err
}
