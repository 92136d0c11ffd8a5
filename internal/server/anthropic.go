package server

import (
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"unitask/internal/api"
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/door"
	"unitask/internal/door/anthropic"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// anthropicDoor is the door for programs that were written for Anthropic's interface. Its requests are behind the same
// key, rates and holds as the API's, and become tasks as the API's do.
type anthropicDoor struct {
	*Server
	undelivered *door.Undelivered
}

func (a *anthropicDoor) route() {
	for pattern, route := range map[string]struct {
		class gate.Class
		methods
	}{
		anthropic.PathModels:              {gate.Reads, methods{http.MethodGet: a.handleModels}},
		anthropic.PathModels + "/{model}": {gate.Reads, methods{http.MethodGet: a.handleModel}},
		anthropic.PathMessages:            {gate.Creates, methods{http.MethodPost: a.handleMessages}},
		anthropic.PathCount:               {gate.Reads, methods{http.MethodPost: a.handleCount}},
	} {
		a.handle(pattern, a.limited(a.holder, route.class, checkedVersion(route.dispatch)))
	}
}

// holder is who calls: by x-api-key, as Anthropic's libraries send a key, or as at the API.
func (a *anthropicDoor) holder(x *exchange) (*gate.Caller, error) {
	if keys := x.r.Header[anthropic.HeaderKey]; len(keys) == 1 && len(x.r.Header["Authorization"]) == 0 {
		return a.authenticateBy(x, "Bearer "+keys[0], a.gate.Authenticate)
	}
	return a.keyHolder(x)
}

// checkedVersion refuses another version of the interface, and betas that aren't known to change no answer.
func checkedVersion(h handler) handler {
	return func(x *exchange) error {
		if v := x.r.Header.Get(anthropic.HeaderVersion); v != "" && v != anthropic.Version {
			return fault.Invalid("anthropic-version", "must be "+anthropic.Version)
		}
		for _, value := range x.r.Header[anthropic.HeaderBeta] {
			for name := range strings.SplitSeq(value, ",") {
				if name = strings.TrimSpace(name); name != "" && !anthropic.Beta(name) {
					return fault.Invalid("anthropic-beta", "names a beta that isn't known here: "+strconv.Quote(name[:min(len(name), 64)]))
				}
			}
		}
		return h(x)
	}
}

// failForeign answers an error below anthropic.Root in Anthropic's shape.
func (a *anthropicDoor) failForeign(x *exchange, e *fault.Error, status int) bool {
	if !strings.HasPrefix(x.r.URL.Path, anthropic.Root) {
		return false
	}
	h := x.Header()
	h.Set(openai.HeaderShouldRetry, strconv.FormatBool(openai.ShouldRetry(e)))
	h.Set(anthropic.HeaderRequestID, x.id)
	if e.TaskID != "" {
		h.Set(openai.HeaderTaskID, e.TaskID)
	}
	a.respond(x, status, anthropic.ErrorOf(e, x.id))
	return true
}

func (a *anthropicDoor) handleModels(x *exchange) error {
	x.Header().Set(anthropic.HeaderRequestID, x.id)
	a.respond(x, http.StatusOK, anthropic.ModelsOf(a.models(x)))
	return nil
}

func (a *anthropicDoor) handleModel(x *exchange) error {
	for _, m := range a.models(x) {
		if m.ID == x.r.PathValue("model") {
			x.Header().Set(anthropic.HeaderRequestID, x.id)
			a.respond(x, http.StatusOK, m)
			return nil
		}
	}
	return anthropic.UnknownModel(x.r.PathValue("model"))
}

func (a *anthropicDoor) models(x *exchange) []anthropic.Model {
	all := []anthropic.Model{}
	also := *a.Server.models.Load()
	for _, offer := range a.gateway.Capabilities(*x.caller) {
		for _, name := range append([]string{string(offer.Capability.Name)}, also.of(offer.Capability.Name)...) {
			if m, ok := anthropic.ModelOf(offer.Capability, name); ok {
				all = append(all, m)
			}
		}
	}
	return all
}

// read translates a request, and finds the capability that its model names.
func (a *anthropicDoor) read(sub *gateway.Submission, read func([]byte) (anthropic.Call, error)) (anthropic.Call, catalog.Name, error) {
	call, err := read(sub.Body)
	if err != nil {
		return call, "", err
	}
	name, ok := a.capability(call.Model, anthropic.Base)
	if !ok {
		return call, "", anthropic.UnknownModel(call.Model)
	}
	return call, name, nil
}

// handleCount answers with an upper bound: a model's own count is known to its supplier alone.
func (a *anthropicDoor) handleCount(x *exchange) error {
	sub, err := a.submission(x, optionalKey)
	if err != nil {
		return err
	}
	defer sub.Release()
	call, name, err := a.read(&sub, anthropic.Count)
	if err != nil {
		return err
	}
	size, err := a.gateway.Size(x.r.Context(), *x.caller, call.Body(name))
	if err != nil {
		return call.Explain(err)
	}
	x.Header().Set(anthropic.HeaderRequestID, x.id)
	a.respond(x, http.StatusOK, anthropic.TokenCount{InputTokens: size.InputTokens})
	return nil
}

func (a *anthropicDoor) handleMessages(x *exchange) error {
	sub, err := a.submission(x, optionalKey)
	if err != nil {
		return err
	}
	call, name, err := a.read(&sub, anthropic.Messages)
	if err != nil {
		sub.Release()
		return err
	}
	var attempt *door.Attempt
	if sub.IdempotencyKey == "" {
		h := sha256.New()
		_, _ = io.WriteString(h, x.route+"\n") // a hash takes everything
		bulk.Hash(h, sub.Body)
		retry := openai.Retried(x.r.Header.Get(openai.HeaderRetryCount))
		attempt = a.undelivered.Begin(x.caller.Key.ID, [sha256.Size]byte(h.Sum(nil)), retry)
		sub.IdempotencyKey = attempt.Key()
	}
	settled := false
	defer func() { attempt.End(settled) }()
	sub.Body, sub.Stream, sub.Wait = call.Body(name), call.Stream, nil
	if !call.Stream {
		sub.Wait = new(openAIWait) // Anthropic's libraries wait as long
	}
	settled = a.call(x, &call, sub)
	return nil
}

// call creates the task and answers, and reports whether the caller has an answer that no retry goes on from.
func (a *anthropicDoor) call(x *exchange, call *anthropic.Call, sub gateway.Submission) (settled bool) {
	accepted, err := a.gateway.Create(x.r.Context(), *x.caller, sub)
	if err == nil {
		x.taskID = accepted.Task.ID
		x.Header().Set(openai.HeaderTaskID, x.taskID)
		x.Header().Set(anthropic.HeaderRequestID, x.id)
		if accepted.Replayed {
			x.Header().Set(api.HeaderIdempotentReplay, "true")
		}
		if accepted.Stream != nil && (accepted.Task.State == task.Succeeded || !accepted.Stream.Silent()) {
			return a.stream(x, call, accepted.Stream)
		}
		accepted.Stream.Close()
		err = a.answerTask(x, call, &accepted.Task)
	}
	final := true
	if err != nil {
		e := call.Explain(err)
		final = !e.Retryable()
		a.fail(x, e)
	}
	return x.control().Flush() == nil && x.r.Context().Err() == nil && final
}

// answerTask answers with a task that ended, or returns the error that it ended with.
func (a *anthropicDoor) answerTask(x *exchange, call *anthropic.Call, t *task.Task) error {
	if err := errorOf(t); err != nil {
		if t.State == task.Failed {
			a.show(x, *t)
		}
		return err
	}
	w := writers.Get().(*jsonwrite.Writer)
	defer writers.Put(w)
	w.Reset()
	if err := call.Write(w, t); err != nil {
		return err
	}
	a.send(x, http.StatusOK, w)
	return nil
}

// stream answers with a task's stream, and reports whether the caller has it whole.
func (a *anthropicDoor) stream(x *exchange, call *anthropic.Call, stream *gateway.Stream) (settled bool) {
	defer stream.Close()
	beginStream(x)
	events := anthropic.NewEvents(call)
	var now task.Task
	var b []byte
	for {
		e, err := stream.Next(x.r.Context(), heartbeat)
		b = b[:0]
		switch {
		case err != nil && x.r.Context().Err() != nil:
			return false // a client that is gone is no fault of ours
		case err != nil:
			if !errors.Is(err, io.EOF) {
				a.brokeOff(x, err)
			}
			b = events.Fail(b, errBrokenOff.WithTask(now.ID), x.id)
		case e.Task != nil:
			now = *e.Task
			b = events.Begin(b, &now)
			if now.State.Terminal() {
				b, settled = a.end(x, call, events, b, &now)
				_, err = x.Write(b)
				return x.shown(err) == nil && x.r.Context().Err() == nil && settled
			}
		case e.Piece != api.Delta{}:
			b = events.Piece(b, &now, e.Piece)
		default:
			b = events.Ping(b)
		}
		if _, wrong := x.Write(b); x.shown(wrong) != nil || err != nil {
			return false
		}
	}
}

// end appends the end of a stream whose task has ended, and reports whether no retry goes on from it.
func (a *anthropicDoor) end(x *exchange, call *anthropic.Call, events *anthropic.Events, b []byte, t *task.Task) (whole []byte, final bool) {
	err := errorOf(t)
	if err == nil {
		if whole, err = events.End(b, t); err == nil {
			return whole, true
		}
	}
	if t.State == task.Failed {
		a.show(x, *t)
	}
	e := call.Explain(err)
	x.code = e.Code
	return events.Fail(b, e, x.id), !e.Retryable()
}
