package s3store

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"unitask/internal/artifact"
)

const (
	largest     = 16 << 20 // bytes that are sent in one request
	partSize    = 8 << 20
	mostParts   = 10_000 // of one object, by the protocol
	partsAtOnce = 8      // of all objects; they are sent from their files, without a copy in memory
)

// putParts sends the object in parts, which become one in the last request. If that doesn't come about, the parts
// are dropped.
func (s *Store) putParts(ctx context.Context, spooled *artifact.Spooled, meta map[string]string) (err error) {
	m, key := spooled.Meta, s.key(spooled.Meta.ID)
	begun, err := s.begin(ctx, key, m.ContentType, meta)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.abort(ctx, key, begun)
		}
	}()
	parts, err := s.sendParts(ctx, spooled, key, begun)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 6*s.stall)
	defer cancel()
	_, err = s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.bucket.Name, Key: &key, UploadId: &begun, IfNoneMatch: onlyNew,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	return err
}

func (s *Store) begin(ctx context.Context, key, contentType string, meta map[string]string) (upload string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	begun, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &s.bucket.Name, Key: &key, Metadata: meta, ContentType: &contentType,
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(begun.UploadId), nil
}

// abort drops the parts, also at the end of the task that they are of. Those that a crash or a dead store leaves go
// with a later sweep.
func (s *Store) abort(ctx context.Context, key, upload string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.stall)
	defer cancel()
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket.Name, Key: &key, UploadId: &upload})
	if err != nil && !isMissing(err) {
		s.trouble.note("AbortMultipartUpload", err)
	}
}

// sendParts sends all parts, several at once, and returns them in their order. After the first error no others begin.
// No request is under way when it returns.
func (s *Store) sendParts(ctx context.Context, spooled *artifact.Spooled, key, upload string) ([]types.CompletedPart, error) {
	size := spooled.Meta.Bytes
	each := max(partSize, (size+mostParts-1)/mostParts)
	parts := make([]types.CompletedPart, (size+each-1)/each)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var sending sync.WaitGroup
	for i := range parts {
		select {
		case s.parts <- struct{}{}:
		case <-ctx.Done():
			sending.Wait()
			return nil, context.Cause(ctx)
		}
		sending.Go(func() {
			defer func() { <-s.parts }()
			at := int64(i) * each
			body := io.NewSectionReader(spooled.File, at, min(each, size-at))
			var err error
			if parts[i], err = s.sendPart(ctx, key, upload, int32(i+1), body); err != nil {
				fail(err)
			}
		})
	}
	sending.Wait()
	return parts, context.Cause(ctx)
}

func (s *Store) sendPart(ctx context.Context, key, upload string, number int32, body *io.SectionReader) (types.CompletedPart, error) {
	ctx, cancel := lingering(ctx, s.stall/6, 6*s.stall)
	defer cancel()
	sent, err := s.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &s.bucket.Name, Key: &key, UploadId: &upload, PartNumber: &number, Body: body, ContentLength: aws.Int64(body.Size()),
	})
	if err != nil {
		return types.CompletedPart{}, err
	}
	return types.CompletedPart{ETag: sent.ETag, PartNumber: &number}, nil
}

// lingering returns a context that outlives ctx by a grace, and holds for so long at most: a store may keep a part
// whose request was cut off just when its upload was aborted.
func lingering(ctx context.Context, grace, most time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
