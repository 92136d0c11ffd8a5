package node

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/server"
	"unitask/internal/tail"
)

// sink is the writer of a logger.
type sink struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *sink) lines() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), "\n")
}

func TestBufferedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out sink
		log, flush := NewLogger(&out)
		check := func(when string, want int) {
			t.Helper()
			if got := out.lines(); got != want {
				t.Errorf("%s: %d lines, want %d", when, got, want)
			}
		}
		log.Info("one")
		check("at once", 0)
		time.Sleep(logDelay)
		synctest.Wait()
		check("after the delay", 1)
		log.Info("two")
		log.With(slog.String("a", "b")).WithGroup("g").Error("three")
		check("after an error", 3)
		log.Info("four")
		flush()
		check("at the end", 4)
		time.Sleep(logDelay)
	})
}

func BenchmarkLog(b *testing.B) {
	log, flush := NewLogger(io.Discard)
	defer flush()
	ctx := context.Background()
	for b.Loop() {
		log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", "POST"), slog.String("route", "/api/ai/v1/tasks"),
			slog.Int("status", 200), slog.String("request_id", "req_03e6nkxc02x3t04zxxswqtkem4"), slog.Float64("duration_ms", 12.345),
			slog.String("task_id", "task_03e6nkxc02x3t04zxxswqtkem4"), slog.String("key_id", "key_03e6nkxc02x3t04zxxswqtkem4"))
	}
}

// TestFollowersSeeTheEnd: a request stands among the events at the time of its answer, and says itself when it came.
func TestFollowersSeeTheEnd(t *testing.T) {
	came := time.Date(2026, 11, 26, 9, 8, 7, 0, time.UTC)
	latest := tail.New(func() time.Time { return came })
	page, err := latest.Since("")
	if err != nil {
		t.Fatal(err)
	}
	tellRequest(latest, server.Request{ID: "req_1", At: came, Took: 4 * time.Second, Route: "POST /api/ai/v1/tasks"})
	page, err = latest.Since(page.Next)
	if err != nil || len(page.Data) != 1 {
		t.Fatalf("%d events, %v", len(page.Data), err)
	}
	if e := page.Data[0]; !e.At.Equal(came.Add(4*time.Second)) || !e.Request.At.Equal(came) {
		t.Errorf("at %s, the request came at %s", e.At, e.Request.At)
	}
}
