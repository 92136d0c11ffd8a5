package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"

	"unitask/internal/shown"
)

const (
	foldTime = time.Minute // in which a poll that is the same is shown once
	maxFolds = 1000        // polls that are remembered
)

// lineHandler writes a server's log for a person who watches it: a line a request, the polls of a task folded into one
// line a minute. It is safe for concurrent use.
type lineHandler struct {
	t     *terminal
	attrs []slog.Attr

	fold *folds // shared by the handlers that were made of it
}

// folds is the polls that were shown lately, by their words.
type folds struct {
	mu   sync.Mutex
	last map[string]*folded
}

type folded struct {
	shown  time.Time
	unseen int // the same ones since then
}

func newLineHandler(t *terminal) *lineHandler {
	return &lineHandler{t: t, fold: &folds{last: map[string]*folded{}}}
}

// Enabled implements slog.Handler.
func (h *lineHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// WithAttrs implements slog.Handler.
func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lineHandler{t: h.t, attrs: append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...), fold: h.fold}
}

// WithGroup implements slog.Handler. Names of groups are left out.
func (h *lineHandler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := append([]slog.Attr{}, h.attrs...)
	r.Attrs(func(a slog.Attr) bool { attrs = append(attrs, a); return true })
	line := h.event(r, attrs)
	if r.Message == "request" {
		line = h.request(r.Time, attrs)
	}
	if line != "" {
		h.t.above(func() { h.t.note("%s %s", h.t.errStyle.faint.Render(r.Time.Local().Format(time.TimeOnly)), line) })
	}
	return nil
}

// event is a line that is about no request.
func (h *lineHandler) event(r slog.Record, attrs []slog.Attr) string {
	text := oneLine(r.Message)
	switch {
	case r.Level >= slog.LevelError:
		text = h.t.errStyle.bad.Render(text)
	case r.Level >= slog.LevelWarn:
		text = h.t.errStyle.bold.Render(text)
	}
	return text + h.rest(attrs)
}

// rest are attributes as name=value.
func (h *lineHandler) rest(attrs []slog.Attr) string {
	var b strings.Builder
	for _, a := range attrs {
		fmt.Fprintf(&b, " %s=%s", oneLine(a.Key), oneLine(a.Value.Resolve().String()))
	}
	return h.t.errStyle.faint.Render(b.String())
}

// request is a request's line, "" for a poll that was shown a moment ago.
func (h *lineHandler) request(at time.Time, attrs []slog.Attr) string {
	var method, route, code, taskID, key, id string
	var status int64
	var took time.Duration
	for _, a := range attrs {
		switch a.Key {
		case "method":
			method = a.Value.String()
		case "route":
			route = a.Value.String()
		case "status":
			status = a.Value.Int64()
		case "duration_ms":
			took = time.Duration(a.Value.Float64() * float64(time.Millisecond))
		case "code":
			code = a.Value.String()
		case "task_id":
			taskID = a.Value.String()
		case "key_id":
			key = a.Value.String()
		case "request_id":
			id = a.Value.String()
		}
	}
	words := []string{method, strings.TrimPrefix(route, method+" "), code, taskID, key}
	unseen := 0
	if method == "GET" && status < 400 {
		var again bool
		if unseen, again = h.fold.take(strings.Join(words, " "), at); again {
			return ""
		}
	}
	lasted := shown.Duration(took)
	if took < time.Second {
		lasted = fmt.Sprintf("%dms", took.Milliseconds())
	}
	line := fmt.Sprintf("%s %5s %-4s %s", h.status(status), lasted, oneLine(words[0]), oneLine(words[1]))
	if status >= 400 {
		words = append(words, id)
	}
	for _, word := range words[2:] {
		if word != "" {
			line += " " + oneLine(word)
		}
	}
	if unseen > 0 {
		line += h.t.errStyle.faint.Render(fmt.Sprintf(" (%d more before)", unseen))
	}
	return line
}

// status is coloured by its class.
func (h *lineHandler) status(n int64) string {
	style := lipgloss.Style{}
	switch {
	case n >= 500:
		style = h.t.errStyle.bad
	case n >= 400:
		style = h.t.errStyle.bold
	case n >= 200 && n < 300:
		style = h.t.errStyle.good
	}
	return style.Render(fmt.Sprint(n))
}

// take reports whether a poll was shown less than foldTime ago, or how many of the same weren't since.
func (f *folds) take(poll string, at time.Time) (unseen int, again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.last[poll]
	switch {
	case last != nil && at.Sub(last.shown) < foldTime:
		last.unseen++
		return 0, true
	case last != nil:
		unseen = last.unseen
	case len(f.last) >= maxFolds:
		clear(f.last)
	}
	f.last[poll] = &folded{shown: at}
	return unseen, false
}
