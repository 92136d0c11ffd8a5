package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"unitask/internal/bulk"
	"unitask/internal/fault"
	"unitask/internal/room"
)

const (
	announced   = 4 << 10          // up to how many bytes of a body memory is taken before they are here
	smallBody   = 1 << bitsOfSmall // up to which size a body may arrive in memory, if there is room
	bitsOfSmall = 21
	smallRoom   = 16 << 20 // bytes of such bodies, of which each is held twice until it is recorded

	partOnDisk   = 8                // one account has an eighth of the bodies on the disk,
	partInMemory = 2                // and a half of those in memory
	roomWait     = 2 * time.Second  // for a body and all of its pieces to be let in, while it isn't read
	judgeWait    = 20 * time.Second // for one that arrived whole to be read into memory

	bodyPattern = "body-*" // of files
)

// bodies bounds the room of creations' bodies. Small ones are read into memory. Others are spooled to a file as they
// arrive, which may take long, and read into memory only to be judged, which doesn't: so senders that stall hold no
// memory, and an account that sends many holds up no other.
type bodies struct {
	folder string
	small  *room.Room // in memory and still arriving
	own    *room.Room // on the disk, of one account, as announced
	disk   *room.Room // on the disk, as they arrive
	judged *room.Room // in memory to be judged
	memory memory     // of small ones
}

// memory is used again once a body was released: without, refusing 750 bodies of 100 KB a second had the garbage
// collector run 5.7 times a second instead of 1.8, and another tenant's creation took 5.1 ms at the 99th percentile
// instead of 3.9. Returned memory is cleared, so that a late reader can't read another caller's bytes.
type memory [bitsOfSmall + 1]sync.Pool // of pieces of 1<<i bytes

func (m *memory) take(n int64) *[]byte {
	i := bits.Len64(uint64(n - 1))
	if piece, ok := m[i].Get().(*[]byte); ok {
		return piece
	}
	piece := make([]byte, 1<<i)
	return &piece
}

// give takes back a piece of which n bytes were written.
func (m *memory) give(piece *[]byte, n int64) {
	clear((*piece)[:n])
	m[bits.Len(uint(len(*piece)-1))].Put(piece)
}

// newBodies returns bodies in the folder, "" for the system's own, without the files that a crash left there.
func newBodies(folder string, l Limits) (*bodies, error) {
	b := &bodies{
		folder: folder,
		small:  room.New(smallRoom, math.MaxInt64),
		own:    room.New(math.MaxInt64, l.BodyDisk/partOnDisk),
		disk:   room.New(l.BodyDisk, math.MaxInt64),
		judged: room.New(l.BodyMemory, l.BodyMemory/partInMemory),
	}
	if err := b.sweep(); err != nil {
		return nil, fmt.Errorf("the folder of request bodies: %w", err)
	}
	return b, nil
}

// body is a request's body in memory.
type body struct {
	bytes   []byte
	release func() // gives its room back; it may be called again
}

// readBody returns the body of a creation: JSON by its media type, not encoded, within the limit.
func (s *Server) readBody(x *exchange) (body, error) { return s.readBodyWithin(x, s.body.Load()) }

func (s *Server) readBodyWithin(x *exchange, limit int64) (body, error) {
	b, err := s.bodies.read(x, limit)
	switch _, over := errors.AsType[*http.MaxBytesError](err); {
	case over:
		return body{}, tooLarge(limit)
	case err != nil:
		x.Header().Set("Connection", "close") // the rest isn't worth reading
		return body{}, err
	}
	x.unread = false
	_ = x.control().SetReadDeadline(time.Time{}) // the answer may take longer than the body did
	return b, nil
}

func (b *bodies) read(x *exchange, limit int64) (body, error) {
	n := x.r.ContentLength
	if n >= 0 && n <= announced {
		return fill(x, make([]byte, n), func() {})
	}
	if n >= 0 && n <= smallBody && b.small.Try("", n) {
		memory := b.memory.take(n)
		return fill(x, (*memory)[:n], sync.OnceFunc(func() {
			b.memory.give(memory, n)
			b.small.Give("", n)
		}))
	}
	return b.spooled(x, limit)
}

