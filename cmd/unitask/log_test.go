package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sink is what a logger writes to.
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

func TestLateLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out sink
		log, flush := newLogger(&terminal{err: &out})
		check := func(when string, want int) {
			t.Helper()
			if got := out.lines(); got != want {
				t.Errorf("%s: %d lines, want %d", when, got, want)
			}
		}
		log.Info("one")
		check("at once", 0)
		time.Sleep(lateDelay)
		synctest.Wait()
		check("after the delay", 1)
		log.Info("two")
		log.With(slog.String("a", "b")).WithGroup("g").Error("three")
		check("after an error", 3)
		log.Info("four")
		flush()
		check("at the end", 4)
		time.Sleep(lateDelay)
	})
}

// TestLogLines: a line says what package slog would write, whichever of the two writes it.
func TestLogLines(t *testing.T) {
	var out, standard sink
	log, flush := newLogger(&terminal{err: &out})
	want := slog.NewJSONHandler(&standard, nil)
	for _, attrs := range [][]slog.Attr{
		nil,
		{slog.String("a", ""), slog.String("b", "\"\\\n\x7f\u2028\xff<é>"), slog.Int("c", -1), slog.Float64("d", 0.25), slog.Float64("e", 1e-9)},
		{slog.Bool("a", true), slog.Any("b", []int{1}), slog.Group("c", slog.Int("d", 1)), slog.Duration("e", time.Second)},
		{slog.String("a", "before"), slog.Any("b", nil)},
	} {
		for _, level := range []slog.Level{slog.LevelInfo, slog.LevelWarn} {
			for _, at := range []time.Time{time.Unix(1_790_000_000, 123_456_700), time.Unix(1_790_000_000, 0).UTC()} {
				r := slog.NewRecord(at, level, "a message", 0)
				r.AddAttrs(attrs...)
				if err := errors.Join(log.Handler().Handle(context.Background(), r), want.Handle(context.Background(), r)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	flush()
	if diff := cmp.Diff(decoded(t, standard.text.String()), decoded(t, out.text.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func decoded(t *testing.T, lines string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

func BenchmarkLog(b *testing.B) {
	log, flush := newLogger(&terminal{err: io.Discard})
	defer flush()
	ctx := context.Background()
	for b.Loop() {
		log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", "POST"), slog.String("route", "/api/ai/v1/tasks"),
			slog.Int("status", 200), slog.String("request_id", "req_03e6nkxc02x3t04zxxswqtkem4"), slog.Float64("duration_ms", 12.345),
			slog.String("task_id", "task_03e6nkxc02x3t04zxxswqtkem4"), slog.String("key_id", "key_03e6nkxc02x3t04zxxswqtkem4"))
	}
}
