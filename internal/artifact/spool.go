package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"unitask/internal/disk"
	"unitask/internal/fault"
)

// Spooler reads bodies into temporary files, as the first half of every Store's Put. It is safe for concurrent use.
type Spooler struct {
	Now func() time.Time // required

	out disk.Turns // for the bytes of all bodies
}

// Spooled is a body that was read to its end and may be kept, in a temporary file, with the Meta that it will have.
// The file isn't synced.
type Spooled struct {
	Meta Meta
	File *os.File
}

// Remove closes and removes the file.
func (s *Spooled) Remove() {
	_ = s.File.Close()
	_ = os.Remove(s.File.Name())
}

// check refuses a request that no caller's input can lead to.
func (r PutRequest) check() error {
	if !ValidID(r.ID) || r.Owner == "" || r.Limit <= 0 {
		return errors.New("artifact: a Put needs a valid id, an owner and a limit")
	}
	if isInput(r.ID) && r.Upload || !isInput(r.ID) && r.Raw {
		return errors.New("artifact: an upload has a result's id, and its pieces have those of inputs")
	}
	return nil
}

// Spool reads the body into a new file in dir, hashed on the way, judges and measures it. Its errors are those of
// Store.Put, and leave no file.
func (s *Spooler) Spool(ctx context.Context, dir string, r PutRequest) (*Spooled, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(dir, TempPrefix)
	if err != nil {
		return nil, writeFault(err)
	}
	spooled := &Spooled{File: temp}
	if spooled.Meta, err = s.fill(ctx, temp, r); err != nil {
		spooled.Remove()
		return nil, err
	}
	return spooled, nil
}

// fill writes the body to temp and returns its Meta.
func (s *Spooler) fill(ctx context.Context, temp *os.File, r PutRequest) (Meta, error) {
	sum := sha256.New()
	var bodyErr error // the body's own error, told from the disk's
	n, err := io.Copy(io.MultiWriter(s.out.Writer(temp), sum), io.LimitReader(readerFunc(func(p []byte) (n int, err error) {
		if err = ctx.Err(); err == nil {
			n, err = r.Body.Read(p)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			bodyErr = err
		}
		return n, err
	}), min(r.Limit, math.MaxInt64-1)+1))
	switch {
	case bodyErr != nil:
		return Meta{}, bodyFault(ctx, r.Source, bodyErr)
	case err != nil:
		return Meta{}, writeFault(err)
	case n > r.Limit:
		return Meta{}, r.Source.TooLarge(r.Limit)
	case n == 0:
		return Meta{}, r.Source.bad("is empty", nil)
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	if r.SHA256 != "" && r.SHA256 != hash {
		return Meta{}, ErrHash
	}
	kind, err := judge(temp, r)
	if err != nil {
		return Meta{}, err
	}
	m := Meta{
		ID: r.ID, Owner: r.Owner, Capability: r.Capability, Upload: r.Upload, ContentType: kind, Bytes: n,
		SHA256: hash, CreatedAt: s.Now().UTC().Truncate(time.Millisecond),
	}
	m.ExpiresAt = r.ExpiresAt
	if r.TTL > 0 {
		m.ExpiresAt = m.CreatedAt.Add(r.TTL)
	}
	m.Width, m.Height, m.Duration = measure(temp, n, kind)
	return m, nil
}

// judge returns the content type of the spooled bytes, or Source's fault if it isn't allowed.
func judge(temp io.ReaderAt, r PutRequest) (string, error) {
	if r.Raw {
		return typeRaw, nil
	}
	head := make([]byte, SniffLen)
	n, err := temp.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", writeFault(err)
	}
	head = head[:n]
	if isInput(r.ID) || r.Upload {
		return InputType(head, r.ContentType, r.Source)
	}
	kind := Sniff(head)
	if kind == "" {
		return "", r.Source.bad(ofNoType, nil)
	}
	if family, _, _ := strings.Cut(kind, "/"); r.Kinds != nil && !slices.Contains(r.Kinds, family) {
		return "", r.Source.bad("is of another kind than was asked for", nil)
	}
	return kind, nil
}

const ofNoType = "is of no supported content type"

// InputType returns the content type of an input or of a media value in one, from its first SniffLen bytes. A claim to
// be text counts, if they are, and no other one; only an input may be a PDF, which browsers run. An error is source's
// fault.
func InputType(head []byte, claim string, source Source) (string, error) {
	if kind := textKind(claim); kind != "" && !isPDF(head) {
		if !isText(head) {
			return "", source.bad("is not text in UTF-8", nil)
		}
		return kind, nil
	}
	kind := Sniff(head)
	switch {
	case kind != "":
		return kind, nil
	case isPDF(head):
		return typePDF, nil
	default:
		return "", source.bad(ofNoType, nil)
	}
}

// readerFunc is an io.Reader by one function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// bodyFault leaves an error that has a code, as a Fetcher's, and the end of the context as they are.
func bodyFault(ctx context.Context, s Source, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || ctx.Err() != nil {
		return err
	}
	return s.bad("could not be read", err)
}
