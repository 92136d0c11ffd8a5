package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
)

// respond writes a JSON body, which must hold the request's id.
func (s *common) respond(x *exchange, status int, body any) {
	w := writers.Get().(*jsonwrite.Writer)
	defer writers.Put(w)
	w.Reset()
	w.Any(body)
	s.send(x, status, w)
}

// send writes the writer's JSON body.
func (s *common) send(x *exchange, status int, w *jsonwrite.Writer) {
	w.Raw('\n')
	raw, err := w.Bytes()
	if err != nil {
		x.endShowing(false)
		s.fail(x, fault.From(err))
		return
	}
	h := x.Header() // by their canonical names, with values that all responses share
	h["Content-Type"] = contentType
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	if len(raw) > counted || x.showing != nil || x.flushed {
		h["Content-Length"] = []string{strconv.Itoa(len(raw))}
	}
	x.WriteHeader(status)
	_, err = x.ResponseWriter.Write(raw) // in the time that the header was given; a client that is gone is no fault of ours
	if x.showing != nil {
		_ = x.shown(err)
	}
}

// counted is up to how many bytes of a body net/http counts itself: the header that it holds back until the handler
// is done.
const counted = 2 << 10

// writers are used again: a response is sent before its writer goes back.
var writers = sync.Pool{New: func() any { return jsonwrite.New(2 << 10) }}

var (
	contentType = []string{"application/json; charset=utf-8"}
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
)

// answer writes err, if there is one, in the one error shape.
func (s *common) answer(x *exchange, err error) {
	if err != nil {
		s.fail(x, fault.From(err))
	}
}

// fail writes an error with the status of its code.
func (s *common) fail(x *exchange, e *fault.Error) { s.failWith(x, api.Status(e), e) }

// statusHungUp is what the log and the counts say of a request whose caller hung up before its answer.
const statusHungUp = 499

// failWith writes an error. The cause, which a caller may not read, goes to the log.
func (s *common) failWith(x *exchange, status int, e *fault.Error) {
	x.code = e.Code
	if e.TaskID != "" {
		x.taskID = e.TaskID
	}
	if e.Code == fault.Internal && x.r.Context().Err() != nil && errors.Is(e, context.Canceled) {
		x.status, x.code = statusHungUp, "" // what ended with the caller was no fault, and nobody reads the answer
	} else if e.Code == fault.Internal {
		s.log.LogAttrs(x.r.Context(), slog.LevelError, "internal fault",
			slog.String("request_id", x.id), slog.String("task_id", e.TaskID), slog.Any("err", e))
	}
	h := x.Header()
	if e.Code == fault.Unauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	shown := api.ErrorOf(e)
	if shown.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(shown.RetryAfterSeconds))
	}
	for _, answered := range s.foreign {
		if answered(x, e, status) {
			return
		}
	}
	s.respond(x, status, api.ErrorResponse{Error: shown, TaskID: e.TaskID, RequestID: x.id})
}

// status is the body of /healthz and /readyz.
type status struct {
	Status    string `json:"status"`
	RequestID string `json:"request_id"`
}

func (s *Server) handleHealth(x *exchange) error {
	s.respond(x, http.StatusOK, status{"ok", x.id})
	return nil
}

// readyAgain is when to look again at a service that takes no work.
const readyAgain = 2 * time.Second

func (s *Server) handleReady(x *exchange) error {
	if err := s.gateway.Ready(x.r.Context()); err != nil {
		return fault.Wrap(fault.CapacityExhausted, err, "the service takes no work now").WithRetryAfter(readyAgain)
	}
	s.respond(x, http.StatusOK, status{"ok", x.id})
	return nil
}
