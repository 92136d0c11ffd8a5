package upload

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// PieceEnd is where a piece ends at the latest that has the byte at an offset.
func PieceEnd(at int64) int64 { return (at/pieceSize + 1) * pieceSize }

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

// receivedNear is received for whoever expects a number, which costs two questions if it is right: if there is a piece at
// a multiple of pieceSize, all before it are there.
func (k *Keeper) receivedNear(ctx context.Context, u Upload, expected int64) (int64, error) {
	if expected < 0 || expected > u.Bytes {
		return k.received(ctx, u)
	}
	at := max(expected-1, 0) / pieceSize * pieceSize
	for {
		n, err := k.sizeAt(ctx, u, at)
		switch {
		case err != nil:
			return 0, err
		case n == 0 && at == expected:
			return at, nil
		case n == 0 || at+n > expected:
			return k.received(ctx, u)
		}
		at += n
	}
}

// conflict is the refusal of bytes that don't go on where the upload is.
func conflict(field, problem string, received int64) error {
	return fault.Invalid(field, problem).WithAspect(fault.AspectConflict).
		WithDetails(fault.Detail{Field: "received", Message: strconv.FormatInt(received, 10)})
}

// Part is bytes of an upload from an offset on.
type Part struct {
	At   int64
	Body io.Reader
	// SHA256 is that of the whole body in hexadecimal. The body is a single piece then, which ends at PieceEnd(At) or
	// before, and is kept whole or not at all. "" keeps what arrives before the body breaks off, as far as Keeps says.
	SHA256 string
}

// Take takes a part of an upload that Near returned, which must begin where the upload is, and completes it with its last
// byte. A complete upload is returned as it is, and the body isn't read.
func (k *Keeper) Take(ctx context.Context, u Upload, p Part) (Upload, error) {
	if u.Complete {
		return u, nil
	}
	if p.At != u.Received {
		return u, conflict("Content-Range", "must begin at "+strconv.FormatInt(u.Received, 10)+", which is how much has arrived", u.Received)
	}
	if err := k.hold(ctx, u, k.limits.Load().Quota); err != nil {
		return u, err
	}
	from := &cutReader{from: p.Body}
	buffered := bufio.NewReaderSize(from, leastPiece)
	for u.Received < u.Bytes {
		least := min(leastPiece, u.room())
		if head, _ := buffered.Peek(int(least)); int64(len(head)) < least {
			break
		}
		err := k.keepPiece(ctx, &u, buffered, p.SHA256)
		if errors.Is(err, artifact.ErrHash) && from.err != nil {
			break
		}
		if err != nil {
			return u, refusedFor(err, u.Received)
		}
	}
	switch {
	case u.Complete: // by another request
		return u, nil
	case u.Received == u.Bytes:
		return k.finish(ctx, u)
	case from.err != nil && p.SHA256 != "":
		return u, fault.Wrap(fault.InvalidRequest, from.err, "the body didn't arrive whole; its Content-Digest can't be checked, and it isn't kept")
	case from.err != nil:
		return u, fault.Wrap(fault.InvalidRequest, from.err, "the body didn't arrive whole; what arrived is kept")
	default:
		return u, nil
	}
}

// refusedFor has a caller send bytes again that aren't those of their digest.
func refusedFor(err error, received int64) error {
	if errors.Is(err, artifact.ErrHash) {
		return conflict("Content-Digest", "isn't that of the bytes that arrived: send them again from "+strconv.FormatInt(received, 10), received)
	}
	return err
}

// room is how many bytes the next piece may have.
func (u Upload) room() int64 { return min(pieceSize-u.Received%pieceSize, u.Bytes-u.Received) }

// keepPiece keeps what there is of the body up to the next multiple of pieceSize, or returns ErrHash if it has to have
// another SHA-256. It isn't stopped by the end of the request, after which the body ends too.
func (k *Keeper) keepPiece(ctx context.Context, u *Upload, body *bufio.Reader, sum string) error {
	most := u.room()
	if u.Received == 0 {
		head, _ := body.Peek(artifact.SniffLen)
		if int64(len(head)) == min(artifact.SniffLen, u.Bytes) {
			if problem := artifact.Belies(u.ContentType, head); problem != "" {
				if sum != "" && !hasSum(io.LimitReader(body, most), sum) { // it may fit as it was sent
					return artifact.ErrHash
				}
				return conflict("content_type", "doesn't fit the bytes: the file "+problem, 0)
			}
		}
	}
	put := k.piece(*u, u.pieceID(u.Received), io.LimitReader(body, most), most)
	put.SHA256 = sum
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

// hasSum reports whether all that a body has left has a SHA-256.
func hasSum(body io.Reader, sum string) bool {
	h := sha256.New()
	_, err := io.Copy(h, body)
	return err == nil && hex.EncodeToString(h.Sum(nil)) == sum
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
