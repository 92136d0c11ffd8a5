package server

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/door"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// doorway is the way of the doors' calls into the gateway and of their tasks out, whatever the interface.
type doorway struct {
	*Server
	undelivered *door.Undelivered
}

// doorWait is how long an answer that isn't streamed is waited for: as long as OpenAI's and Anthropic's libraries wait by
// default.
const doorWait = 10 * time.Minute

// doorCall is a call as the task that it becomes.
type doorCall struct {
	door.Call
	body               []byte // of the creation
	stream, background bool
	answer             func(x *exchange, t *task.Task) error // with a task that has no error, or is in the background
	attempt            *door.Attempt                         // nil with an Idempotency-Key
}

// create creates the task of a call and answers it. content is how the request is told from others.
func (d *doorway) create(x *exchange, sub gateway.Submission, content iter.Seq[[]byte], call *doorCall) {
	if sub.IdempotencyKey == "" {
		call.attempt = d.attempt(x, content)
		sub.IdempotencyKey = call.attempt.Key()
	}
	settled := false
	defer func() { call.attempt.End(settled) }()
	sub.Body, sub.Stream, sub.Wait = call.body, call.stream, nil
	sub.Unasked = openai.Retried(x.r.Header.Get(openai.HeaderRetryCount))
	switch {
	case call.background:
		sub.Wait, sub.Background = new(time.Duration(0)), !call.stream // a stream's pieces are this node's to tell
	case !call.stream:
		sub.Wait = new(doorWait)
	}
	settled = d.call(x, call, sub)
}

// attempt takes a request without an Idempotency-Key. The libraries of both interfaces count their retries alike.
func (d *doorway) attempt(x *exchange, content iter.Seq[[]byte]) *door.Attempt {
	h := sha256.New()
	_, _ = io.WriteString(h, x.route+"\n") // a hash takes everything
	for piece := range content {
		_, _ = fmt.Fprintf(h, "%d\n", len(piece))
		bulk.Hash(h, piece)
	}
	return d.undelivered.Begin(x.caller.Key.ID, [sha256.Size]byte(h.Sum(nil)), openai.Retried(x.r.Header.Get(openai.HeaderRetryCount)))
}

// call creates the task and answers, and reports whether the caller has an answer that no retry goes on from.
func (d *doorway) call(x *exchange, call *doorCall, sub gateway.Submission) (settled bool) {
	x.flushed = true
	accepted, err := d.gateway.Create(x.r.Context(), *x.caller, sub)
	if err == nil {
		x.taskID = accepted.Task.ID
		x.Header().Set(openai.HeaderTaskID, x.taskID)
		if accepted.Replayed {
			x.Header().Set(api.HeaderIdempotentReplay, "true")
		}
		if accepted.Stream != nil && (call.background || accepted.Task.State == task.Succeeded || !accepted.Stream.Silent()) {
			return d.stream(x, call, accepted.Stream)
		}
		accepted.Stream.Close()
		err = d.answerTask(x, call, &accepted.Task)
	}
	final := true
	if err != nil {
		e := call.Explain(err)
		final = !e.Retryable() && !call.unknown(&accepted.Task)
		d.fail(x, e)
	}
	return x.control().Flush() == nil && x.r.Context().Err() == nil && final
}

// answerTask answers with a task that ended, or returns the error that it ended with. One in the background is its own
// answer, however it is.
func (d *doorway) answerTask(x *exchange, call *doorCall, t *task.Task) error {
	if t.State == task.Failed {
		d.show(x, *t)
	}
	if err := errorOf(t); err != nil && !call.background {
		return err
	}
	return call.answer(x, t)
}

// write writes a task in the form of its call.
func (d *doorway) write(x *exchange, call door.Call, t *task.Task) error {
	w := writers.Get().(*jsonwrite.Writer)
	defer writers.Put(w)
	w.Reset()
	if err := call.Write(w, t); err != nil {
		return err
	}
	d.send(x, http.StatusOK, w)
	return nil
}

