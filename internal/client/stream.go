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

const (
	// firstEvent is how long a stream may be silent at first: the service begins with the task. More is somebody
	// between who keeps what comes.
	firstEvent = 10 * time.Second
	// silence is how long a stream may be silent later, without even the service's comment every 15 s.
	silence = 45 * time.Second
)

// errCut ends a stream that stops before the task has ended.
var errCut = errors.New("the stream ended before the task")

// hearer receives a stream's events.
type hearer struct {
	task func(api.Task)
	text func(piece string)
}

// createStream is a creation whose answer is a stream of events. One that breaks off once the task is
// known has created it: the task is read then as any other.
func (c *Client) createStream(ctx context.Context, r call, o CreateOptions) (Created, error) {
	a, streamed, err := c.listen(ctx, r, hearer{o.onTask, o.OnText})
	created := Created{Task: a.value, Replayed: a.replayed, RetryAfter: a.retryAfter}
	if streamed && !a.value.State.Terminal() {
		created.RetryAfter = api.MinPoll
	}
	if err != nil && created.Task.ID != "" && ctx.Err() == nil {
		c.onRetry(Retry{Err: err, Pause: api.MinPoll})
		return created, nil
	}
	return created, err
}

// listen makes a call that may be answered by a stream, once more with a renewed key if the service refuses it. It
// returns the task of the last event, or the answer, if streamed is false.
func (c *Client) listen(ctx context.Context, r call, h hearer) (a answer[api.Task], streamed bool, err error) {
	r.header.Set("Accept", sse.ContentType)
	a, streamed, err = c.listenWith(ctx, r, c.key, h)
	if err != nil && c.renew != nil && fault.CodeOf(err) == fault.Unauthenticated {
		return c.listenWith(ctx, r, c.renew, h)
	}
	return a, streamed, err
}

func (c *Client) listenWith(ctx context.Context, r call, keyFunc KeyFunc, h hearer) (a answer[api.Task], streamed bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(r.limit, func() { cancel(context.DeadlineExceeded) })
	defer patience.Stop()
	r, err = c.keyed(ctx, r, keyFunc)
	if err != nil {
		return a, false, err
	}
	req, err := request(ctx, c.BaseURL(), r)
	if err != nil {
		return a, false, err
	}
	resp, err := c.api.Do(req)
	if err != nil {
		return a, false, unreachable(c.BaseURL(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != sse.ContentType || resp.StatusCode != http.StatusOK {
		a, err = read[api.Task](resp, c.BaseURL())
		return a, false, err
	}
	a.replayed = resp.Header.Get(api.HeaderIdempotentReplay) == "true"
	if err = take(&patient{resp.Body, patience, firstEvent}, &a.value, h); err != nil {
		err = unreachable(c.BaseURL(), err)
	}
	return a, true, err
}

// take reads the events of a stream until the task has ended, and ignores unknown ones.
func take(body io.Reader, last *api.Task, h hearer) error {
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
			h.task(now)
			if now.State.Terminal() {
				return nil
			}
		case api.EventDelta:
			var piece api.Delta
			if json.Unmarshal([]byte(e.Data), &piece) == nil && piece.Text != "" {
				h.text(piece.Text)
			}
		}
	}
	return errCut
}

// patient is a stream's body that may be silent for a while.
type patient struct {
	io.Reader
	timer *time.Timer
	next  time.Duration // how long the next read may take
}

// Read reads for firstEvent at most, later for silence.
func (p *patient) Read(b []byte) (int, error) {
	p.timer.Reset(p.next)
	p.next = silence
	return p.Reader.Read(b)
}
