package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/sse"
)

// silence is how long a stream may bring nothing, not even the service's sign of life every 15 s.
const silence = 45 * time.Second

// errCut ends a stream that stops before the task has ended.
var errCut = errors.New("the stream ended before the task")

// createStream is a creation whose answer is a stream of events. One that breaks off once the task is
// known has created it: the task is read then as any other.
func (c *Client) createStream(ctx context.Context, r call, o CreateOptions) (Created, error) {
	r.header.Set("Accept", sse.ContentType)
	created, err := c.listen(ctx, r, c.key, o)
	if err != nil && c.renew != nil && fault.CodeOf(err) == fault.Unauthenticated {
		created, err = c.listen(ctx, r, c.renew, o)
	}
	if err != nil && created.Task.ID != "" && ctx.Err() == nil {
		c.onRetry(Retry{Err: err, Pause: api.MinPoll})
		return created, nil
	}
	return created, err
}

// listen makes the call and takes the events of its answer; one that isn't a stream is as good.
func (c *Client) listen(ctx context.Context, r call, keyFunc KeyFunc, o CreateOptions) (Created, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(r.limit, func() { cancel(context.DeadlineExceeded) })
	defer patience.Stop()
	r, err := c.keyed(ctx, r, keyFunc)
	if err != nil {
		return Created{}, err
	}
	req, err := request(ctx, c.BaseURL(), r)
	if err != nil {
		return Created{}, err
	}
	resp, err := c.api.Do(req)
	if err != nil {
		return Created{}, unreachable(c.BaseURL(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != sse.ContentType || resp.StatusCode != http.StatusOK {
		a, err := read[api.Task](resp, c.BaseURL())
		return Created{Task: a.value, Replayed: a.replayed, RetryAfter: a.retryAfter}, err
	}
	created := Created{Replayed: resp.Header.Get(api.HeaderIdempotentReplay) == "true"}
	err = take(&patient{resp.Body, patience}, &created.Task, o)
	if !created.Task.State.Terminal() {
		created.RetryAfter = api.MinPoll
	}
	if err != nil {
		err = unreachable(c.BaseURL(), err)
	}
	return created, err
}

// take takes the events of a stream until the task has ended, and passes over what it doesn't know.
func take(body io.Reader, last *api.Task, o CreateOptions) error {
	for e, err := range sse.Read(body, maxAnswer) {
		if err != nil {
			return err
		}
		switch e.Name {
		case api.EventTask:
			var now api.Task
			if err := json.Unmarshal([]byte(e.Data), &now); err != nil || now.ID == "" {
				return errCut
			}
			*last = now
			o.onTask(now)
			if now.State.Terminal() {
				return nil
			}
		case api.EventDelta:
			var piece api.Delta
			if json.Unmarshal([]byte(e.Data), &piece) == nil && piece.Text != "" {
				o.OnText(piece.Text)
			}
		}
	}
	return errCut
}

// patient is a stream's body that may be silent for a while.
type patient struct {
	io.Reader
	timer *time.Timer
}

// Read reads, as long as it takes less than silence.
func (p *patient) Read(b []byte) (int, error) {
	p.timer.Reset(silence)
	return p.Reader.Read(b)
}
