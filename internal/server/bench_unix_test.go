//go:build unix

package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/server"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// taken is a log that costs no more than to be told.
type taken struct{}

func (taken) Enabled(context.Context, slog.Level) bool { return true }
func (taken) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(slog.Attr) bool { return true })
	return nil
}
func (h taken) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h taken) WithGroup(string) slog.Handler      { return h }

// created is a path under which a creation ends at once, without the gateway, and the request for it.
const created = "/bench"

func newBench(b *testing.B) (w *world, r *http.Request, body string) {
	w = newWorld(b, options{
		logger: slog.New(taken{}), defaults: gate.Defaults{CreatesPerMinute: 1 << 30}, onRequest: func(server.Request) {},
		now: store.NewClock(time.Now).Past,
	})
	now := time.Now().UTC()
	w.API.HandleCreated(created, task.Task{
		ID: task.NewID(task.PrefixTask, now), Capability: "text.chat", Scope: task.Scope{Mode: task.Live}, Sync: true, State: task.Succeeded, Revision: 2,
		CreatedAt: now, UpdatedAt: now, FinishedAt: &now, Cost: 13_000,
		Output: &task.Output{JSON: fmt.Appendf(nil, `{"text":%q,"finish_reason":"stop"}`, strings.Repeat("The capital of France is Paris. ", 20))},
		Usage:  &task.Usage{InputTokens: 17, OutputTokens: 140},
	})
	body = chat("In one sentence: what is the capital of France?")
	r = fixture.Must(http.NewRequestWithContext(b.Context(), http.MethodPost, w.base+created, strings.NewReader(body)))(b)
	r.Header = http.Header{
		"Authorization": {"Bearer " + w.test}, "Content-Type": {"application/json"}, api.HeaderIdempotencyKey: {"a-key-of-a-benchmark"},
	}
	return w, r, body
}

// sink is a response that goes nowhere.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header            { return s.header }
func (s *sink) WriteHeader(status int)         { s.status = status }
func (s *sink) Write(b []byte) (int, error)    { return len(b), nil }
func (*sink) SetReadDeadline(time.Time) error  { return nil }
func (*sink) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkHandler answers a creation without net/http and the gateway: the server's part and the gate's.
func BenchmarkHandler(b *testing.B) {
	w, r, body := newBench(b)
	reader := strings.NewReader(body)
	r.Body = io.NopCloser(reader)
	out := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		clear(out.header)
		w.API.ServeHTTP(out, r)
	}
	if out.status != http.StatusOK {
		b.Fatalf("status %d", out.status)
	}
}

// BenchmarkSocket answers the same over a connection; cpu-ns is the whole process's.
func BenchmarkSocket(b *testing.B) {
	w, r, _ := newBench(b)
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		b.Fatal(err)
	}
	conn := fixture.Must((&net.Dialer{}).DialContext(b.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(b)
	defer func() { _ = conn.Close() }()
	answer := make([]byte, 4<<10)
	var n int
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		if _, err := conn.Write(raw.Bytes()); err != nil {
			b.Fatal(err)
		}
		var err error
		if n, err = conn.Read(answer); err != nil || !bytes.HasSuffix(answer[:n], []byte("}\n")) {
			b.Fatalf("not one piece: %s %v", answer[:n], err)
		}
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
	if !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 200 OK\r\n")) {
		b.Fatalf("%s", answer[:n])
	}
}

// cpu returns the process's CPU time.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
