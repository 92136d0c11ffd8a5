package http1

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
)

// errSwitched is the error of an answer that changes the protocol, which no request asks for.
var errSwitched = errors.New("the answer changes the protocol")

// answer reads the head of the answer.
func (c *connection) answer(ctx context.Context, r *Response) error {
	r.incoming = incoming{ctx: ctx, c: c}
	r.Body = &r.incoming
	c.head.left = HeadLimit
	for final := false; !final; {
		var err error
		if final, err = c.readHead(r); err != nil {
			return err
		}
	}
	c.head.left = math.MaxInt64
	return nil
}

// readHead reads a head; final is false if the answer is yet to come.
func (c *connection) readHead(r *Response) (final bool, err error) {
	if _, err := c.in.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	arrived, _ := c.in.Peek(c.in.Buffered())
	if h, size, ok := readPlain(arrived); ok {
		r.Status, r.Length, r.Header.lines = h.status, h.length, string(h.fields)
		r.incoming.src, r.incoming.exact = &r.incoming.exact, exactly{c.in, h.length}
		_, err = c.in.Discard(size)
		return true, err
	}
	resp, err := http.ReadResponse(c.in, nil) //nolint:bodyclose // no request: any but HEAD; the Response's Body closes it
	switch {
	case err != nil:
		return false, err
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return false, errSwitched
	case resp.StatusCode/100 == 1:
		return false, nil
	}
	r.Status, r.Length, r.Header.all = resp.StatusCode, resp.ContentLength, resp.Header
	r.incoming.src, r.incoming.last = resp.Body, resp.Close
	if resp.ContentLength != 0 && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		r.Body, r.Length = &unzipper{incoming: &r.incoming}, -1
	}
	return true, nil
}