// errorOf returns the error that a task without a result is to its caller; nil for one that succeeded.
func errorOf(t *task.Task) error {
	switch t.State {
	case task.Succeeded:
		return nil
	case task.Failed:
		if t.FailedUnknown() {
			return unknownOutcome(t)
		}
		return t.Fault()
	case task.Canceled:
		return openai.Canceled(t)
	default: // the wait is over, or this node goes down
		return fault.New(fault.ProviderTimeout, "the task takes longer and goes on").
			WithRetryAfter(readyAgain).WithTask(t.ID)
	}
}

// unknownOutcome is the failure of a task whose work a supplier may have done: a library that tries again by itself would
// have it paid for twice.
func unknownOutcome(t *task.Task) *fault.Error {
	e := t.Fault().WithFinal()
	e.Message = "the outcome of the work is unknown: it may have been done, so it isn't tried again by itself"
	return e
}

// unknown reports whether the call's task failed with an unknown outcome; a retry that comes all the same is answered
// alike then.
func (c *doorCall) unknown(t *task.Task) bool {
	if !t.FailedUnknown() {
		return false
	}
	c.attempt.Keep()
	return true
}

// stream answers with a task's stream, and reports whether the caller has it whole.
func (d *doorway) stream(x *exchange, call *doorCall, stream *gateway.Stream) (settled bool) {
	defer stream.Close()
	beginStream(x)
	events := call.Events()
	var now task.Task
	var b []byte
	for {
		e, err := stream.Next(x.r.Context(), heartbeat)
		b = b[:0]
		switch {
		case err != nil && x.r.Context().Err() != nil:
			return false // a client that is gone is no fault of ours
		case errors.Is(err, io.EOF):
			b = events.Fail(b, &now, errBrokenOff.WithTask(now.ID), x.id)
		case err != nil:
			d.brokeOff(x, err)
			b = events.Fail(b, &now, errBrokenOff.WithTask(now.ID), x.id)
		case e.Task != nil:
			now = *e.Task
			b = events.Begin(b, &now)
			if now.State.Terminal() {
				b, settled = d.end(x, call, events, b, &now)
				_, err = x.Write(b)
				return x.shown(err) == nil && x.r.Context().Err() == nil && settled
			}
		case e.Piece != api.Delta{}:
			b = events.Piece(b, &now, e.Piece)
		default:
			b = events.Beat(b)
		}
		if _, wrong := x.Write(b); x.shown(wrong) != nil || err != nil {
			return false
		}
	}
}

// errBrokenOff ends a stream before its task.
var errBrokenOff = fault.New(fault.CapacityExhausted, "the stream broke off; the task may go on").WithRetryAfter(readyAgain)

// end appends the end of a stream whose task has ended, and reports whether no retry goes on from it.
func (d *doorway) end(x *exchange, call *doorCall, events door.Events, b []byte, t *task.Task) (whole []byte, final bool) {
	err := errorOf(t)
	if err == nil {
		if whole, err = events.End(b, t); err == nil {
			return whole, true
		}
	}
	if t.State == task.Failed {
		d.show(x, *t)
	}
	e := call.Explain(err)
	x.code = e.Code
	return events.Fail(b, t, e, x.id), !e.Retryable() && !call.unknown(t)
}

// callable returns the names of the capabilities that the caller may call and takes accepts. A name is told once, though
// it may be that of several.
func (d *doorway) callable(x *exchange, takes func(catalog.Capability) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		also, told := *d.models.Load(), map[string]bool{}
		for _, offer := range d.gateway.Capabilities(*x.caller) {
			if !takes(offer.Capability) {
				continue
			}
			for _, name := range append([]string{string(offer.Capability.Name)}, also.of(offer.Capability.Name)...) {
				if !told[name] && !yield(name) {
					return
				}
				told[name] = true
			}
		}
	}
}

// advise says in the headers of an error whether a retry helps, and which task it is about.
func (d *doorway) advise(x *exchange, e *fault.Error) {
	h := x.Header()
	h.Set(openai.HeaderShouldRetry, strconv.FormatBool(openai.ShouldRetry(e)))
	if e.TaskID != "" {
		h.Set(openai.HeaderTaskID, e.TaskID)
	}
}
