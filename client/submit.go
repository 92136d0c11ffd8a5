package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// maxWait is the longest that the service holds an answer.
const maxWait = 60 * time.Second

// CallOption changes one creation.
type CallOption func(*creation)

// WithIdempotencyKey creates the task under a key of the caller's own, of 8 to 128 characters. The same key again, also
// from another process, returns the same task; a program that keeps the key before it calls survives its own end.
func WithIdempotencyKey(key string) CallOption { return func(o *creation) { o.key = key } }

// WithWait has the service hold its answer to Submit until the task has ended, whole seconds up to 60; 0 answers at
// once. Without it, the service decides by the capability.
func WithWait(d time.Duration) CallOption {
	return func(o *creation) { o.wait = strconv.Itoa(int(min(max(d, 0), maxWait) / time.Second)) }
}

// NewIdempotencyKey returns a fresh key: 128 random bits in hexadecimal.
func NewIdempotencyKey() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails, by its documentation
	return hex.EncodeToString(raw[:])
}

// Submit creates a task and returns it as it is then: ended, or to be read on by Wait or Watch. A failure within the
// request is an *Error.
func Submit[Out any](ctx context.Context, c *Client, in Input[Out], options ...CallOption) (*Task[Out], error) {
	o, err := c.creation(in, options)
	if err != nil {
		return nil, err
	}
	r, err := o.create(ctx, &tries{})
	if err != nil {
		return nil, err
	}
	return taskOf[Out](r)
}

// Run creates a task, follows it to its end and returns it. The error is the task's own if it didn't end well; the task
// comes with it, if there is one.
func Run[Out any](ctx context.Context, c *Client, in Input[Out], options ...CallOption) (*Task[Out], error) {
	o, err := c.creation(in, options)
	if err != nil {
		return nil, err
	}
	return ended[Out](o.finish(ctx))
}

// ended decodes a task at its end.
func ended[Out any](r *revision, err error) (*Task[Out], error) {
	if r == nil || r.ID == "" || r.raw == nil {
		return nil, err
	}
	t, wrong := taskOf[Out](r)
	if err == nil {
		err = wrong
	}
	return t, err
}

// creation is the request of one task, with its key.
type creation struct {
	client *Client
	body   json.RawMessage
	key    string
	wait   string
	follow bool // the answer may be a stream of the task's events to its end
	tell   teller
}

// creation writes a request once, for all tries.
func (c *Client) creation(in interface {
	body() (json.RawMessage, error)
}, options []CallOption,
) (*creation, error) {
	body, err := in.body()
	if err != nil {
		return nil, err
	}
	o := &creation{client: c, body: body, tell: teller{send: func(event) {}}}
	for _, option := range options {
		option(o)
	}
	if o.key == "" {
		o.key = NewIdempotencyKey()
	}
	return o, nil
}

// finish creates the task and follows it to its end: by the stream of its events, if the service has one, and as
// Watch does if that breaks off. A task that fails with a retryable error is tried again.
func (o *creation) finish(ctx context.Context) (*revision, error) {
	o.follow = true
	var t tries
	for {
		r, err := o.create(ctx, &t)
		if err != nil {
			return nil, err
		}
		t = tries{reopened: t.reopened}
		last, err := o.client.watch(ctx, r, &o.tell)
		if err != nil {
			return last, err
		}
		failure := last.failure()
		if failure == nil {
			return last, last.err()
		}
		pause, again := t.next(failure)
		if !again || !o.pause(ctx, t.retry(failure, pause)) {
			return last, failure
		}
	}
}

// create makes the request until it has an answer that can be kept.
func (o *creation) create(ctx context.Context, t *tries) (*revision, error) {
	for {
		r, err := o.createOnce(ctx)
		if err == nil {
			o.tell.task(r)
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if o.follow && heldBack(err) {
			o.follow = false
			if _, answered := errors.AsType[*Error](err); answered {
				continue
			}
		}
		pause, again := t.next(err)
		if !again || !o.pause(ctx, t.retry(err, pause)) {
			return nil, err
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
func (o *creation) pause(ctx context.Context, r Retry) bool {
	o.client.onRetry(r)
	o.tell.retry(r)
	return sleep(ctx, r.Pause)
}

func (o *creation) createOnce(ctx context.Context) (*revision, error) {
	h := http.Header{}
	h.Set(headerIdempotencyKey, o.key)
	if o.wait != "" {
		h.Set(headerPrefer, "wait="+o.wait)
	}
	call := Call{Method: http.MethodPost, Path: pathTasks, Body: o.body, Header: h, Limit: callTimeout + createWindow}
	if o.follow {
		return o.createStream(ctx, call)
	}
	var r revision
	a, err := o.client.Do(ctx, call, &r)
	if err != nil {
		return nil, err
	}
	r.take(a)
	return &r, nil
}

// take keeps the values of an answer's head.
func (r *revision) take(a Answer) {
	r.replayed = a.Header.Get(headerReplayed) == "true"
	r.retryAfter = a.RetryAfter()
}
