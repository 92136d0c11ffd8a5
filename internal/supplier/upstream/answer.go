package upstream

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
)

const headLimit = 64 << 10 // bytes of an answer's head and of those of the 1xx kind before it

// directStream is an answer over a connection: one object, since each request makes one.
type directStream struct {
	Stream
	incoming directBody
}

// answer reads the head of the answer.
func (c *connection) answer(ctx context.Context) (*Stream, error) {
	s := &directStream{incoming: directBody{ctx: ctx, c: c}}
	s.in, s.body = &s.incoming, &s.incoming
	c.head.left = headLimit
	for final := false; !final; {
		var err error
		if final, err = c.readHead(s); err != nil {
			return nil, err
		}
	}
	c.head.left = math.MaxInt64
	return &s.Stream, nil
}

// readHead reads a head; final is false if the answer is yet to come.
func (c *connection) readHead(s *directStream) (final bool, err error) {
	if _, err := c.in.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	arrived, _ := c.in.Peek(c.in.Buffered())
	if h, size, ok := readPlain(arrived); ok {
		s.Status, s.length, s.Header.lines = h.status, h.length, string(h.fields)
		s.incoming.src, s.incoming.exact = &s.incoming.exact, exactly{c.in, h.length}
		_, err = c.in.Discard(size)
		return true, err
	}
	resp, err := http.ReadResponse(c.in, nil) //nolint:bodyclose // no request: any but HEAD; the Stream closes it
	switch {
	case err != nil:
		return false, err
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return false, errBroken
	case resp.StatusCode/100 == 1:
		return false, nil
	}
	s.Status, s.length, s.Header.all = resp.StatusCode, resp.ContentLength, resp.Header
	s.incoming.src, s.incoming.last = resp.Body, resp.Close
	if resp.ContentLength != 0 && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		s.body, s.length = &unzipper{from: &s.incoming}, -1
	}
	return true, nil
}
