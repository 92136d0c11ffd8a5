package server

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/bulk"
	"unitask/internal/door"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/jsonwrite"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// openAI is the door for programs that were written for OpenAI's interface. Its requests are behind the same key, rates
// and holds as the API's, and become tasks as the API's do.
type openAI struct {
	*Server
	undelivered *door.Undelivered
}

// openAIWait is how long an answer that isn't streamed is waited for: as long as OpenAI's libraries wait by default.
const openAIWait = 10 * time.Minute

func (o *openAI) route() {
	for pattern, m := range map[string]methods{
		openai.PathModels:              {http.MethodGet: plain(o.handleModels)},
		openai.PathModels + "/{model}": {http.MethodGet: plain(o.handleModel)},
		openai.PathChat:                {http.MethodPost: o.calling(openai.Chat)},
		openai.PathEmbeddings:          {http.MethodPost: o.calling(openai.Embeddings)},
		openai.PathModerations:         {http.MethodPost: o.calling(openai.Moderations)},
		openai.PathImages:              {http.MethodPost: o.calling(openai.Images)},
		openai.PathImageEdits:          {http.MethodPost: o.callingByForm(openai.ImageEditForm, openai.ImageEdits)},
		openai.PathSpeech:              {http.MethodPost: o.calling(openai.Speech)},
		openai.PathTranscriptions:      {http.MethodPost: o.callingByForm(openai.Transcription, nil)},
		openai.PathTranslations:        {http.MethodPost: o.callingByForm(openai.Translation, nil)},
		openai.PathResponses:           {http.MethodPost: o.handleResponseCreate},
	} {
		o.handle(pattern, o.limited(o.keyHolder, gate.Creates, m.dispatch))
	}
	o.routeResponses()
}

// failForeign answers an error below openai.Root in OpenAI's shape.
func (o *openAI) failForeign(x *exchange, e *fault.Error, status int) bool {
	if !strings.HasPrefix(x.r.URL.Path, openai.Root) {
		return false
	}
	h := x.Header()
	h.Set(openai.HeaderShouldRetry, strconv.FormatBool(openai.ShouldRetry(e)))
	if e.TaskID != "" {
		h.Set(openai.HeaderTaskID, e.TaskID)
	}
	o.respond(x, status, openai.ErrorOf(e, x.id))
	return true
}

func (o *openAI) handleModels(x *exchange) error {
	o.respond(x, http.StatusOK, openai.Models{Object: "list", Data: o.models(x)})
	return nil
}

func (o *openAI) handleModel(x *exchange) error {
	for _, m := range o.models(x) {
		if m.ID == x.r.PathValue("model") {
			o.respond(x, http.StatusOK, m)
			return nil
		}
	}
	return openai.UnknownModel(x.r.PathValue("model"))
}

func (o *openAI) models(x *exchange) []openai.Model {
	all := []openai.Model{}
	also, listed := *o.Server.models.Load(), map[string]bool{}
	for _, offer := range o.gateway.Capabilities(*x.caller) {
		m, ok := openai.ModelOf(offer.Capability)
		if !ok {
			continue
		}
		for _, m.ID = range append([]string{m.ID}, also.of(offer.Capability.Name)...) {
			if !listed[m.ID] { // a name may be that of several
				all, listed[m.ID] = append(all, m), true
			}
		}
	}
	return all
}

// calling returns the handler of calls that read translates.
func (o *openAI) calling(read openai.Reader) handler {
	return func(x *exchange) error {
		sub, err := o.submission(x, optionalKey)
		if err != nil {
			return err
		}
		call, err := read(sub.Body)
		return o.take(x, sub, "", call, err)
	}
}

// take creates the task of a call that was read, or returns why it couldn't be. boundary: of a form, "" of JSON.
func (o *openAI) take(x *exchange, sub gateway.Submission, boundary string, call openai.Call, err error) error {
	if err == nil {
		err = o.name(&call)
	}
	if err != nil {
		sub.Release()
		return err
	}
	var attempt *door.Attempt
	if sub.IdempotencyKey == "" {
		attempt = o.attempt(x, sub.Body, boundary)
		sub.IdempotencyKey = attempt.Key()
	}
	settled := false
	defer func() { attempt.End(settled) }()
	sub.Body, sub.Stream, sub.Wait = call.Body, call.Stream, nil
	switch {
	case call.Background:
		sub.Wait = new(time.Duration(0))
	case !call.Stream:
		sub.Wait = new(openAIWait)
	}
	settled = o.call(x, &call, sub)
	return nil
}

// name finds the capability of the call's kind that its model names.
func (o *openAI) name(call *openai.Call) error {
	name, ok := o.capability(call.Model, call.Base)
	if !ok {
		return openai.UnknownModel(call.Model)
	}
	call.As(name)
	return nil
}

