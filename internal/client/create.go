package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
)

const (
	createTries = 6                      // in all; with the pauses below about a minute
	firstPause  = 500 * time.Millisecond // doubled after each try
	longestStep = 20 * time.Second
)

// CreateOptions go with a creation.
type CreateOptions struct {
	IdempotencyKey string         // "": a fresh one
	Wait           *time.Duration // how long the service may hold the answer, whole seconds up to api.MaxWait; nil: its default
}

// Created is what the service made of a creation.
type Created struct {
	Task       api.Task
	Replayed   bool          // the key was known: this is the task it made then
	RetryAfter time.Duration // pause before the first read; 0 for a task that has ended
}

// NewIdempotencyKey returns a fresh key: 128 random bits in hexadecimal.
func NewIdempotencyKey() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails, by its documentation
	return hex.EncodeToString(raw[:])
}

// Create submits a task. A lost connection and a retryable error are tried again under the same
// Idempotency-Key, at most six times, with full jitter and never before the advised Retry-After; an
// advice of over a minute ends it. The service runs one task for a key, however often it is asked.
func (c *Client) Create(ctx context.Context, req api.CreateRequest, o CreateOptions) (Created, error) {
	if o.IdempotencyKey == "" {
		o.IdempotencyKey = NewIdempotencyKey()
	}
	for try := 1; ; try++ {
		created, err := c.createOnce(ctx, req, o)
		if err == nil || try == createTries || ctx.Err() != nil {
			return created, err
		}
		pause, again := retryPause(err, try)
		if !again {
			return created, err
		}
		c.onRetry(Retry{Err: err, Pause: pause})
		if !sleep(ctx, pause) {
			return created, err
		}
	}
}

func (c *Client) createOnce(ctx context.Context, req api.CreateRequest, o CreateOptions) (Created, error) {
	h := http.Header{}
	h.Set(api.HeaderIdempotencyKey, o.IdempotencyKey)
	if o.Wait != nil {
		h.Set(api.HeaderPrefer, "wait="+strconv.Itoa(int(min(*o.Wait, api.MaxWait)/time.Second)))
	}
	a, err := send[api.Task](ctx, c, call{
		method: http.MethodPost, path: api.PathTasks, body: req, header: h, limit: callTimeout + createWindow,
	})
	if err != nil {
		return Created{}, err
	}
	return Created{Task: a.value, Replayed: a.replayed, RetryAfter: a.retryAfter}, nil
}

// retryPause says whether an error allows the same request again, and after which pause.
func retryPause(err error, try int) (time.Duration, bool) {
	var advised time.Duration
	if _, lost := errors.AsType[*UnreachableError](err); !lost {
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || !e.Retryable() || e.RetryAfter > maxPause {
			return 0, false
		}
		advised = e.RetryAfter
	}
	step := min(firstPause<<(try-1), longestStep)
	return advised + mathrand.N(step), true
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
