package node

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// NewLogger returns a logger of JSON to out. Lines are buffered for a moment, because a write for each request would be
// a system call for each request; warnings and errors are written at once, with all lines before them. flush writes the
// buffered lines.
func NewLogger(out io.Writer) (log *slog.Logger, flush func()) {
	w := &bufferedWriter{out: bufio.NewWriterSize(out, logBuffer)}
	return slog.New(&flushingHandler{slog.NewJSONHandler(w, nil), w}), w.flush
}

const (
	logBuffer = 32 << 10 // bytes
	logDelay  = 100 * time.Millisecond
)

// flushingHandler flushes the handler's writer after warnings and errors.
type flushingHandler struct {
	slog.Handler
	w *bufferedWriter
}

// Handle implements slog.Handler.
func (h *flushingHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo {
		h.w.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h *flushingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &flushingHandler{h.Handler.WithAttrs(attrs), h.w}
}

// WithGroup implements slog.Handler.
func (h *flushingHandler) WithGroup(name string) slog.Handler {
	return &flushingHandler{h.Handler.WithGroup(name), h.w}
}

// bufferedWriter writes its buffer at most logDelay after the first Write into it. It is safe for concurrent use.
type bufferedWriter struct {
	mu  sync.Mutex
	out *bufio.Writer
	due bool // a flush is scheduled
}

var _ io.Writer = (*bufferedWriter)(nil)

// Write implements io.Writer. Its error is that of an earlier flush.
func (w *bufferedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.due {
		w.due = true
		time.AfterFunc(logDelay, w.flush)
	}
	return w.out.Write(b)
}

func (w *bufferedWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = false
	_ = w.out.Flush() // a log that can't be written has no other place for the error
}
