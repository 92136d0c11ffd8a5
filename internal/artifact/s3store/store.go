// Package s3store keeps artifacts in an S3-compatible object store, which any number of nodes may share.
//
// Below the prefix of the bucket are
//
//	art_…, in_…        an object each: its bytes, and its Meta as JSON in the metadata "unitask"
//	due/TIME-art_…     an empty entry for each object that expires, in the order of time
//	upload-OWNER-…     an empty entry for each share that an owner's uploads take, which its name describes
//	probe              shows that the store honours conditions
//
// An object becomes complete in one request, which has the condition that there is no object of its name. Its entry is
// written before, so that a crash leaves at most an entry without an object, and every object that expires is found by
// listing the entries up to now. Entries are hints: an object's own Meta decides.
//
// Requests that get no answer, and refusals that a later request may not meet, are CAPACITY_EXHAUSTED; a refusal that
// the operator has to mend, such as of the key, is artifact.ErrDisk. Both are logged.
package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"unitask/internal/artifact"
	"unitask/internal/disk"
	"unitask/internal/fault"
)

// Config configures a Store. Bucket and Dir are required.
type Config struct {
	Bucket artifact.Bucket
	Dir    string           // for bodies that are on their way to the store; made if it is missing, belongs to this store alone
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discarded
	// Stall is how long a connection may be silent, and a request that moves no bytes may take with its repetitions; one
	// that moves some may take six times as long. 0: 30 s, for a busy store may take several seconds for one.
	Stall time.Duration
}

// Store is an artifact.Store in a bucket.
type Store struct {
	bucket  artifact.Bucket
	prefix  string // of every key: "", or with a slash at its end
	dir     string
	client  *s3.Client
	spooler artifact.Spooler
	parts   chan struct{} // holds one value for each part that is being sent
	stall   time.Duration
	trouble trouble

	probing sync.Mutex
	proved  bool // under probing: the store honours conditions

	sweeping sync.Mutex
	aborted  time.Time // under sweeping: when old uploads were last looked for
}

var _ artifact.Store = (*Store)(nil)

// New finds the credentials and returns a Store. It sends no request to the bucket; Check does.
func New(ctx context.Context, c Config) (*Store, error) {
	if c.Bucket.Name == "" || c.Dir == "" {
		return nil, errors.New("s3store: Bucket and Dir are required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Stall == 0 {
		c.Stall = 30 * time.Second
	}
	if err := emptyFolder(c.Dir); err != nil {
		return nil, err
	}
	s := &Store{
		bucket: c.Bucket, dir: c.Dir, spooler: artifact.Spooler{Now: c.Now},
		parts: make(chan struct{}, partsAtOnce), stall: c.Stall, trouble: trouble{log: c.Logger.With(slog.String("bucket", c.Bucket.String()))},
	}
	if c.Bucket.Prefix != "" {
		s.prefix = c.Bucket.Prefix + "/"
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(newClient(c.Stall)), config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, fmt.Errorf("the settings for %s: %w", c.Bucket, err)
	}
	s.client = s3.NewFromConfig(loaded, func(o *s3.Options) { adapt(o, c.Bucket) })
	if s.client.Options().Region == "" {
		return nil, fmt.Errorf("no region is known for %s: add ?region=… or set AWS_REGION", c.Bucket)
	}
	return s, nil
}

// adapt has the client speak to the bucket's endpoint, as all kinds of stores understand it.
func adapt(o *s3.Options, b artifact.Bucket) {
	o.UsePathStyle = b.PathStyle
	// Checksums beyond the signature's are unknown to some stores.
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	if b.Region != "" {
		o.Region = b.Region
	}
	if b.Endpoint != "" {
		o.BaseEndpoint = aws.String(b.Endpoint)
		if o.Region == "" {
			o.Region = "us-east-1" // which stores without regions expect
		}
	}
}

// emptyFolder makes the folder, or removes the bodies that a crash left in it.
func emptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	remains, err := filepath.Glob(filepath.Join(dir, artifact.TempPrefix+"*"))
	for _, file := range remains {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// Stat implements artifact.Store.
func (s *Store) Stat(ctx context.Context, id string) (artifact.Meta, error) {
	m, _, err := s.head(ctx, id)
	return m, s.readFault(ctx, "HeadObject", err)
}

// Open implements artifact.Store. It doesn't read yet.
func (s *Store) Open(ctx context.Context, id string) (artifact.Meta, io.ReadSeekCloser, error) {
	m, etag, err := s.head(ctx, id)
	if err != nil {
		return artifact.Meta{}, nil, s.readFault(ctx, "HeadObject", err)
	}
	return m, &reader{store: s, ctx: ctx, key: s.key(id), etag: etag, size: m.Bytes}, nil
}

// Delete implements artifact.Store. The object's entry stays until its time has come.
func (s *Store) Delete(ctx context.Context, id string) error {
	if !artifact.ValidID(id) {
		return ctx.Err()
	}
	if err := s.remove(ctx, s.key(id)); err != nil {
		return s.fault(ctx, "DeleteObject", err, "an artifact could not be deleted")
	}
	return nil
}

// Room implements artifact.Store: it is that of bodies on their way, for the store's own isn't known.
func (s *Store) Room() (int64, error) { return disk.Free(s.dir) }

// Close implements artifact.Store. Idle connections close by themselves.
func (s *Store) Close() error { return nil }

// key is the name of a valid id's object.
func (s *Store) key(id string) string { return s.prefix + id }

// head returns the Meta of an object and its ETag.
func (s *Store) head(ctx context.Context, id string) (artifact.Meta, string, error) {
	if err := ctx.Err(); err != nil {
		return artifact.Meta{}, "", err
	}
	if !artifact.ValidID(id) {
		return artifact.Meta{}, "", artifact.NotFound()
	}
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	found, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket.Name, Key: aws.String(s.key(id))})
	if isMissing(err) {
		return artifact.Meta{}, "", artifact.NotFound()
	}
	if err != nil {
		return artifact.Meta{}, "", err
	}
	m, err := artifact.DecodeMeta([]byte(found.Metadata[metaName]))
	switch {
	case err != nil:
	case m.ID != id:
		err = errors.New("it describes another id")
	case m.Bytes != aws.ToInt64(found.ContentLength):
		err = fmt.Errorf("it has %d bytes, not %d", aws.ToInt64(found.ContentLength), m.Bytes)
	}
	if err != nil {
		return artifact.Meta{}, "", fault.Wrap(fault.Internal, fmt.Errorf("%s is %w: %w", id, artifact.ErrDamaged, err), "an artifact can't be read")
	}
	return m, aws.ToString(found.ETag), nil
}

func (s *Store) remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket.Name, Key: &key})
	if isMissing(err) { // as some stores say, and AWS doesn't
		return nil
	}
	return err
}
