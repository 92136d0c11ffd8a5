package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"unitask/internal/supplier"
)

// Stream is an answer whose body is still to be read, by one goroutine. Read's errors, but for
// io.EOF, are *supplier.Error with the verdict unknown.
type Stream struct {
	Status int
	Header http.Header

	exchange
	body   io.ReadCloser
	left   int64 // bytes that may still be read
	length int64 // that the answer claims; -1 where it doesn't
}

// mostAhead is for how many bytes memory is taken on an answer's word.
const mostAhead = 1 << 20

// exchange is what bounds a Stream in time.
type exchange struct {
	ended  func() error // why the exchange's context ended; nil while it hasn't
	cancel context.CancelCauseFunc
	timer  *time.Timer
	pause  time.Duration // the timer bounds each pause by it; 0: the whole
}

// ended returns why ctx ended, or nil.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

func newStream(resp *http.Response, limit int64, e exchange) *Stream {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Stream{Status: resp.StatusCode, Header: resp.Header, exchange: e, body: resp.Body, left: limit, length: resp.ContentLength}
}

// Read reads the body, decompressed.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.pause > 0 {
		s.timer.Reset(s.pause)
	}
	// One byte beyond the limit tells an answer that ends there from one that goes on.
	n, err := s.body.Read(p[:min(int64(len(p)), s.left+1)])
	s.left -= int64(n)
	switch {
	case s.left < 0:
		return n - 1, Unusable(s.Status, errTooLarge)
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	default:
		e := broken(s.ended(), err, true)
		e.Status = s.Status
		return n, e
	}
}

// Answer reads what is left and closes the stream. The body of an answer that isn't a success is
// cut where it is long or breaks off: its status says enough.
func (s *Stream) Answer() (Answer, error) {
	defer s.Close()
	a := Answer{Status: s.Status, Header: s.Header}
	if !a.OK() {
		s.left = min(s.left, problemLimit)
	}
	var body bytes.Buffer
	if s.length > 0 {
		body.Grow(int(min(s.length, s.left, mostAhead)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(s); err != nil && a.OK() {
		return Answer{}, err
	}
	a.Body = body.Bytes()
	return a, nil
}

// Close ends the exchange. It may be called more than once.
func (s *Stream) Close() {
	s.timer.Stop()
	s.cancel(nil)
	_ = s.body.Close() // whatever it says, the answer is read or given up
}

// Unusable is the failure of an answer that says success and can't be used. The work was probably
// done, and paid: its outcome is unknown, so it goes to no other route.
func Unusable(status int, cause error) *supplier.Error {
	e := Failure(supplier.Unknown, unavailable, cause)
	e.Status = status
	return e
}
