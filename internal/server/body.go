package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"unitask/internal/fault"
)

const (
	announced = 4 << 10  // up to how many bytes of a body memory is taken before they are here
	smallBody = 1 << 20  // up to how many a body may arrive in memory, where there is room
	smallRoom = 16 << 20 // bytes of such bodies

	keysOnDisk   = 8 // one key has an eighth of the bodies on the disk,
	keysInMemory = 2 // and a half of those in memory

	roomWait  = 2 * time.Second  // for a body to be let in, while nothing of it is read
	judgeWait = 20 * time.Second // for one that arrived whole to be read into memory

	bodyPattern = "body-*" // of files
)

// bodies bounds what the bodies of creations take. Small ones are read into memory. Others are spooled to a file as
// they arrive, which may take long, and read into memory only to be judged, which doesn't: so senders that stall hold
// no memory, and a key that sends many holds up no other.
type bodies struct {
	folder string
	small  *room // in memory and still arriving
	keys   *room // on the disk, of one key, as announced
	disk   *room // on the disk, as they arrive
	judged *room // in memory to be judged
}

// newBodies returns bodies in the folder, "" for the system's own, without the files that a crash left there.
func newBodies(folder string, l Limits) (*bodies, error) {
	b := &bodies{
		folder: folder,
		small:  newRoom(smallRoom, math.MaxInt64),
		keys:   newRoom(math.MaxInt64, l.BodyDisk/keysOnDisk),
		disk:   newRoom(l.BodyDisk, math.MaxInt64),
		judged: newRoom(l.BodyMemory, l.BodyMemory/keysInMemory),
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

// atOnce is for a claim that doesn't wait.
var atOnce = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()

// readBody returns the body of a creation: JSON by its media type, not encoded, within the limit.
func (s *Server) readBody(x *exchange) (body, error) {
	limit := s.body.Load()
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
		return readWhole(x, n, func() {})
	}
	if n >= 0 && n <= smallBody && b.small.take(atOnce, "", n) == nil {
		return readWhole(x, n, sync.OnceFunc(func() { b.small.give("", n) }))
	}
	return b.spooled(x, limit)
}

func readWhole(x *exchange, n int64, release func()) (body, error) {
	bytes := make([]byte, n)
	if _, err := io.ReadFull(x.r.Body, bytes); err != nil {
		release()
		return body{}, cutOff(err)
	}
	return body{bytes, release}, nil
}

// spooled reads a body by way of a file.
func (b *bodies) spooled(x *exchange, limit int64) (body, error) {
	key, most := x.caller.Key.Counter(), x.r.ContentLength
	if most < 0 {
		most = limit
	}
	if err := b.keys.within(x, roomWait, key, most); err != nil {
		return body{}, err
	}
	defer b.keys.give(key, most)
	file, err := os.CreateTemp(b.folder, bodyPattern)
	if err != nil {
		return body{}, spoolFault(err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // where an open file keeps its name
	}()
	_ = os.Remove(file.Name()) // a crash leaves no file behind
	n, err := b.spool(file, x, limit)
	defer b.disk.give("", n)
	if err != nil {
		return body{}, err
	}
	if err := b.judged.within(x, judgeWait, key, n); err != nil {
		return body{}, err
	}
	release := sync.OnceFunc(func() { b.judged.give(key, n) })
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
	piece := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(piece)
	for {
		n, err := from.Read(piece[:])
		if n > 0 {
			if err := b.disk.within(x, roomWait, "", int64(n)); err != nil {
				return taken, err
			}
			taken += int64(n)
			if _, err := file.Write(piece[:n]); err != nil {
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

var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// within is take for so long at most, with the error that the caller is told.
func (r *room) within(x *exchange, wait time.Duration, key string, bytes int64) error {
	if r.take(atOnce, key, bytes) == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(x.r.Context(), wait)
	defer stop()
	switch err := r.take(ctx, key, bytes); {
	case errors.Is(err, errKeyFull):
		return fault.Wrap(fault.RateLimitExceeded, err, "too many large requests with this key at once").WithRetryAfter(roomWait)
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

// sweep removes the files that a crash left behind where open files keep their names.
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
