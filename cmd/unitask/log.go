package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// newLogger writes for people on a terminal, for machines elsewhere: there a moment late, because a
// line a request would cost a system call a request. Warnings and errors, and all before them, are
// written at once. flush writes what is left.
func newLogger(t *terminal) (log *slog.Logger, flush func()) {
	if t.errTTY {
		return slog.New(slog.NewTextHandler(t.err, nil)), func() {}
	}
	late := &lateWriter{out: bufio.NewWriterSize(t.err, lateRoom)}
	return slog.New(&lateHandler{slog.NewJSONHandler(late, nil), late}), late.flush
}

const (
	lateRoom  = 32 << 10 // bytes that may wait
	lateDelay = 100 * time.Millisecond
)

// lateHandler flushes the writer behind it after whatever matters.
type lateHandler struct {
	slog.Handler
	late *lateWriter
}

// Handle implements slog.Handler.
func (h *lateHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo {
		h.late.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h *lateHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lateHandler{h.Handler.WithAttrs(attrs), h.late}
}

// WithGroup implements slog.Handler.
func (h *lateHandler) WithGroup(name string) slog.Handler {
	return &lateHandler{h.Handler.WithGroup(name), h.late}
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