// attempt takes a request without an Idempotency-Key.
func (o *openAI) attempt(x *exchange, body []byte, boundary string) *door.Attempt {
	h := sha256.New()
	_, _ = io.WriteString(h, x.route+"\n") // a hash takes everything
	if boundary == "" {
		bulk.Hash(h, body)
	} else {
		for piece := range openai.Content(body, boundary) {
			_, _ = fmt.Fprintf(h, "%d\n", len(piece))
			bulk.Hash(h, piece)
		}
	}
	return o.undelivered.Begin(x.caller.Key.ID, [sha256.Size]byte(h.Sum(nil)), openai.Retried(x.r.Header.Get(openai.HeaderRetryCount)))
}

// call creates the task and answers, and reports whether the caller has an answer that no retry goes on from.
func (o *openAI) call(x *exchange, call *openai.Call, sub gateway.Submission) (settled bool) {
	x.flushed = true
	accepted, err := o.gateway.Create(x.r.Context(), *x.caller, sub)
	if err == nil {
		x.taskID = accepted.Task.ID
		x.Header().Set(openai.HeaderTaskID, x.taskID)
		if accepted.Replayed {
			x.Header().Set(api.HeaderIdempotentReplay, "true")
		}
		if accepted.Stream != nil && (call.Background || accepted.Task.State == task.Succeeded || !accepted.Stream.Silent()) {
			return o.stream(x, call, accepted.Stream)
		}
		accepted.Stream.Close()
		err = o.answerTask(x, call, &accepted.Task)
	}
	final := true
	if err != nil {
		e := call.Explain(err)
		final = !e.Retryable()
		o.fail(x, e)
	}
	return x.control().Flush() == nil && x.r.Context().Err() == nil && final
}

// answerTask answers with a task that ended, or returns the error that it ended with. One in the background is its own
// answer, however it is.
func (o *openAI) answerTask(x *exchange, call *openai.Call, t *task.Task) error {
	if t.State == task.Failed {
		o.show(x, *t)
	}
	if err := errorOf(t); err != nil && !call.Background {
		return err
	}
	if call.HasAnswer() {
		return o.answerMedia(x, call, t)
	}
	return o.write(x, call, t)
}

// write writes a task in the form of its call.
func (o *openAI) write(x *exchange, call *openai.Call, t *task.Task) error {
	w := writers.Get().(*jsonwrite.Writer)
	defer writers.Put(w)
	w.Reset()
	if err := call.Write(w, t); err != nil {
		return err
	}
	o.send(x, http.StatusOK, w)
	return nil
}

// errorOf returns the error that a task without a result is to its caller; nil for one that succeeded.
func errorOf(t *task.Task) error {
	switch t.State {
	case task.Succeeded:
		return nil
	case task.Failed:
		return t.Fault()
	case task.Canceled:
		return openai.Canceled(t)
	default: // the wait is over, or this node goes down
		return fault.New(fault.ProviderTimeout, "the task takes longer and goes on").
			WithRetryAfter(readyAgain).WithTask(t.ID)
	}
}

// stream answers with a task's stream, and reports whether the caller has it whole.
func (o *openAI) stream(x *exchange, call *openai.Call, stream *gateway.Stream) (settled bool) {
	defer stream.Close()
	beginStream(x)
	events := openai.NewEvents(call)
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
			o.brokeOff(x, err)
			b = events.Fail(b, &now, errBrokenOff.WithTask(now.ID), x.id)
		case e.Task != nil:
			now = *e.Task
			b = events.Begin(b, &now)
			if now.State.Terminal() {
				b, settled = o.end(x, call, events, b, &now)
				_, err = x.Write(b)
				return x.shown(err) == nil && x.r.Context().Err() == nil && settled
			}
		case e.Piece != api.Delta{}:
			b = events.Piece(b, &now, e.Piece)
		default:
			b = append(b, sse.Beat...)
		}
		if _, wrong := x.Write(b); x.shown(wrong) != nil || err != nil {
			return false
		}
	}
}

// errBrokenOff ends a stream before its task.
var errBrokenOff = fault.New(fault.CapacityExhausted, "the stream broke off; the task may go on").WithRetryAfter(readyAgain)

// end appends the end of a stream whose task has ended, and reports whether no retry goes on from it.
func (o *openAI) end(x *exchange, call *openai.Call, events openai.Events, b []byte, t *task.Task) (whole []byte, final bool) {
	err := errorOf(t)
	if err == nil {
		if whole, err = events.End(b, t); err == nil {
			return whole, true
		}
	}
	if t.State == task.Failed {
		o.show(x, *t)
	}
	e := call.Explain(err)
	x.code = e.Code
	return events.Fail(b, t, e, x.id), !e.Retryable()
}
