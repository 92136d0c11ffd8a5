package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// The bounds of automatic retries, beside those of the service.
const (
	maxTries      = 6                      // of one request without a task, in all
	maxReopenings = 2                      // of a task, well below the five that the service grants a key
	maxPausing    = 3 * time.Minute        // from the first failure to the last try
	firstPause    = 500 * time.Millisecond // doubled after each try
	longestStep   = 20 * time.Second
)

// CreateOptions go with a creation.
type CreateOptions struct {
	IdempotencyKey string         // "": a fresh one
	Wait           *time.Duration // how long the service may hold the answer, whole seconds up to api.MaxWait; nil: its default
	OnRetry        func(Retry)    // optional; told of this creation's retries, beside Config.OnRetry
	// OnText, if not nil, gets the task's text piece by piece as it comes: best effort, and from the beginning again
	// after OnRetry. The task that ended has all of it.
	OnText func(piece string)

	follow bool           // the answer may be a stream of the task's events to its end
	onTask func(api.Task) // told of each revision that a stream brings
}

// Created is the result of a creation.
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

// Create submits a task; request is the JSON of an api.CreateRequest. A lost connection and a retryable error are tried again under the same Idempotency-Key with
// full jitter and never before the advised Retry-After: six times in all, within three minutes, and twice if that
// reopens a task. An advice of over a minute ends it. The service runs one task for a key, however often it is asked.
func (c *Client) Create(ctx context.Context, request []byte, o CreateOptions) (Created, error) {
	return c.create(ctx, request, o.complete(), &tries{})
}

// Finish creates a task as Create does and follows it to its end, which it returns: by the stream of its events, if the service has
// one, and as Follow does if that breaks off. A task that fails with a retryable error is tried again within the
// bounds of Create. onChange, if not nil, gets each new revision.
func (c *Client) Finish(ctx context.Context, request []byte, o CreateOptions, onChange func(api.Task)) (api.Task, error) {
	o.follow, o.onTask = true, onChange
	o = o.complete()
	var t tries
	for {
		created, err := c.create(ctx, request, o, &t)
		if err != nil {
			return api.Task{}, err
		}
		t = tries{reopened: t.reopened}
		last, err := c.FollowCreated(ctx, created, onChange)
		failure := last.Fault()
		if err != nil || failure == nil {
			return last, err
		}
		pause, again := t.next(failure)
		if !again {
			return last, nil
		}
		if !c.pause(ctx, o, t.retry(failure, pause)) {
			return last, failure
		}
	}
}

func (o CreateOptions) complete() CreateOptions {
	if o.IdempotencyKey == "" {
		o.IdempotencyKey = NewIdempotencyKey()
	}
	if o.OnRetry == nil {
		o.OnRetry = func(Retry) {}
	}
	o.follow = o.follow || o.OnText != nil
	if o.OnText == nil {
		o.OnText = func(string) {}
	}
	if o.onTask == nil {
		o.onTask = func(api.Task) {}
	}
	return o
}

func (c *Client) create(ctx context.Context, request []byte, o CreateOptions, t *tries) (Created, error) {
	for {
		created, err := c.createOnce(ctx, request, o)
		if err == nil || ctx.Err() != nil {
			return created, err
		}
		if o.follow && created.Task.ID == "" && heldBack(err) {
			o.follow = false
			if _, answered := errors.AsType[*Error](err); answered {
				continue
			}
		}
		pause, again := t.next(err)
		if !again || !c.pause(ctx, o, t.retry(err, pause)) {
			return created, err
		}
	}
}

// heldBack reports whether an error is of somebody between here and the service, who may not let streams through.
func heldBack(err error) bool {
	e, answered := errors.AsType[*Error](err)
	_, lost := errors.AsType[*UnreachableError](err)
	return answered && e.Foreign || lost
}

// pause tells of a retry and waits for its time; false if ctx ends before.
func (c *Client) pause(ctx context.Context, o CreateOptions, r Retry) bool {
	c.onRetry(r)
	o.OnRetry(r)
	return sleep(ctx, r.Pause)
}

func (c *Client) createOnce(ctx context.Context, request []byte, o CreateOptions) (Created, error) {
	h := http.Header{}
	h.Set(api.HeaderIdempotencyKey, o.IdempotencyKey)
	if o.Wait != nil {
		h.Set(api.HeaderPrefer, "wait="+strconv.Itoa(int(min(*o.Wait, api.MaxWait)/time.Second)))
	}
	r := call{method: http.MethodPost, path: api.PathTasks, body: json.RawMessage(request), header: h, limit: callTimeout + createWindow}
	if o.follow {
		return c.createStream(ctx, r, o)
	}
	a, err := send[api.Task](ctx, c, r)
	if err != nil {
		return Created{}, err
	}
	return Created{Task: a.value, Replayed: a.replayed, RetryAfter: a.retryAfter}, nil
}

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
	if taskOf(err) != "" {
		t.reopened++
	}
	pause, again := retryPause(err, t.failed)
	late := time.Since(t.since)+pause > maxPausing
	return pause, again && t.failed < maxTries && t.reopened <= maxReopenings && !late
}

func (t *tries) retry(err error, pause time.Duration) Retry {
	if taskOf(err) != "" {
		return Retry{Err: err, Pause: pause, Try: t.reopened + 1, Tries: maxReopenings + 1}
	}
	return Retry{Err: err, Pause: pause, Try: t.failed + 1, Tries: maxTries}
}

// taskOf returns the task that failed, "" if the request itself did.
func taskOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.TaskID
	}
	return ""
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