// fill reads a body into memory.
func fill(x *exchange, bytes []byte, release func()) (body, error) {
	if _, err := io.ReadFull(x.r.Body, bytes); err != nil {
		release()
		return body{}, cutOff(err)
	}
	return body{bytes, release}, nil
}

// spooled reads a body by way of a file.
func (b *bodies) spooled(x *exchange, limit int64) (body, error) {
	account, most := x.caller.Account.ID, x.r.ContentLength
	if most < 0 {
		most = limit
	}
	if err := within(x, b.own, roomWait, account, most); err != nil {
		return body{}, err
	}
	defer b.own.Give(account, most)
	file, err := os.CreateTemp(b.folder, bodyPattern)
	if err != nil {
		return body{}, spoolFault(err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // if an open file keeps its name
	}()
	_ = os.Remove(file.Name()) // a crash leaves no file behind
	n, err := b.spool(file, x, limit)
	defer b.disk.Give("", n)
	if err != nil {
		return body{}, err
	}
	if err := within(x, b.judged, judgeWait, account, n); err != nil {
		return body{}, err
	}
	release := sync.OnceFunc(func() { b.judged.Give(account, n) })
	bytes := make([]byte, n)
	if _, err := file.ReadAt(bytes, 0); err != nil && !errors.Is(err, io.EOF) {
		release()
		return body{}, spoolFault(err)
	}
	return body{bytes, release}, nil
}

// spool writes a body to the file and returns how many bytes of the disk's room it took, with an error too.
func (b *bodies) spool(file io.Writer, x *exchange, limit int64) (taken int64, err error) {
	from := http.MaxBytesReader(x.ResponseWriter, x.r.Body, limit)
	patience := roomWait // of all pieces: bodies that took turns with a piece each would wait for one another until their time is over
	piece := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(piece)
	for {
		n, err := from.Read(piece[:])
		if n > 0 {
			asked := time.Now()
			if err := within(x, b.disk, patience, "", int64(n)); err != nil {
				return taken, err
			}
			patience -= time.Since(asked)
			taken += int64(n)
			if err := writePiece(file, piece[:n]); err != nil {
				return taken, spoolFault(err)
			}
		}
		switch _, over := errors.AsType[*http.MaxBytesError](err); {
		case errors.Is(err, io.EOF):
			return taken, nil
		case over:
			return taken, err
		case err != nil:
			return taken, cutOff(err)
		}
	}
}

// writePiece takes turns with all others: hundreds of bodies that arrive as fast as they can would else stand before
// everybody at the processors, again and again, however small their pieces are.
func writePiece(file io.Writer, piece []byte) error {
	defer bulk.Turn(math.MaxInt)()
	_, err := file.Write(piece)
	return err
}

var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// within takes room for so long at most, with the error that the caller is told.
func within(x *exchange, r *room.Room, wait time.Duration, account string, bytes int64) error {
	if r.Try(account, bytes) {
		return nil
	}
	ctx, stop := context.WithTimeout(x.r.Context(), wait)
	defer stop()
	switch err := r.Take(ctx, account, bytes); {
	case errors.Is(err, room.ErrKeyFull):
		return fault.Wrap(fault.RateLimitExceeded, err, "too many large requests of this account at once").WithRetryAfter(roomWait)
	case err != nil:
		return fault.Wrap(fault.CapacityExhausted, err, "the service has no room for so large a request at the moment").WithRetryAfter(roomWait)
	}
	return nil
}

func cutOff(err error) error {
	return fault.Wrap(fault.InvalidRequest, err, "the body didn't arrive whole")
}

func spoolFault(err error) error {
	return fault.Wrap(fault.CapacityExhausted, err, "the service has no room for so large a request at the moment").WithRetryAfter(10 * time.Second)
}

// sweep removes the files that a crash left behind if open files keep their names.
func (b *bodies) sweep() error {
	if b.folder == "" {
		return nil
	}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(b.folder, bodyPattern))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
