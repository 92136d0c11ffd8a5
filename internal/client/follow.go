package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// roundTrip is kept free between a read's wait and the start of the next read, so that the answer
// is back by then.
const roundTrip = 500 * time.Millisecond

// Follow reads a task until it ends and returns it then. onChange, if not nil, is called from this goroutine with
// each new revision, the last one included. A read asks for the stream of the task's events. Without a stream, or
// with a silent one, the task is read again and again: two reads start api.MinPoll to api.MaxPoll apart, later if a
// read took longer; each asks the service to hold the answer for nearly that long, so a change in between arrives at
// once. A stream that breaks off is such a read too. Lost connections and retryable errors are tried again until ctx
// ends; any other error ends it.
func (c *Client) Follow(ctx context.Context, id string, onChange func(api.Task)) (api.Task, error) {
	f := follower{client: c, id: id, onChange: onChange}
	if f.onChange == nil {
		f.onChange = func(api.Task) {}
	}
	return f.run(ctx)
}

// Hear reads a task by one stream of its events, until the task ends or the stream does: onTask is told each
// revision, onText the text piece by piece, from its beginning. A service without streams tells the task once.
func (c *Client) Hear(ctx context.Context, id string, onTask func(api.Task), onText func(string)) error {
	a, streamed, err := c.listen(ctx, reading(id, GetOptions{}), hearer{onTask, onText})
	if !streamed && err == nil {
		onTask(a.value)
	}
	return err
}

// FollowCreated is Follow for a task just created: it keeps the pause that the service asked for before the first
// read, and returns an ended task at once.
func (c *Client) FollowCreated(ctx context.Context, created Created, onChange func(api.Task)) (api.Task, error) {
	t := created.Task
	if onChange != nil {
		onChange(t)
	}
	if t.State.Terminal() {
		return t, nil
	}
	if created.RetryAfter > 0 && !sleep(ctx, PollInterval(created.RetryAfter)) {
		return t, ctx.Err()
	}
	return c.Follow(ctx, t.ID, func(now api.Task) {
		if onChange != nil && (now.State != t.State || !now.UpdatedAt.Equal(t.UpdatedAt.Time)) {
			onChange(now)
		}
	})
}

type follower struct {
	client   *Client
	id       string
	onChange func(api.Task)
	last     api.Task
	etag     string
	advised  time.Duration
	streamed bool // a stream brought an event once
	plain    bool // the next read doesn't ask for a stream: the last one that did was silent
}

func (f *follower) run(ctx context.Context) (api.Task, error) {
	for {
		started, gap := time.Now(), PollInterval(f.advised)
		extra, err := f.read(ctx, gap)
		if err != nil || f.last.State.Terminal() {
			return f.last, err
		}
		if gap < f.advised { // learnt from this very read
			gap = PollInterval(f.advised)
		}
		if !sleep(ctx, max(time.Until(started.Add(gap)), extra)) {
			return f.last, ctx.Err()
		}
	}
}

// read makes one GET, which lasts as long as the task if its answer is a stream. An error that allows another read
// becomes the pause before it.
func (f *follower) read(ctx context.Context, gap time.Duration) (time.Duration, error) {
	r, err := f.get(ctx, gap-roundTrip)
	switch {
	case ctx.Err() != nil && err != nil:
		return 0, ctx.Err()
	case err != nil:
		return f.pause(err, gap)
	}
	f.advised = r.RetryAfter
	if !r.NotModified && r.Task.ID != "" {
		f.last, f.etag = r.Task, r.ETag
		f.onChange(r.Task)
	}
	return 0, nil
}

// get reads the task once, or hears its stream to the end: then there are no more changes.
func (f *follower) get(ctx context.Context, wait time.Duration) (Reading, error) {
	o := GetOptions{ETag: f.etag, Wait: wait}
	if f.plain {
		return f.getPlain(ctx, o)
	}
	heard := false
	a, streamed, err := f.client.listen(ctx, reading(f.id, o), hearer{
		task: func(now api.Task) { heard = true; f.hear(now) },
		text: func(string) {},
	})
	f.streamed = f.streamed || heard
	f.plain = err != nil && !heard
	switch {
	case heard: // a stream that broke off is read on; whether the service is there shows then
		return Reading{}, nil
	case streamed:
		return Reading{}, err
	}
	if e, answered := errors.AsType[*Error](err); answered && e.Foreign {
		return f.getPlain(ctx, o)
	}
	return readingOf(a), err
}

// getPlain reads the task once without a stream.
func (f *follower) getPlain(ctx context.Context, o GetOptions) (Reading, error) {
	r, err := f.client.Get(ctx, f.id, o)
	f.plain = err != nil || !f.streamed
	return r, err
}

// hear takes a revision from a stream, which begins with one that may be known.
func (f *follower) hear(now api.Task) {
	known := now.State == f.last.State && now.UpdatedAt.Equal(f.last.UpdatedAt.Time) && same(now.Progress, f.last.Progress)
	f.last, f.etag = now, ""
	if !known {
		f.onChange(now)
	}
}

// same reports whether two tasks say the same of their progress.
func same(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func (f *follower) pause(err error, gap time.Duration) (time.Duration, error) {
	var extra time.Duration
	if _, lost := errors.AsType[*UnreachableError](err); !lost {
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || !e.Retryable() {
			return 0, err
		}
		extra = min(e.RetryAfter, maxPause)
	}
	f.client.onRetry(Retry{Err: err, Pause: max(gap, extra)})
	return extra, nil
}

// PollInterval returns the time between the starts of two reads: from the advice, or the least, up to a
// second more by chance, so that clients don't march in step.
func PollInterval(advised time.Duration) time.Duration {
	return min(max(advised, api.MinPoll)+rand.N(time.Second), api.MaxPoll)
}
