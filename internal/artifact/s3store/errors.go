package s3store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

func status(err error) int {
	if e, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return e.HTTPStatusCode()
	}
	return 0
}

func hasCode(err error, codes ...string) bool {
	e, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, e.ErrorCode())
}

// isMissing reports the answer about an object that isn't there.
func isMissing(err error) bool {
	return status(err) == http.StatusNotFound && !hasCode(err, "NoSuchBucket")
}

// isTaken reports that a condition of a request doesn't hold.
func isTaken(err error) bool { return status(err) == http.StatusPreconditionFailed }

// isAgain reports that another request for the same object was under way, or that an upload has ended meanwhile.
func isAgain(err error) bool {
	return status(err) == http.StatusConflict || hasCode(err, "NoSuchUpload")
}

// isRefused reports a refusal that stays until the operator changes something.
func isRefused(err error) bool {
	s := status(err)
	passing := []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusPreconditionFailed, http.StatusTooManyRequests}
	return s >= 300 && s < 500 && !slices.Contains(passing, s) && !hasCode(err, "RequestTimeout") || s == http.StatusNotImplemented
}

// readFault is the fault for an error of reading an object.
func (s *Store) readFault(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	return s.fault(ctx, operation, err, "an artifact can't be read at the moment")
}

// fault logs an error of the store and gives it a code; one that has a code stays as it is. The end of a caller's
// patience while the store was asked is an error of the store, too.
func (s *Store) fault(ctx context.Context, operation string, err error, message string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if ctx.Err() == nil {
		s.trouble.note(operation, err)
	}
	if isRefused(err) {
		return fault.Wrap(fault.Internal, fmt.Errorf("%w: %w", artifact.ErrDisk, err), message)
	}
	return fault.Wrap(fault.CapacityExhausted, err, message)
}

// trouble logs the errors of the store, one a minute: all requests meet the same.
type trouble struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

func (t *trouble) note(operation string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.last) >= time.Minute {
		t.last = now
		about := []any{slog.String("operation", operation), slog.Any("error", err)}
		if isRefused(err) {
			t.log.Error("the object store refuses a request: look at the credentials and their policy, the bucket and the region", about...)
		} else {
			t.log.Error("the object store doesn't answer as it should", about...)
		}
	}
}
