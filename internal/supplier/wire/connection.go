package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	headLimit  = 64 << 10 // of an answer's head, in bytes
	mostEarly  = 5        // answers of the 1xx kind before the answer
	inlineBody = 32 << 10 // a request with a longer body is still being written while its answer is awaited
)

// connection is one connection to a supplier. One exchange at a time uses it, from one goroutine.
type connection struct {
	net.Conn // plain, or TLS over it
	plain    net.Conn
	of       *direct
	head     boundedReader // bounds the head of an answer
	in       *bufio.Reader
	since    time.Time // since when it is idle

	unhook  func() bool // keeps the exchange's context from closing it any more
	writing chan error  // gets the outcome of a long request's writing; nil where there is none

	raw   syscall.RawConn // of plain; nil where alive has to do without
	peek  func(fd uintptr) bool
	still bool // what peek found: nothing to read, and no end
}

// boundedReader reads up to a number of bytes.
type boundedReader struct {
	from io.Reader
	left int64
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooLarge
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// exchange sends a request and reads the head of its answer. sent says whether any of it may have left.
func (c *connection) exchange(ctx context.Context, r request) (resp *http.Response, sent bool, err error) {
	c.unhook = context.AfterFunc(ctx, c.close)
	if sent, err = c.send(r); err == nil {
		resp, err = c.answer()
	}
	return resp, sent, err
}

// buffers are where requests are put together.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// send writes a request, a long one beside what follows: its answer may come before its end.
func (c *connection) send(r request) (sent bool, err error) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	if err := r.writeHead(b, c.of.host); err != nil {
		return false, err
	}
	if len(r.body) > inlineBody {
		c.writing = make(chan error, 1)
		go func() { c.writing <- c.writeBoth(b, r.body) }()
		return true, nil
	}
	b.Write(r.body)
	n, err := c.Write(b.Bytes())
	buffers.Put(b)
	return n > 0 || err == nil || c.Conn != c.plain, err // TLS doesn't count a record that it wrote in part
}

func (c *connection) writeBoth(head *bytes.Buffer, body []byte) error {
	_, err := c.Write(head.Bytes())
	buffers.Put(head)
	if err == nil {
		_, err = c.Write(body)
	}
	return err
}

// framing are the headers that writeHead itself sets, or that would contradict it.
var framing = map[string]bool{"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Trailer": true}

func (r request) writeHead(b *bytes.Buffer, host string) error {
	b.WriteString(r.method)
	b.WriteByte(' ')
	b.WriteString(r.target)
	b.WriteString(" HTTP/1.1\r\nHost: ")
	b.WriteString(host)
	if len(r.header["Accept-Encoding"]) == 0 {
		b.WriteString("\r\nAccept-Encoding: gzip")
	}
	if len(r.body) > 0 || r.method == http.MethodPost || r.method == http.MethodPut {
		b.WriteString("\r\nContent-Length: ")
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(len(r.body)), 10))
	}
	b.WriteString("\r\n")
	err := r.header.WriteSubset(b, framing)
	b.WriteString("\r\n")
	return err
}

// answer reads the head of the answer.
func (c *connection) answer() (*http.Response, error) {
	c.head.left = headLimit
	for range mostEarly + 1 {
		resp, err := http.ReadResponse(c.in, nil) // no request: any but HEAD
		switch {
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errBroken
		case resp.StatusCode/100 != 1:
			c.head.left = math.MaxInt64
			return resp, nil
		}
	}
	return nil, errBroken
}

// quiet reports whether there is nothing to read, and no end, for so long; 0: in what TLS has read ahead.
// until is the deadline of all that comes after it.
func (c *connection) quiet(moment time.Duration, until time.Time) bool {
	_ = c.SetReadDeadline(time.Now().Add(moment))
	_, err := c.in.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded) && c.SetReadDeadline(until) == nil
}

// free ends an exchange whose answer was read: the connection may take another one.
func (c *connection) free() {
	if c.in.Buffered() > 0 || !c.written() || !c.unhook() {
		c.drop()
		return
	}
	c.of.put(c)
}

// written reports whether the whole request was written.
func (c *connection) written() bool {
	if c.writing == nil {
		return true
	}
	select {
	case err := <-c.writing:
		c.writing = nil
		return err == nil
	default:
		return false
	}
}

// drop ends an exchange, and the connection with it.
func (c *connection) drop() {
	c.unhook()
	c.close()
	if c.writing != nil {
		<-c.writing
	}
}

func (c *connection) close() { _ = c.plain.Close() }

// directBody is the body of an answer. At its end the connection is free for the next request.
type directBody struct {
	ctx  context.Context
	src  io.Reader
	last bool        // the connection ends with it
	c    *connection // nil once the exchange is over
	err  error       // what Read gives from then on
}

func (b *directBody) Read(p []byte) (int, error) {
	if b.c == nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, err
}

func (b *directBody) Close() error {
	b.end(net.ErrClosed)
	return nil
}

func (b *directBody) end(err error) {
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

func (b *directBody) patience(d time.Duration) {
	if b.c != nil {
		_ = b.c.SetReadDeadline(time.Now().Add(d))
	}
}

func (b *directBody) ended(err error) error { return ended(b.ctx, err) }

// unzipper decompresses what it reads.
type unzipper struct {
	from io.Reader
	zip  *gzip.Reader
}

func (u *unzipper) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.from); err != nil {
			return 0, err
		}
	}
	return u.zip.Read(p)
}
