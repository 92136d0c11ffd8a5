package s3store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// errUnconditional is a store that overwrites an object although the request forbids it.
var errUnconditional = errors.New("the object store ignores the header If-None-Match: two nodes could overwrite each other's artifacts")

// Check asks the store for what every Put needs. Its error is one that the operator has to mend; a store that doesn't
// answer is logged only, because it may by the time it is needed.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(s.stall, 10*time.Second)) // a start waits for it
	defer cancel()
	if _, err := s.client.Options().Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("no credentials for %s: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the machine a role: %w", s.bucket, err)
	}
	err := s.Prove(ctx)
	if err == nil || isRefused(err) || errors.Is(err, errUnconditional) {
		return err
	}
	s.trouble.note("PutObject", err)
	return nil
}

// Prove finds out once whether the store honours the condition that all promises rest on: of two requests for a new
// object it must refuse the second. The object stays, so that later starts send one request.
func (s *Store) Prove(ctx context.Context) error {
	s.probing.Lock()
	defer s.probing.Unlock()
	for range 2 {
		if s.proved {
			return nil
		}
		err := s.putProbe(ctx)
		if err != nil && !isTaken(err) && !isAgain(err) {
			return fmt.Errorf("%s: %w", s.bucket, err)
		}
		s.proved = err != nil
	}
	if !s.proved {
		return fmt.Errorf("%s: %w", s.bucket, errUnconditional)
	}
	return nil
}

func (s *Store) putProbe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.stall)
	defer cancel()
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket.Name, Key: aws.String(s.prefix + "probe"), Body: strings.NewReader("conditions are honoured\n"), IfNoneMatch: onlyNew,
	})
	return err
}
