package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"unitask/internal/jsonwrite"
)

// newLogger writes for people on a terminal, for machines elsewhere: there a moment late, because a
// line a request would cost a system call a request. Warnings and errors, and all before them, are
// written at once. flush writes what is left.
func newLogger(t *terminal) (log *slog.Logger, flush func()) {
	if t.errTTY {
		return slog.New(slog.NewTextHandler(t.err, nil)), func() {}
	}
	late := &lateWriter{out: bufio.NewWriterSize(t.err, lateRoom)}
	return slog.New(&lateHandler{slog.NewJSONHandler(late, nil), late, true}), late.flush
}

const (
	lateRoom  = 32 << 10 // bytes that may wait
	lateDelay = 100 * time.Millisecond
)

// lateHandler flushes the writer behind it after whatever matters. The lines of requests, which are nearly all,
// it writes itself, at a third of the cost.
type lateHandler struct {
	slog.Handler
	late *lateWriter
	bare bool // it has neither attributes nor groups of its own
}

// Handle implements slog.Handler.
func (h *lateHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.bare && r.Level == slog.LevelInfo && h.plain(r) {
		return nil
	}
	err := h.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo {
		h.late.flush()
	}
	return err
}

// plain writes a record whose attributes are strings and numbers, as slog.JSONHandler would; false where it has others.
// Their keys are constants that need no escaping.
func (h *lateHandler) plain(r slog.Record) bool {
	w := lines.Get().(*jsonwrite.Writer)
	defer lines.Put(w)
	w.Reset()
	w.Begin('{')
	w.Name(slog.TimeKey)
	w.Time(r.Time)
	w.Name(slog.LevelKey)
	w.String(r.Level.String())
	w.Name(slog.MessageKey)
	w.String(r.Message)
	plain := true
	r.Attrs(func(a slog.Attr) bool {
		w.Name(a.Key)
		switch a.Value.Kind() {
		case slog.KindString:
			w.String(a.Value.String())
		case slog.KindInt64:
			w.Int(a.Value.Int64())
		case slog.KindFloat64:
			w.Float(a.Value.Float64())
		default:
			plain = false
		}
		return plain
	})
	w.End('}')
	w.Raw('\n')
	line, err := w.Bytes()
	if !plain || err != nil {
		return false
	}
	_, _ = h.late.Write(line) // a log that can't be written has nowhere to say so
	return true
}

// lines are used again: a line is copied before its writer goes back.
var lines = sync.Pool{New: func() any { return jsonwrite.New(512) }}

// WithAttrs implements slog.Handler.
func (h *lateHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lateHandler{h.Handler.WithAttrs(attrs), h.late, false}
}

// WithGroup implements slog.Handler.
func (h *lateHandler) WithGroup(name string) slog.Handler {
	return &lateHandler{h.Handler.WithGroup(name), h.late, false}
}

// lateWriter writes at most lateDelay after it was written to. It is safe for concurrent use.
type lateWriter struct {
	mu    sync.Mutex
	out   *bufio.Writer
	armed bool // a flush is due
}

var _ io.Writer = (*lateWriter)(nil)

// Write implements io.Writer. The error is that of an earlier line, which can't be written again.
func (w *lateWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.armed {
		w.armed = true
		time.AfterFunc(lateDelay, w.flush)
	}
	return w.out.Write(b)
}

func (w *lateWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	_ = w.out.Flush() // a log that can't be written has nowhere to say so
}
