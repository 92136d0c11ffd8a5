package http1

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// incoming is the body of an answer. At its end the connection is free for the next request.
type incoming struct {
	ctx   context.Context
	src   io.Reader
	exact exactly     // src if the head was plain
	last  bool        // the connection ends with it
	c     *connection // nil once the exchange is over
	err   error       // the error of Read from then on
}

func (b *incoming) Read(p []byte) (int, error) {
	if b.c == nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, err
}

func (b *incoming) Close() error {
	b.end(net.ErrClosed)
	return nil
}

func (b *incoming) end(err error) {
	switch {
	case b.c == nil:
		return
	case errors.Is(err, io.EOF) && !b.last:
		b.c.free()
	default:
		b.c.drop()
	}
	b.c, b.err = nil, err
}

func (b *incoming) Patience(d time.Duration) {
	if b.c != nil {
		_ = b.c.SetReadDeadline(time.Now().Add(d))
	}
}

func (b *incoming) Ended(err error) error { return Ended(b.ctx, err) }

// exactly reads a number of bytes. Their end before it is an error.
type exactly struct {
	from *bufio.Reader
	left int64
}

func (r *exactly) Read(p []byte) (n int, err error) {
	if r.left > 0 {
		n, err = r.from.Read(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
	}
	switch {
	case r.left == 0 && err == nil:
		err = io.EOF
	case r.left > 0 && errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// unzipper decompresses a body.
type unzipper struct {
	*incoming
	zip *gzip.Reader
}

func (u *unzipper) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.incoming); err != nil {
			return 0, err
		}
	}
	return u.zip.Read(p)
}
