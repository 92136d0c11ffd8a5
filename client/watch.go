package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The bounds of the time between the starts of two reads of a task.
const (
	minPoll = 2 * time.Second
	maxPoll = 5 * time.Second
	// roundTrip is kept free between a read's wait and the start of the next read, so that the answer is back by then.
	roundTrip = 500 * time.Millisecond
)

// Wait reads a task until it ends and returns it then, with the error of one that didn't end well. Only the ID of t is
// needed: Wait(ctx, c, &Task[TextChatOutput]{ID: id}). An ended one is returned at once.
func Wait[Out any](ctx context.Context, c *Client, t *Task[Out]) (*Task[Out], error) {
	last, err := c.watch(ctx, t.revision(), &teller{send: func(event) {}})
	if err == nil {
		err = last.err()
	}
	if last.raw == nil {
		return t, err
	}
	return ended[Out](last, err)
}

// PollInterval returns the time between the starts of two reads of a task: from the advice, or the least, up to a second
// more by chance, so that clients don't march in step. Wait keeps it by itself.
func PollInterval(advised time.Duration) time.Duration {
	return min(max(advised, minPoll)+rand.N(time.Second), maxPoll)
}

// watch reads a task until it ends, from what is known of it: it keeps the pause that the service asked for before the
// first read, and returns an ended task at once.
//
// A read asks for the stream of the task's events. Without a stream, or with a silent one, the task is read again and
// again: two reads start minPoll to maxPoll apart, later if a read took longer; each asks the service to hold the
// answer for nearly that long, so a change in between arrives at once. A stream that breaks off is such a read too.
// Lost connections and retryable errors are tried again until ctx ends; any other error ends it.
func (c *Client) watch(ctx context.Context, known *revision, tell *teller) (*revision, error) {
	if known.State.Terminal() {
		return known, nil
	}
	if known.retryAfter > 0 && !sleep(ctx, PollInterval(known.retryAfter)) {
		return known, ctx.Err()
	}
	w := watcher{client: c, id: known.ID, last: known, tell: tell}
	return w.run(ctx)
}

type watcher struct {
	client   *Client
	id       string
	tell     *teller
	last     *revision
	etag     string
	advised  time.Duration
	streamed bool // a stream brought an event once
	plain    bool // the next read doesn't ask for a stream: the last one that did was silent
}

func (w *watcher) run(ctx context.Context) (*revision, error) {
	for {
		started, gap := time.Now(), PollInterval(w.advised)
		extra, err := w.read(ctx, gap)
		if err != nil || w.last.State.Terminal() {
			return w.last, err
		}
		if gap < w.advised { // learnt from this very read
			gap = PollInterval(w.advised)
		}
		if !sleep(ctx, max(time.Until(started.Add(gap)), extra)) {
			return w.last, ctx.Err()
		}
	}
}

// read makes one GET, which lasts as long as the task if its answer is a stream. An error that allows another read
// becomes the pause before it.
func (w *watcher) read(ctx context.Context, gap time.Duration) (time.Duration, error) {
	err := w.get(ctx, gap-roundTrip)
	switch {
	case ctx.Err() != nil && err != nil:
		return 0, ctx.Err()
	case err != nil:
		return w.pause(err, gap)
	}
	return 0, nil
}

// get reads the task once, or hears its stream to the end: then there are no more changes.
func (w *watcher) get(ctx context.Context, wait time.Duration) error {
	call := reading(w.id, w.etag, wait)
	if w.plain {
		return w.getPlain(ctx, call)
	}
	r, streamed, a, err := w.client.listen(ctx, call, w.tell)
	heard := streamed && r.ID != ""
	w.streamed = w.streamed || heard
	w.plain = err != nil && !heard
	switch {
	case heard: // a stream that broke off is read on; whether the service is there shows then
		w.last, w.etag, w.advised = r, "", 0
		if err != nil && ctx.Err() == nil {
			w.tell.retry(Retry{Err: err, Pause: minPoll})
		}
		return nil
	case streamed:
		return err
	}
	if e, answered := errors.AsType[*Error](err); answered && e.Foreign {
		return w.getPlain(ctx, reading(w.id, w.etag, wait))
	}
	return w.take(r, a, err)
}

// getPlain reads the task once without a stream.
func (w *watcher) getPlain(ctx context.Context, call Call) error {
	r := &revision{}
	a, err := w.client.Do(ctx, call, r)
	w.plain = err != nil || !w.streamed
	return w.take(r, a, err)
}

// take keeps what a plain answer says.
func (w *watcher) take(r *revision, a Answer, err error) error {
	if err != nil {
		return err
	}
	r.take(a)
	w.advised = r.retryAfter
	if a.Status != http.StatusNotModified && r.ID != "" {
		w.last, w.etag = r, a.Header.Get("ETag")
		w.tell.task(r)
	}
	return nil
}

func (w *watcher) pause(err error, gap time.Duration) (time.Duration, error) {
	var extra time.Duration
	if _, lost := errors.AsType[*UnreachableError](err); !lost {
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Retryable {
			return 0, err
		}
		extra = min(e.RetryAfter, maxPause)
	}
	r := Retry{Err: err, Pause: max(gap, extra)}
	w.client.onRetry(r)
	w.tell.retry(r)
	return extra, nil
}

// reading is the call that reads a task: if it differs from the one of an ETag, if there is one, and held for a while
// until it does.
func reading(id, etag string, wait time.Duration) Call {
	h := http.Header{}
	if etag != "" {
		h.Set("If-None-Match", etag)
	}
	if s := int(min(wait, maxWait) / time.Second); s > 0 {
		h.Set(headerPrefer, "wait="+strconv.Itoa(s))
	}
	return Call{Path: taskPath(id), Header: h, Limit: callTimeout + wait}
}

func taskPath(id string) string { return pathTasks + "/" + url.PathEscape(id) }
