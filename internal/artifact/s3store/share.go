package s3store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"unitask/internal/artifact"
)

var _ artifact.Shares = (*Store)(nil)

// sharePrefix begins the keys of shares. They have no slashes: stores that keep folders make and remove them as objects
// come and go, and refuse a request that meets another one there.
const sharePrefix = "upload-"

// TakeShare implements artifact.Shares.
func (s *Store) TakeShare(ctx context.Context, owner string, share artifact.Share) error {
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket.Name, Key: aws.String(s.shareOf(owner, share)), Body: strings.NewReader(""),
	})
	if err != nil {
		return s.putFault(ctx, err)
	}
	return nil
}

// SharesOf implements artifact.Shares.
func (s *Store) SharesOf(ctx context.Context, owner string) (all []artifact.Share, _ error) {
	err := s.eachShare(ctx, s.sharesOf(owner), func(_ string, share artifact.Share) error {
		all = append(all, share)
		return nil
	})
	if err != nil {
		return nil, s.fault(ctx, "ListObjectsV2", err, "the service can't look at the account's uploads at the moment")
	}
	return all, nil
}

// GiveShare implements artifact.Shares.
func (s *Store) GiveShare(ctx context.Context, owner string, share artifact.Share) error {
	if err := s.remove(ctx, s.shareOf(owner, share)); err != nil {
		return s.fault(ctx, "DeleteObject", err, "what an upload takes could not be given back")
	}
	return nil
}

func (s *Store) shareOf(owner string, share artifact.Share) string {
	return s.sharesOf(owner) + share.Name()
}

// sharesOf begins the keys of an owner's shares, and of no other's.
func (s *Store) sharesOf(owner string) string {
	return s.prefix + sharePrefix + strings.ReplaceAll(owner, "/", "-") + "-"
}

// shareName returns the share's name in a key, which has two hyphens.
func shareName(key string) string {
	parts := strings.Split(key, "-")
	return strings.Join(parts[max(len(parts)-3, 0):], "-")
}

// eachShare visits the shares below a prefix with their keys.
func (s *Store) eachShare(ctx context.Context, prefix string, visit func(key string, share artifact.Share) error) error {
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket.Name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := s.nextPage(ctx, pages)
		if err != nil {
			return err
		}
		for _, entry := range page.Contents {
			key := aws.ToString(entry.Key)
			share, ok := artifact.ParseShare(shareName(key))
			if !ok {
				continue
			}
			if err := visit(key, share); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) nextPage(ctx context.Context, pages *s3.ListObjectsV2Paginator) (*s3.ListObjectsV2Output, error) {
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	return pages.NextPage(ctx)
}

// endShares removes the shares of all owners whose time is over. One bad one doesn't keep the others.
func (s *Store) endShares(ctx context.Context, now time.Time) error {
	var failed []error
	err := s.eachShare(ctx, s.prefix+sharePrefix, func(key string, share artifact.Share) error {
		if !now.Before(share.Until) {
			failed = append(failed, s.remove(ctx, key))
		}
		return ctx.Err()
	})
	return errors.Join(append(failed, err)...)
}
