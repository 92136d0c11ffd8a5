package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	library "unitask/client"
	"unitask/internal/api"
)

// CreateOptions go with a creation.
type CreateOptions struct {
	IdempotencyKey string         // "": a fresh one
	Wait           *time.Duration // how long the service may hold the answer, whole seconds up to api.MaxWait; nil: its default
	OnRetry        func(Retry)    // optional; told of this creation's retries, beside Config.OnRetry
	// OnText, if not nil, gets the text of a task that Finish follows, piece by piece as it comes: best effort, and from
	// the beginning again after OnRetry. The task that ended has all of it.
	OnText func(piece string)
	// OnThought, if not nil, gets the model's thoughts in the same way, where they are told.
	OnThought func(piece string)
}

// Created is the result of a creation.
type Created struct {
	Task       api.Task
	Replayed   bool          // the key was known: this is the task it made then
	RetryAfter time.Duration // pause before the first read; 0 for a task that has ended
}

// unread stands for an output that the library doesn't decode.
type unread struct{}

// UnmarshalJSON takes anything.
func (*unread) UnmarshalJSON([]byte) error { return nil }

// apiTask decodes a task that the library has read.
func apiTask(t *library.Task[unread]) (now api.Task, err error) {
	err = json.Unmarshal(t.Raw(), &now)
	return now, err
}

// Create submits a task; request is the JSON of an api.CreateRequest. Retries are the library's.
func (c *Client) Create(ctx context.Context, request []byte, o CreateOptions) (Created, error) {
	t, err := library.Submit(ctx, c.told(o), library.Body[unread](request), o.call()...)
	if err != nil {
		return Created{}, translated(err)
	}
	now, err := apiTask(t)
	return Created{Task: now, Replayed: t.Replayed, RetryAfter: t.RetryAfter}, err
}

// Finish creates a task as Create does and follows it to its end, which it returns: by the stream of its events, if the
// service has one, and as Follow does if that breaks off. A task that fails with a retryable error is tried again
// within the bounds of Create. onChange, if not nil, gets each new revision.
func (c *Client) Finish(ctx context.Context, request []byte, o CreateOptions, onChange func(api.Task)) (api.Task, error) {
	var last api.Task
	whole := false // the stream broke off, and its text comes from the beginning: the task will have all of it
	for e, err := range library.Stream(ctx, c.told(o), library.Body[unread](request), o.call()...) {
		switch {
		case err != nil:
			return last, unended(ctx, err)
		case e.Retry != nil:
			whole = e.Retry.Try == 0
		case e.Task != nil:
			if last, err = apiTask(e.Task); err != nil {
				return last, err
			}
			if onChange != nil {
				onChange(last)
			}
		case e.Delta.Text != "" && o.OnText != nil && !whole:
			o.OnText(e.Delta.Text)
		case e.Delta.Reasoning != "" && o.OnThought != nil && !whole:
			o.OnThought(e.Delta.Reasoning)
		}
	}
	return last, nil
}

// unended is the error of a task's events, nil if it is the task's own: it stands in the task. An end between two tries
// is told by the failure.
func unended(ctx context.Context, err error) error {
	if errors.Is(err, library.ErrCanceled) {
		return nil
	}
	e, coded := errors.AsType[*library.Error](err)
	if coded && e.Status == 0 && e.TaskID != "" && (ctx.Err() == nil || !e.Retryable) {
		return nil
	}
	return translated(err)
}

// told is the library's client, with the options' hook beside its own. Reads of a task are no retries of its creation.
func (c *Client) told(o CreateOptions) *library.Client {
	if o.OnRetry == nil {
		return c.library
	}
	return c.library.With(library.WithOnRetry(retold(func(r Retry) {
		c.onRetry(r)
		if r.Try > 0 {
			o.OnRetry(r)
		}
	})))
}

func (o CreateOptions) call() []library.CallOption {
	var options []library.CallOption
	if o.IdempotencyKey != "" {
		options = append(options, library.WithIdempotencyKey(o.IdempotencyKey))
	}
	if o.Wait != nil {
		options = append(options, library.WithWait(*o.Wait))
	}
	return options
}
