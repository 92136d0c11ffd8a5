package client

import (
	"context"
	"iter"

	library "unitask/client"
	"unitask/internal/api"
)

// Follow reads a task until it ends and returns it then. onChange, if not nil, is called from this goroutine with each
// new revision, the last one included. Lost connections and retryable errors are tried again until ctx ends; any other
// error ends it.
func (c *Client) Follow(ctx context.Context, id string, onChange func(api.Task)) (api.Task, error) {
	return follow(ctx, library.Watch(ctx, c.library, &library.Task[unread]{ID: id}), api.Task{}, onChange)
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
	return follow(ctx, library.Watch(ctx, c.library, &library.Task[unread]{
		ID: t.ID, State: library.State(t.State), UpdatedAt: t.UpdatedAt.Time, Progress: t.Progress, RetryAfter: created.RetryAfter,
	}), t, onChange)
}

func follow(ctx context.Context, events iter.Seq2[library.Event[unread], error], last api.Task, onChange func(api.Task)) (api.Task, error) {
	for e, err := range events {
		if err != nil {
			return last, unended(ctx, err)
		}
		if e.Task == nil {
			continue
		}
		if last, err = apiTask(e.Task); err != nil {
			return last, err
		}
		if onChange != nil {
			onChange(last)
		}
	}
	return last, nil
}

// Hear reads a task by one stream of its events, until the task ends or the stream does: onTask is told each
// revision, onText the text piece by piece, from its beginning. A service without streams tells the task once.
func (c *Client) Hear(ctx context.Context, id string, onTask func(api.Task), onText func(string)) error {
	for e, err := range library.Listen[unread](ctx, c.library, id) {
		switch {
		case err != nil:
			return translated(err)
		case e.Task != nil:
			now, err := apiTask(e.Task)
			if err != nil {
				return err
			}
			onTask(now)
		case e.Delta.Text != "":
			onText(e.Delta.Text)
		}
	}
	return nil
}
