package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Request is a request with everything it sends.
type Request struct {
	Method string
	URL    *url.URL // not to be changed
	Target string   // of the request line, for the URL's own host
	Fields *Fields
	Body   []byte   // nil: none
	More   [][]byte // what follows Body
}

// Length returns the bytes of the whole body.
func (r Request) Length() int {
	n := len(r.Body)
	for _, piece := range r.More {
		n += len(piece)
	}
	return n
}

// Fields are the header of a request but for its first lines, which tell one request from another. They aren't changed,
// and serve any number of requests.
type Fields struct {
	Key   string // that they have; "": no key
	All   http.Header
	lines string // as they are written
}

// framing are the fields that a connection itself writes, or that would contradict it.
var framing = map[string]bool{"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Trailer": true}

// NewFields returns the fields for requests with this key.
func NewFields(key string, all http.Header) *Fields {
	var lines strings.Builder
	_ = all.WriteSubset(&lines, framing) // a Builder takes everything
	return &Fields{key, all, lines.String()}
}

// Response is an answer whose body is still to be read, by one goroutine.
type Response struct {
	Status int
	Header Header
	Length int64 // of the body that the answer claims; -1 if it doesn't
	Body   Body  // decompressed

	incoming incoming // Body's room if Transport carried it: one object, since each request makes one
}

// Body is the body of an answer as it arrives. Close ends the exchange and may be called again.
type Body interface {
	io.ReadCloser
	Patience(d time.Duration) // gives the next piece its time
	Ended(err error) error    // why the exchange ended, if err comes from its context or its time; else nil
}

// Error is the early end of an exchange.
type Error struct {
	Sent bool  // some of the request may have left
	Why  error // the cause of its context's end, or ErrTimeout; nil if neither ended it
	Err  error
}

// Error returns the text of Err.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrTimeout is why an exchange ended whose time was over.
var ErrTimeout = errors.New("the exchange outlasted its timeout")

// Ended returns why an exchange ended that was under ctx and met err: ctx's own cause, or ErrTimeout; nil for any
// other.
func Ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrTimeout
	}
	return nil
}

// Dialer opens a connection.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// The limits of connections, also for a Transport of net/http beside this one.
const (
	TLSTimeout = 10 * time.Second // two round trips and a signature
	// IdleTimeout is below the 5 s after which common servers close an idle connection.
	IdleTimeout = 4 * time.Second
	MostIdle    = 1024     // kept open to one host: as many as there may be calls at once on a busy node
	HeadLimit   = 64 << 10 // bytes of an answer's head and of those of the 1xx kind before it
)
