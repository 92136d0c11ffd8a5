package s3store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

const (
	dueFolder = "due/"
	dueLayout = "20060102T150405.000Z" // sorts as the times do
	duePage   = 1000                   // entries of one listing, the most that the protocol has
	// sweepMost bounds the entries of one sweep: of large inputs, whose objects went with their tasks, it is the only
	// bound.
	sweepMost  = 10_000
	sweepers   = 8 // objects that are looked at at once
	abortEvery = time.Hour
	// uploadAge is how old an upload in parts must be to be a crash's remains; a Put takes an hour at most.
	uploadAge = 24 * time.Hour
)

// due is an entry.
type due struct{ key, id string }

// entryOf is the key of the entry for an object that expires.
func (s *Store) entryOf(m artifact.Meta) string {
	return s.prefix + dueFolder + m.ExpiresAt.UTC().Format(dueLayout) + "-" + m.ID
}

// note writes the entry of an object that expires.
func (s *Store) note(ctx context.Context, m artifact.Meta) error {
	if m.ExpiresAt.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket.Name, Key: aws.String(s.entryOf(m)), Body: strings.NewReader(""),
	})
	return err
}

// Sweep implements artifact.Store. It costs a listing, and three requests for each object that is due; several nodes may
// sweep at once, and then count an object twice at most.
func (s *Store) Sweep(ctx context.Context, now time.Time, limit int) (int, error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	failed := []error{s.abortOld(ctx, now)}
	deleted, seen, after := 0, 0, ""
	for deleted < limit && seen < sweepMost {
		page, more, err := s.listDue(ctx, now, after, min(limit-deleted, duePage))
		failed = append(failed, err)
		if len(page) == 0 {
			break
		}
		n, err := s.expire(ctx, page, now)
		failed = append(failed, err)
		deleted, seen, after = deleted+n, seen+len(page), page[len(page)-1].key
		if !more || ctx.Err() != nil {
			break
		}
	}
	if err := errors.Join(failed...); err != nil {
		return deleted, s.fault(ctx, "Sweep", err, "old artifacts could not be deleted")
	}
	return deleted, nil
}

// listDue returns the first entries behind a key that are due at now; more is whether there may be others.
func (s *Store) listDue(ctx context.Context, now time.Time, after string, most int) (page []due, more bool, _ error) {
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	folder := s.prefix + dueFolder
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket.Name, Prefix: &folder, MaxKeys: aws.Int32(int32(most))}
	if after != "" {
		in.StartAfter = &after
	}
	list, err := s.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, false, err
	}
	end := now.UTC().Format(dueLayout)
	for _, entry := range list.Contents {
		key := aws.ToString(entry.Key)
		at, id, _ := strings.Cut(strings.TrimPrefix(key, folder), "-")
		if at > end {
			return page, false, nil
		}
		page = append(page, due{key, id})
	}
	return page, aws.ToBool(list.IsTruncated), nil
}

// expire deletes the objects of entries that are due, then the entries. One bad object doesn't keep the others.
func (s *Store) expire(ctx context.Context, page []due, now time.Time) (int, error) {
	var deleted atomic.Int64
	failed := make([]error, len(page))
	at := make(chan struct{}, sweepers)
	var all sync.WaitGroup
	for i, entry := range page {
		at <- struct{}{}
		all.Go(func() {
			defer func() { <-at }()
			gone, err := s.expireOne(ctx, entry, now)
			if gone {
				deleted.Add(1)
			}
			failed[i] = err
		})
	}
	all.Wait()
	return int(deleted.Load()), errors.Join(failed...)
}

// expireOne deletes an object if its own Meta says that it has expired: it may have been kept again since, or for
// longer by another Put of the same id. A damaged one stays, is named once, and has no entry from then on.
func (s *Store) expireOne(ctx context.Context, entry due, now time.Time) (gone bool, _ error) {
	m, _, err := s.head(ctx, entry.id)
	named := err
	switch {
	case err == nil && m.Expired(now):
		if err := s.remove(ctx, s.key(m.ID)); err != nil {
			return false, err
		}
		gone = true
	case err == nil, fault.CodeOf(err) == fault.NotFound:
		named = nil
	case !errors.Is(err, artifact.ErrDamaged):
		return false, err
	}
	return gone, errors.Join(named, s.remove(ctx, entry.key))
}

// abortOld drops the parts of uploads that a crash has cut short.
func (s *Store) abortOld(ctx context.Context, now time.Time) error {
	if !now.Before(s.aborted) && now.Before(s.aborted.Add(abortEvery)) {
		return nil
	}
	listing, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	list, err := s.client.ListMultipartUploads(listing, &s3.ListMultipartUploadsInput{Bucket: &s.bucket.Name, Prefix: &s.prefix})
	if err != nil {
		return err
	}
	for _, upload := range list.Uploads {
		id := strings.TrimPrefix(aws.ToString(upload.Key), s.prefix)
		if artifact.ValidID(id) && now.Sub(aws.ToTime(upload.Initiated)) >= uploadAge {
			s.abort(ctx, aws.ToString(upload.Key), aws.ToString(upload.UploadId))
		}
	}
	if err := s.endShares(ctx, now); err != nil {
		return err
	}
	s.aborted = now
	return nil
}
