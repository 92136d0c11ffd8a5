package upload

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sort"
	"strconv"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// pieceSize bounds a piece, and how much a killed process loses of a request under way.
const pieceSize = 8 << 20

// leastPiece is the size from which on a piece is kept that doesn't end at a multiple of pieceSize or with its file. A
// smaller one would cost more than its bytes, and is sent again.
const leastPiece = 64 << 10

// Keeps reports whether the bytes from begin to end of a file of so many bytes may be a piece.
func Keeps(begin, end, total int64) bool {
	return end-begin >= leastPiece || end%pieceSize == 0 || end == total
}

// pieceID is the object that holds an upload's bytes from an offset on.
func (u Upload) pieceID(at int64) string {
	return task.DeriveID(task.PrefixInput, u.ID, "piece "+u.Generation+" "+strconv.FormatInt(at, 10))
}

// sizeAt returns the size of the piece at an offset, 0 if there is none.
func (k *Keeper) sizeAt(ctx context.Context, u Upload, at int64) (int64, error) {
	m, err := k.artifacts.Stat(ctx, u.pieceID(at))
	if fault.CodeOf(err) == fault.NotFound {
		return 0, nil
	}
	return m.Bytes, err
}

// received returns how many bytes are here. A piece at a multiple of pieceSize is kept only once all before it are, so
// the last of them is found by halves; behind it pieces may be small, as requests were cut off.
func (k *Keeper) received(ctx context.Context, u Upload) (int64, error) {
	var failed error
	whole := sort.Search(int((u.Bytes+pieceSize-1)/pieceSize), func(i int) bool {
		n, err := k.sizeAt(ctx, u, int64(i)*pieceSize)
		if err != nil {
			failed = err
		}
		return n == 0
	})
	at := int64(max(whole-1, 0)) * pieceSize
	for failed == nil {
		var n int64
		if n, failed = k.sizeAt(ctx, u, at); n == 0 {
			break
		}
		at += n
	}
	return at, failed
}

// conflict is the refusal of bytes that don't go on where the upload is.
func conflict(field, problem string, received int64) error {
	return fault.Invalid(field, problem).WithAspect(fault.AspectConflict).
		WithDetails(fault.Detail{Field: "received", Message: strconv.FormatInt(received, 10)})
}

// Receive takes bytes of an upload from an offset on, which must be where it is, and completes it with its last byte. It
// keeps what arrives before the body breaks off, as far as Keeps says. A complete upload is returned as it is, and the body isn't read.
func (k *Keeper) Receive(ctx context.Context, id string, at int64, body io.Reader) (Upload, error) {
	u, err := k.Get(ctx, id)
	if err != nil || u.Complete {
		return u, err
	}
	if at != u.Received {
		return u, conflict("Content-Range", "must begin at "+strconv.FormatInt(u.Received, 10)+", which is how much has arrived", u.Received)
	}
	if err := k.hold(ctx, u, k.limits.Load().Quota); err != nil {
		return u, err
	}
	from := &cutReader{from: body}
	buffered := bufio.NewReaderSize(from, leastPiece)
	for u.Received < u.Bytes {
		least := min(leastPiece, u.room())
		if head, _ := buffered.Peek(int(least)); int64(len(head)) < least {
			break
		}
		if err := k.keepPiece(ctx, &u, buffered); err != nil {
			return u, err
		}
	}
	switch {
	case u.Complete: // by another request
		return u, nil
	case u.Received == u.Bytes:
		return k.finish(ctx, u)
	case from.err != nil:
		return u, fault.Wrap(fault.InvalidRequest, from.err, "the body didn't arrive whole; what arrived is kept")
	default:
		return u, nil
	}
}

// room is how many bytes the next piece may have.
func (u Upload) room() int64 { return min(pieceSize-u.Received%pieceSize, u.Bytes-u.Received) }

// keepPiece keeps what there is of the body up to the next multiple of pieceSize. It isn't stopped by the end of the
// request, after which the body ends too.
func (k *Keeper) keepPiece(ctx context.Context, u *Upload, body *bufio.Reader) error {
	if u.Received == 0 {
		head, _ := body.Peek(artifact.SniffLen)
		if int64(len(head)) == min(artifact.SniffLen, u.Bytes) {
			if problem := artifact.Belies(u.ContentType, head); problem != "" {
				return conflict("content_type", "doesn't fit the bytes: the file "+problem, 0)
			}
		}
	}
	most := u.room()
	put := k.piece(*u, u.pieceID(u.Received), io.LimitReader(body, most), most)
	ctx = context.WithoutCancel(ctx)
	m, err := k.artifacts.Put(ctx, put)
	switch {
	case errors.Is(err, artifact.ErrExists):
		return conflict("Content-Range", "is being sent by another request too", u.Received)
	case err != nil:
		return err
	}
	u.Received += m.Bytes
	return k.still(ctx, u, put.ID)
}

// still returns nil as long as the upload that a piece was kept for is open. Otherwise it removes the piece: whoever ends
// an upload removes the record first, and then those pieces that were kept before.
func (k *Keeper) still(ctx context.Context, u *Upload, piece string) error {
	now, err := k.find(ctx, u.ID)
	switch {
	case err == nil && now.Generation == u.Generation && !now.Complete:
		return nil
	case err == nil && now.Complete:
		*u = now
	case err == nil:
		err = conflict("Content-Range", "is of bytes that were refused meanwhile: they are sent again from the first", 0)
	case fault.CodeOf(err) != fault.NotFound:
		return err
	}
	return errors.Join(err, k.artifacts.Delete(ctx, piece))
}

// cutReader ends where its source breaks off, and remembers why.
type cutReader struct {
	from io.Reader
	err  error // nil: it hasn't broken off
}

func (r *cutReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, io.EOF
	}
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.err, err = err, io.EOF
	}
	return n, err
}
