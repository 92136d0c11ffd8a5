package artifact

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	errTotal = errors.New("the whole took too long")
	errIdle  = errors.New("the body stalled")
)

// body reads an answer under a limit of bytes and of silence. It has one reader at a time.
type body struct {
	inner  io.ReadCloser
	stop   context.CancelCauseFunc // ends the request
	cause  func() error            // why the request was ended, nil while it goes on
	silent *time.Timer             // stops the request; runs during a Read only, so a slow reader is no stall
	idle   time.Duration
	left   int64 // bytes
	limit  int64
	source Source
}

func newBody(ctx context.Context, stop context.CancelCauseFunc, inner io.ReadCloser, idle time.Duration, r FetchRequest) *body {
	silent := time.AfterFunc(idle, func() { stop(errIdle) })
	silent.Stop()
	return &body{
		inner: inner, stop: stop, cause: func() error { return context.Cause(ctx) },
		silent: silent, idle: idle, left: r.Limit, limit: r.Limit, source: r.Source,
	}
}

// Read asks for one byte more than is left, to tell a body of the limit's length from a longer one.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b.silent.Reset(b.idle)
	n, err := b.inner.Read(p[:min(int64(len(p))-1, b.left)+1])
	b.silent.Stop()
	if int64(n) > b.left {
		return int(b.left), b.source.TooLarge(b.limit)
	}
	b.left -= int64(n)
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, err
	}
	if cause := b.cause(); cause != nil {
		err = cause
	}
	return n, b.source.bad("could not be read to its end", err)
}

// Close ends the request.
func (b *body) Close() error {
	b.stop(context.Canceled)
	b.silent.Stop()
	return b.inner.Close()
}
