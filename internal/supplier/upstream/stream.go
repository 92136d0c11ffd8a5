package upstream

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream/http1"
)

// Stream is an answer whose body is still to be read, by one goroutine. Read's errors, but for io.EOF, are
// *supplier.Error with the verdict unknown.
type Stream struct {
	http1.Response

	left  int64         // bytes that may still be read
	pause time.Duration // bounds each pause; 0: the whole is bounded
}

const (
	mostAhead = 1 << 20 // for so many bytes memory is taken on an answer's word
	unclaimed = 512     // bytes, assumed if the answer doesn't say

	mostVacated = 64 << 10 // bytes of an answer's memory that are used again
)

// limit bounds the read bytes; 0: DefaultLimit.
func (s *Stream) limit(n int64) {
	if n <= 0 {
		n = DefaultLimit
	}
	s.left = n
}

// Read reads the body, decompressed.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.pause > 0 {
		s.Body.Patience(s.pause)
	}
	// One byte beyond the limit tells an answer that ends there from one that goes on.
	n, err := s.Body.Read(p[:min(int64(len(p)), s.left+1)])
	s.left -= int64(n)
	switch {
	case s.left < 0:
		return n - 1, Unusable(s.Status, errTooLarge)
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	default:
		e := broken(&http1.Error{Sent: true, Why: s.Body.Ended(err), Err: err})
		e.Status = s.Status
		return n, e
	}
}

// Answer reads the rest, within the client's timeout of the whole exchange, and closes the stream. The body of an
// answer that isn't a success is cut if it is long or breaks off: its status says enough.
func (s *Stream) Answer() (Answer, error) {
	defer s.Close()
	s.pause = 0
	a := Answer{Status: s.Status, Header: s.Header}
	if !a.OK() {
		s.left = min(s.left, problemLimit)
	}
	var err error
	if a.Body, err = s.rest(); err != nil && a.OK() {
		return Answer{}, err
	}
	return a, nil
}

// rest reads to the end, into memory of just the size that the answer claims.
func (s *Stream) rest() (body []byte, err error) {
	room := int64(unclaimed)
	if s.Length >= 0 {
		room = min(s.Length, s.left, mostAhead) + 1 // it takes room to learn that the end has come
	}
	body = vacant(room)
	for err == nil {
		if len(body) == cap(body) {
			body = slices.Grow(body, max(len(body), unclaimed))
		}
		var n int
		n, err = s.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return body, err
}

// vacated is the memory of answers that are done with.
var vacated sync.Pool // of *[]byte

// vacant returns memory for n bytes.
func vacant(n int64) []byte {
	if body, ok := vacated.Get().(*[]byte); ok && int64(cap(*body)) >= n {
		return (*body)[:0]
	}
	return make([]byte, 0, n)
}

// Vacate leaves the body's memory to other answers. It must not be referred to from then on.
func (a Answer) Vacate() {
	if body := a.Body; cap(body) <= mostVacated {
		vacated.Put(&body)
	}
}

// bound gives the rest of the body this much time, or less if the pauses have less.
func (s *Stream) bound(most time.Duration) {
	s.Body.Patience(min(most, cmp.Or(s.pause, most)))
	s.pause = 0
}

// Close ends the exchange. It may be called more than once.
func (s *Stream) Close() { _ = s.Body.Close() } // whatever it says, the answer is read or given up

// Unusable is the failure of an answer that says success and can't be used. The work was probably
// done, and paid: its outcome is unknown, so it goes to no other route.
func Unusable(status int, cause error) *supplier.Error {
	e := Failure(supplier.Unknown, unavailable, cause)
	e.Status = status
	return e
}
