package upstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestSocketOfBefore ends exchanges on a connection that has had one, in each way in which no answer comes.
func TestSocketOfBefore(t *testing.T) {
	errStop := errors.New("stop")
	timedOut := outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown}
	lost := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		second  func(c net.Conn, cancel func(error)) (goOn bool)
		want    outcome
	}{
		{"canceled", time.Minute, func(_ net.Conn, cancel func(error)) bool { cancel(errStop); return true }, timedOut},
		{"too late", 100 * time.Millisecond, func(net.Conn, func(error)) bool { return true }, timedOut},
		{"closed", time.Minute, func(net.Conn, func(error)) bool { return false }, lost},
		{"reset", time.Minute, func(c net.Conn, _ func(error)) bool { _ = c.(*net.TCPConn).SetLinger(0); return false }, lost},
		{"a head cut off", time.Minute, func(c net.Conn, _ func(error)) bool { _, _ = io.WriteString(c, "HTTP/1.1 2"); return false }, lost},
		{"a body cut off", time.Minute, func(c net.Conn, _ func(error)) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
			return false
		}, outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown, Status: 200}},
		{"byte after byte", time.Minute, func(c net.Conn, _ func(error)) bool {
			for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") {
				_, _ = c.Write([]byte{b})
			}
			return true
		}, outcome{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c, dials := counted(t, upstream.Config{Timeout: tt.timeout, BaseURL: scripted(t, func(c net.Conn, r *http.Request) bool {
				if r.URL.Path == "/second" {
					return tt.second(c, cancel)
				}
				_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
				return true
			})})
			_, err := c.Do(ctx, upstream.Call{Path: "/first"})
			for outcomeOf(err).Code == fault.ProviderTimeout { // if the machine is slow
				_, err = c.Do(ctx, upstream.Call{Path: "/first"})
			}
			if err != nil {
				t.Fatal(err)
			}
			before := dials.Load()
			_, err = c.Do(ctx, upstream.Call{Path: "/second"})
			if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if got := dials.Load() - before; got != 0 {
				t.Errorf("%d connections more, want none", got)
			}
		})
	}
}
