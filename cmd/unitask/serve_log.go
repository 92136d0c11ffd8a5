package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"unitask/internal/api"
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

func newFolds() *folds { return &folds{last: map[string]*folded{}} }

type folded struct {
	shown  time.Time
	unseen int // the same ones since then
}

func newLineHandler(t *terminal) *lineHandler {
	return &lineHandler{t: t, fold: newFolds()}
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
	r := api.RequestRecord{At: api.Timestamp{Time: at}}
	texts := map[string]*string{
		"method": &r.Method, "route": &r.Route, "code": (*string)(&r.Code), "task_id": &r.TaskID, "key_id": &r.KeyID, "request_id": &r.ID,
	}
	for _, a := range attrs {
		switch into := texts[a.Key]; {
		case into != nil:
			*into = a.Value.String()
		case a.Key == "status":
			r.Status = int(a.Value.Int64())
		case a.Key == "duration_ms":
			r.DurationMS = a.Value.Float64()
		}
	}
	return h.fold.request(h.t.errStyle, h.t.width()-clockWidth, r)
}

// request is a request's line in so many columns if that is possible, "" for a poll that was shown a moment ago.
func (f *folds) request(s styles, width int, r api.RequestRecord) string {
	words := []string{oneLine(r.Method), oneLine(strings.TrimPrefix(r.Route, r.Method+" ")), oneLine(string(r.Code)), oneLine(r.TaskID), oneLine(r.KeyID)}
	unseen := 0
	if r.Method == http.MethodGet && r.Status < http.StatusBadRequest {
		var again bool
		if unseen, again = f.take(strings.Join(words, " "), r.At.Time); again {
			return ""
		}
	}
	if path := strings.Replace(words[1], "{task_id}", words[3], 1); words[3] != "" && path != words[1] {
		words[1], words[3] = path, ""
	}
	words[1] = fmt.Sprintf("%s %6s %-6s %s", statusStyle(s, r.Status).Render(strconv.Itoa(r.Status)), answeredIn(r.DurationMS), words[0], words[1])
	if r.Status >= http.StatusBadRequest {
		words = append(words, oneLine(r.ID))
	}
	if unseen > 0 {
		words = append(words, s.faint.Render(fmt.Sprintf("(%d more before)", unseen)))
	}
	return fitted(width, words[1:], 3)
}

const (
	clockWidth = len("15:04:05 ")
	idTail     = 6 // of a key's id that is cut
)

// fitted joins the words of a line. If they need more columns it cuts the key's id, which is word key, down to its end,
// then leaves it out, and then the spare words, one after another.
func fitted(width int, words []string, key int, spare ...int) string {
	join := func() string {
		var line []string
		for _, word := range words {
			if word != "" {
				line = append(line, word)
			}
		}
		return strings.Join(line, " ")
	}
	fits := func() bool { return ansi.StringWidth(join()) <= width }
	if id := words[key]; len(id) > idTail && !fits() {
		words[key] = "key_…" + id[len(id)-idTail:]
	}
	for _, i := range append([]int{key}, spare...) {
		if !fits() {
			words[i] = ""
		}
	}
	return join()
}

// answeredIn says a duration of some milliseconds.
func answeredIn(ms float64) string {
	if took := time.Duration(ms * float64(time.Millisecond)); took >= time.Second {
		return shown.Duration(took)
	}
	return fmt.Sprintf("%.0fms", ms)
}

// statusStyle colours a status by its class.
func statusStyle(s styles, n int) lipgloss.Style {
	switch {
	case n >= http.StatusInternalServerError:
		return s.bad
	case n >= http.StatusBadRequest:
		return s.bold
	case n >= http.StatusOK && n < http.StatusMultipleChoices:
		return s.good
	}
	return lipgloss.Style{}
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
