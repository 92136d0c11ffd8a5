package s3store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

const (
	metaName = "unitask" // of the metadata that holds the Meta
	// tries is how often an object is put whose name another request had hold of at that moment.
	tries = 3
)

// errAgain is that another request was under way for the same object.
var errAgain = errors.New("another request for the same object was under way")

// onlyNew is the condition that there is no object of the name.
var onlyNew = aws.String("*")

// Put implements artifact.Store. The body is spooled on the local disk first: the store asks for its length, and the
// object's metadata for its hash.
func (s *Store) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	spooled, err := s.spooler.Spool(ctx, s.dir, r)
	if err != nil {
		return artifact.Meta{}, err
	}
	defer spooled.Remove()
	if err := s.Prove(ctx); err != nil {
		return artifact.Meta{}, s.putFault(ctx, err)
	}
	for try := 1; ; try++ {
		m, err := s.keep(ctx, spooled)
		if errors.Is(err, artifact.ErrExists) || err == nil {
			return m, err
		}
		if !errors.Is(err, errAgain) || try == tries {
			return artifact.Meta{}, s.putFault(ctx, err)
		}
	}
}

func (s *Store) putFault(ctx context.Context, err error) error {
	return s.fault(ctx, "PutObject", err, "the service can't keep data at the moment")
}

// keep sends the spooled bytes, unless the id is complete already.
func (s *Store) keep(ctx context.Context, spooled *artifact.Spooled) (artifact.Meta, error) {
	m := spooled.Meta
	meta, err := encodeMeta(m)
	if err != nil {
		return artifact.Meta{}, err
	}
	large := m.Bytes > largest
	if large { // the condition would refuse it only after all of it was sent
		if first, err := s.first(ctx, m); fault.CodeOf(err) != fault.NotFound {
			return first, err
		}
	}
	if err := s.note(ctx, m); err != nil {
		return artifact.Meta{}, err
	}
	if large {
		err = s.putParts(ctx, spooled, meta)
	} else {
		err = s.putWhole(ctx, spooled, meta)
	}
	switch {
	case err == nil:
		return m, nil
	case isTaken(err): // also when an answer was lost and the client repeated the request
		first, err := s.first(ctx, m)
		if fault.CodeOf(err) == fault.NotFound {
			return artifact.Meta{}, errAgain // deleted since
		}
		return first, err
	case isAgain(err):
		return artifact.Meta{}, fmt.Errorf("%w: %w", errAgain, err)
	default:
		return artifact.Meta{}, err
	}
}

// first returns the Meta of the object that has the id, with ErrExists if it has other bytes than m.
func (s *Store) first(ctx context.Context, m artifact.Meta) (artifact.Meta, error) {
	first, _, err := s.head(ctx, m.ID)
	if err == nil && first.SHA256 != m.SHA256 {
		err = artifact.ErrExists
	}
	return first, err
}

// encodeMeta returns the Meta as metadata, which takes only ASCII.
func encodeMeta(m artifact.Meta) (map[string]string, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	for _, c := range raw {
		if c < ' ' || c > '~' {
			return nil, fmt.Errorf("s3store: the Meta of %s has the byte %#x, which an object's metadata can't have", m.ID, c)
		}
	}
	return map[string]string{metaName: string(raw)}, nil
}

// putWhole sends the object in one request.
func (s *Store) putWhole(ctx context.Context, spooled *artifact.Spooled, meta map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, 6*s.stall)
	defer cancel()
	m := spooled.Meta
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket.Name, Key: aws.String(s.key(m.ID)), IfNoneMatch: onlyNew, Metadata: meta, ContentType: &m.ContentType,
		Body: io.NewSectionReader(spooled.File, 0, m.Bytes), ContentLength: &m.Bytes,
	}, signedHash(m.SHA256))
	return err
}

// signedHash has the request signed with the known SHA-256 of its body: the store refuses any other bytes, and the
// body needn't be read once more for it.
func signedHash(sum string) func(*s3.Options) {
	return s3.WithAPIOptions(func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SignedHash", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			return next.HandleInitialize(v4.SetPayloadHash(ctx, sum), in)
		}), middleware.Before)
	})
}
