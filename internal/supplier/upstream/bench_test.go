package upstream_test

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"unitask/internal/supplier/upstream"
)

// BenchmarkDo makes exchanges over connections that are kept, 32 a processor at once, with a server that
// answers each write with the same bytes.
func BenchmarkDo(b *testing.B) {
	const size = 871
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sun, 01 Nov 2026 00:00:00 GMT\r\n" +
		"Content-Length: " + strconv.Itoa(size) + "\r\n\r\n" + strings.Repeat("x", size))
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				for in := make([]byte, 4<<10); err == nil; {
					if _, err = c.Read(in); err == nil {
						_, err = c.Write(answer)
					}
				}
			}()
		}
	}()
	c, err := upstream.New(upstream.Config{BaseURL: "http://" + l.Addr().String(), APIKey: func() (string, error) { return "sk-0123456789", nil }})
	if err != nil {
		b.Fatal(err)
	}
	call := upstream.Call{Path: "/v1/chat/completions", Body: []byte(strings.Repeat("x", 200))}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ctx, stop := context.WithTimeout(b.Context(), time.Minute)
			if a, err := c.Do(ctx, call); err != nil || a.Status != http.StatusOK || len(a.Body) != size {
				b.Errorf("%d, %d bytes, %v", a.Status, len(a.Body), err)
			}
			stop()
		}
	})
}
