package main

import (
	"bytes"
	"io"
	"log/slog"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
)

// TestServeLog: what a person sees who watches a server, with the polls of a task folded.
func TestServeLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(newLineHandler(&terminal{err: &out, errStyle: newStyles(io.Discard), width: func() int { return 200 }}))
		request := func(method, route string, status int, more ...slog.Attr) {
			attrs := append([]slog.Attr{
				slog.String("method", method), slog.String("route", route), slog.Int("status", status),
				slog.String("request_id", "req_1"), slog.Float64("duration_ms", 431), slog.String("client", "127.0.0.1"),
			}, more...)
			log.LogAttrs(t.Context(), slog.LevelInfo, "request", attrs...)
		}
		first, second := slog.String("task_id", "task_1"), slog.String("task_id", "task_2")
		request("POST", "POST /api/ai/v1/tasks", 202, first, slog.String("key_id", "key_1"))
		request("POST", "POST /api/ai/v1/tasks", 202, first, slog.String("key_id", "key_1"))
		for range 3 {
			request("GET", "GET /api/ai/v1/tasks/{task_id}", 200, first)
			request("GET", "GET /api/ai/v1/tasks/{task_id}", 200, second)
			time.Sleep(time.Second)
		}
		request("GET", "GET /api/ai/v1/tasks/{task_id}", 404, first, slog.String("code", "NOT_FOUND"))
		request("GET", "GET /api/ai/v1/tasks/{task_id}", 404, first, slog.String("code", "NOT_FOUND"))
		time.Sleep(foldTime)
		request("GET", "GET /api/ai/v1/tasks/{task_id}", 200, first)
		log.With("a", "b").Warn("supplier\x1b[2J tripped", "supplier", "x\ny")
		log.Debug("unseen")
		got := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `).ReplaceAllString(out.String(), "")
		want := `202  431ms POST   /api/ai/v1/tasks task_1 key_1
202  431ms POST   /api/ai/v1/tasks task_1 key_1
200  431ms GET    /api/ai/v1/tasks/task_1
200  431ms GET    /api/ai/v1/tasks/task_2
404  431ms GET    /api/ai/v1/tasks/task_1 NOT_FOUND req_1
404  431ms GET    /api/ai/v1/tasks/task_1 NOT_FOUND req_1
200  431ms GET    /api/ai/v1/tasks/task_1 (2 more before)
supplier[2J tripped a=b supplier=x y
`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// TestLogFitsTheTerminal: a narrow terminal loses the key of a line and what matters less, never the task or the code.
func TestLogFitsTheTerminal(t *testing.T) {
	const key, job = "key_06h1jxjtx5rqzchvtgq089p6s0", "task_06h1jxjtyj1ykgsfazjzpjq5zr"
	s := newStyles(io.Discard)
	request := api.RequestRecord{Method: "POST", Route: "POST /api/ai/v1/tasks", Status: 200, DurationMS: 4100, TaskID: job, KeyID: key}
	end := api.TaskEnd{
		ID: job, KeyID: key, Capability: "text.chat", Mode: "test", State: "failed", Code: "CAPACITY_EXHAUSTED", Supplier: "sandbox-b", Attempts: 8, Cost: "0", DurationMS: 2100,
	}
	for width, want := range map[int][2]string{
		200: {
			"200   4.1s POST   /api/ai/v1/tasks " + job + " " + key,
			"failed 2.1s text.chat " + job + " test CAPACITY_EXHAUSTED sandbox-b " + key + " 8 attempts $0",
		},
		91: {
			"200   4.1s POST   /api/ai/v1/tasks " + job + " key_…89p6s0",
			"failed 2.1s text.chat " + job + " CAPACITY_EXHAUSTED sandbox-b $0",
		},
		71: {
			"200   4.1s POST   /api/ai/v1/tasks " + job,
			"failed 2.1s text.chat " + job + " CAPACITY_EXHAUSTED $0",
		},
	} {
		got := [2]string{newFolds().request(s, width, request), taskLine(s, width, end)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
}

// TestServeLogIsBounded: polls of any number of tasks take no more memory.
func TestServeLogIsBounded(t *testing.T) {
	f := &folds{last: map[string]*folded{}}
	for i := range 5 * maxFolds {
		f.take(string(rune(i)), time.Time{})
	}
	if n := len(f.last); n > maxFolds {
		t.Errorf("%d polls are remembered, want at most %d", n, maxFolds)
	}
}
