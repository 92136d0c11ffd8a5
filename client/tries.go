package client

import (
	"context"
	"errors"
	mathrand "math/rand/v2"
	"time"
)

// The bounds of automatic retries, beside those of the service.
const (
	maxTries      = 6                      // of one request without a task, in all
	maxReopenings = 2                      // of a task, well below the five that the service grants a key
	maxPausing    = 3 * time.Minute        // from the first failure to the last try
	firstPause    = 500 * time.Millisecond // doubled after each try
	longestStep   = 20 * time.Second
	maxPause      = time.Minute // a longer advice ends the tries
)

// tries counts retries.
type tries struct {
	failed   int       // requests in a row
	reopened int       // of the task
	since    time.Time // of the first failure in the row
}

// next counts a failure, and says whether it allows the same request again and after which pause.
func (t *tries) next(err error) (time.Duration, bool) {
	if t.failed++; t.failed == 1 {
		t.since = time.Now()
	}
	if failedTask(err) != "" {
		t.reopened++
	}
	pause, again := retryPause(err, t.failed)
	late := time.Since(t.since)+pause > maxPausing
	return pause, again && t.failed < maxTries && t.reopened <= maxReopenings && !late
}

func (t *tries) retry(err error, pause time.Duration) Retry {
	if failedTask(err) != "" {
		return Retry{Err: err, Pause: pause, Try: t.reopened + 1, Tries: maxReopenings + 1}
	}
	return Retry{Err: err, Pause: pause, Try: t.failed + 1, Tries: maxTries}
}

// again makes a request that is safe to repeat until it succeeds or no try is left. Two tries start at least apart.
func (c *Client) again(ctx context.Context, apart time.Duration, try func() error) error {
	var t tries
	for {
		began := time.Now()
		err := try()
		if err == nil || ctx.Err() != nil {
			return err
		}
		pause, again := t.next(err)
		if !again {
			return err
		}
		pause = max(pause, time.Until(began.Add(apart)))
		c.onRetry(t.retry(err, pause))
		if !sleep(ctx, pause) {
			return err
		}
	}
}

// failedTask returns the task that failed, "" if the request itself did.
func failedTask(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.TaskID
	}
	return ""
}

// retryPause says whether an error allows the same request again, and after which pause.
func retryPause(err error, try int) (time.Duration, bool) {
	var advised time.Duration
	if _, lost := errors.AsType[*UnreachableError](err); !lost {
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Retryable || e.RetryAfter > maxPause {
			return 0, false
		}
		advised = e.RetryAfter
	}
	return advised + mathrand.N(min(firstPause<<(try-1), longestStep)), true
}

// sleep waits for d and reports whether ctx lasted as long.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
