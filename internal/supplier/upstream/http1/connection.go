package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

const inlineBody = 32 << 10 // a request with a longer body is still being written while its answer is awaited

// connection is one connection to a supplier. One exchange at a time uses it, from one goroutine.
type connection struct {
	net.Conn // plain, or TLS over it
	plain    net.Conn
	of       *Transport
	head     boundedReader // bounds the head of an answer
	in       *bufio.Reader
	since    time.Time // when it became idle; zero before it was used

	hangUp  func()      // close
	unhook  func() bool // keeps the exchange's context from closing it any more
	writing chan error  // gets the outcome of a long request's writing; nil for a short one

	socket socket
}

// boundedReader reads up to a number of bytes.
type boundedReader struct {
	from io.Reader
	left int64
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errHeadTooLarge
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// errHeadTooLarge is the error of an answer whose head passes HeadLimit.
var errHeadTooLarge = errors.New("the head of the answer is larger than its limit")

// errGone is the error of an exchange that wasn't started: the peer closed the idle connection or said something.
var errGone = errors.New("the connection was closed while it was idle")

// exchange sends a request and reads the head of its answer. sent says whether any of it may have left. until
// is the deadline of it all.
func (c *connection) exchange(ctx context.Context, r Request, until time.Time, answer *Response) (sent bool, err error) {
	c.unhook = context.AfterFunc(ctx, c.hangUp)
	if sent, err = c.send(r, until); err == nil {
		err = c.answer(ctx, answer)
	}
	return sent, err
}

// buffers hold requests while they are put together.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// send writes a request, a long one concurrently with the read of its answer: its answer may come before its end.
func (c *connection) send(r Request, until time.Time) (sent bool, err error) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	r.writeHead(b, c.of.host)
	if r.Length() > inlineBody {
		if !c.ready(until) {
			return false, errGone
		}
		c.writing = make(chan error, 1)
		go func() { c.writing <- c.writeAll(b, r) }()
		return true, nil
	}
	b.Write(r.Body)
	for _, piece := range r.More {
		b.Write(piece)
	}
	sent, err = c.say(b.Bytes(), until)
	buffers.Put(b)
	return sent, err
}

// ready reports whether a request may be written.
func (c *connection) ready(until time.Time) bool { return c.since.IsZero() || c.alive(until) }

// write writes a short request.
func (c *connection) write(b []byte, until time.Time) (sent bool, err error) {
	if !c.ready(until) {
		return false, errGone
	}
	n, err := c.Write(b)
	return n > 0 || err == nil || c.Conn != c.plain, err // TLS doesn't count a record that it wrote in part
}

// writeAll writes a long request, with one system call if the system takes it at once.
func (c *connection) writeAll(head *bytes.Buffer, r Request) error {
	pieces := net.Buffers(append([][]byte{head.Bytes(), r.Body}, r.More...))
	_, err := pieces.WriteTo(c.Conn)
	buffers.Put(head)
	return err
}

func (r Request) writeHead(b *bytes.Buffer, host string) {
	b.WriteString(r.Method)
	b.WriteByte(' ')
	b.WriteString(r.Target)
	b.WriteString(" HTTP/1.1\r\nHost: ")
	b.WriteString(host)
	if len(r.Fields.All["Accept-Encoding"]) == 0 {
		b.WriteString("\r\nAccept-Encoding: gzip")
	}
	if n := r.Length(); n > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut {
		b.WriteString("\r\nContent-Length: ")
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(n), 10))
	}
	b.WriteString("\r\n")
	b.WriteString(r.Fields.lines)
	b.WriteString("\r\n")
}

// silent is quiet for a millisecond, in two halves: if the machine pauses between the setting of a deadline and the
// read, the read gives up without a look. A second such pause right after the first is far rarer.
func (c *connection) silent(until time.Time) bool {
	for range 2 {
		if !c.quiet(time.Millisecond/2, until) {
			return false
		}
	}
	return true
}

// quiet reports whether there are no bytes to read, and no end, for so long; 0: among the bytes that TLS has read
// ahead. until is the deadline of all that comes after it.
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
