package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"time"

	"unitask/internal/sse"
)

const (
	// firstEvent is how long a stream may be silent at first: the service begins with the task. More is somebody
	// between who keeps what comes.
	firstEvent = 10 * time.Second
	// silence is how long a stream may be silent later, without even the service's comment every 15 s.
	silence = 45 * time.Second
)

// The events of the service's streams.
const (
	eventTask  = "task"
	eventDelta = "delta"
)

// errCut ends a stream that stops before the task has ended.
var errCut = errors.New("the stream ended before the task")

// Event is one step of a task: just one of its members is set.
type Event[Out any] struct {
	Task  *Task[Out] // a new revision
	Delta *Delta     // the next piece of the result
	Retry *Retry     // a request is sent again, and the deltas begin anew
}

// Delta is one piece of a task's result as it comes: of its text, of the model's thoughts or of a tool call. Deltas are
// best effort; the task that ended has the whole.
type Delta struct {
	Text      string     `json:"text,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	ToolCall  *CallDelta `json:"tool_call,omitempty"`
}

// CallDelta is a piece of a tool call. The pieces of one call make up the text of its arguments.
type CallDelta struct {
	Index     int    `json:"index"` // of the call in the output
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Stream creates a task as Run does and yields its events to its end: revisions, pieces of its result, and retries. The
// last one has the task that ended; an error, which ends the stream, stands alone after it. A loop that is left early
// doesn't cancel the task.
func Stream[Out any](ctx context.Context, c *Client, in Input[Out], options ...CallOption) iter.Seq2[Event[Out], error] {
	return events[Out](ctx, func(ctx context.Context, send func(event)) error {
		o, err := c.creation(in, options)
		if err != nil {
			return err
		}
		o.tell.send = send
		_, err = o.finish(ctx)
		return err
	})
}

// Watch yields the events of a task from after the given revision to its end, as Stream does. Only the ID of t is
// needed. Lost connections and retryable errors are tried again until ctx ends.
func Watch[Out any](ctx context.Context, c *Client, t *Task[Out]) iter.Seq2[Event[Out], error] {
	return events[Out](ctx, func(ctx context.Context, send func(event)) error {
		last, err := c.watch(ctx, t.revision(), &teller{send: send, last: t.revision()})
		if err != nil {
			return err
		}
		return last.err()
	})
}

// Listen yields the events of a task by one stream of the service, and ends when that ends: with an error unless the
// task has ended too. A service without streams tells the task once. Watch is this again and again.
func Listen[Out any](ctx context.Context, c *Client, id string) iter.Seq2[Event[Out], error] {
	return events[Out](ctx, func(ctx context.Context, send func(event)) error {
		tell := teller{send: send}
		r, _, _, err := c.listen(ctx, reading(id, "", 0), &tell)
		if err == nil {
			tell.task(r)
		}
		return err
	})
}

// events turns events that are told into a sequence. It stops run by its context once the sequence is left.
func events[Out any](ctx context.Context, run func(context.Context, func(event)) error) iter.Seq2[Event[Out], error] {
	return func(yield func(Event[Out], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		left := false
		send := func(e Event[Out], err error) {
			if left {
				return
			}
			if left = !yield(e, err); left {
				cancel()
			}
		}
		err := run(ctx, func(e event) {
			out := Event[Out]{Delta: e.delta, Retry: e.retry}
			var wrong error
			if e.task != nil {
				out.Task, wrong = taskOf[Out](e.task)
			}
			send(out, nil)
			if wrong != nil {
				send(Event[Out]{}, wrong)
				left = true
				cancel()
			}
		})
		if err != nil {
			send(Event[Out]{}, err)
		}
	}
}

// event is an event of the engine.
type event struct {
	task  *revision
	delta *Delta
	retry *Retry
}

// teller tells events, and each revision once.
type teller struct {
	send func(event)
	last *revision
}

func (t *teller) task(r *revision) {
	if t.last == nil || !t.last.same(r) {
		t.last = r
		t.send(event{task: r})
	}
}

func (t *teller) retry(r Retry) { t.send(event{retry: &r}) }

// createStream is a creation whose answer is a stream of events. One that breaks off once the task is known has created
// it: the task is read then as any other.
func (o *creation) createStream(ctx context.Context, call Call) (*revision, error) {
	r, streamed, _, err := o.client.listen(ctx, call, &o.tell)
	known := r != nil && r.ID != ""
	if streamed && known && !r.State.Terminal() {
		r.retryAfter = minPoll
	}
	if err != nil && known && ctx.Err() == nil {
		lost := Retry{Err: err, Pause: minPoll}
		o.client.onRetry(lost)
		o.tell.retry(lost)
		return r, nil
	}
	return r, err
}

// listen makes a call that may be answered by a stream. It returns the task of the last event, or the answer, if
// streamed is false.
func (c *Client) listen(ctx context.Context, call Call, tell *teller) (r *revision, streamed bool, a Answer, err error) {
	call.Header.Set("Accept", sse.ContentType)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(call.Limit, func() { cancel(context.DeadlineExceeded) })
	defer patience.Stop()
	r = &revision{}
	err = c.open(ctx, call, func(resp *http.Response) error {
		a = Answer{Status: resp.StatusCode, Header: resp.Header}
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if streamed = kind == sse.ContentType && resp.StatusCode == http.StatusOK; !streamed {
			err := c.read(resp, r)
			r.take(a)
			return err
		}
		last, err := take(&patient{resp.Body, patience, firstEvent}, resp.Header.Get(headerReplayed) == "true", tell)
		if last != nil {
			r = last
		}
		if err != nil {
			return unreachable(c.BaseURL(), err)
		}
		return nil
	})
	return r, streamed, a, err
}

// take reads the events of a stream until the task has ended, and passes over unknown ones.
func take(body io.Reader, replayed bool, tell *teller) (last *revision, err error) {
	for e, err := range sse.Read(body, maxAnswer) {
		if err != nil {
			return last, err
		}
		switch e.Name {
		case eventTask:
			now := &revision{replayed: replayed}
			if err := json.Unmarshal([]byte(e.Data), now); err != nil || now.ID == "" {
				return last, errCut
			}
			last = now
			tell.task(now)
			if now.State.Terminal() {
				return last, nil
			}
		case eventDelta:
			var piece Delta
			if json.Unmarshal([]byte(e.Data), &piece) == nil && piece != (Delta{}) {
				tell.send(event{delta: &piece})
			}
		}
	}
	return last, errCut
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
