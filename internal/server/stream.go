package server

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/jsonwrite"
	"unitask/internal/sse"
)

// heartbeat is how long a stream may be silent: below the minute after which proxies give up, and a
// client that is gone is noticed.
const heartbeat = 15 * time.Second

func (s *Server) handleTaskFollow(x *exchange) error {
	stream, err := s.gateway.Follow(x.r.Context(), *x.caller, x.r.PathValue("task_id"), s.relay(x, x.r.URL.EscapedPath()))
	if err != nil {
		return err
	}
	s.stream(x, stream)
	return nil
}

// stream writes the followed events until the end, the client is gone or doesn't read for too long, or the node goes
// down. Whatever breaks it off, the task goes on.
func (s *Server) stream(x *exchange, stream *gateway.Stream) {
	defer stream.Close()
	beginStream(x)
	var frame []byte
	for {
		e, err := stream.Next(x.r.Context(), heartbeat)
		if err != nil {
			if !errors.Is(err, io.EOF) && x.r.Context().Err() == nil {
				s.brokeOff(x, err)
			}
			return
		}
		if e.Task != nil {
			s.show(x, *e.Task)
		}
		frame = s.frame(x, frame[:0], e)
		if _, err := x.Write(frame); x.shown(err) != nil {
			return // a client that is gone is no fault of ours
		}
	}
}

// beginStream writes the head of a stream.
func beginStream(x *exchange) {
	h := x.Header()
	h.Set("Content-Type", sse.ContentType)
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h.Set("X-Accel-Buffering", "no") // to proxies that would keep the pieces until they are many
	x.WriteHeader(http.StatusOK)
}

// brokeOff logs that a stream ends before its task by a fault of the service.
func (s *Server) brokeOff(x *exchange, err error) {
	s.log.LogAttrs(x.r.Context(), slog.LevelError, "a stream broke off",
		slog.String("request_id", x.id), slog.String("task_id", x.taskID), slog.Any("err", err))
}

// frame appends an event as it is sent.
func (s *Server) frame(x *exchange, b []byte, e gateway.Event) []byte {
	w := writers.Get().(*jsonwrite.Writer)
	defer writers.Put(w)
	w.Reset()
	name := api.EventDelta
	switch {
	case e.Task != nil:
		x.taskID = e.Task.ID
		body := s.taskOf(*e.Task)
		body.RequestID = x.id
		name = api.EventTask
		body.Write(w)
	case e.Piece != api.Delta{}:
		e.Piece.Write(w)
	default:
		return append(b, sse.Beat...)
	}
	raw, err := w.Bytes()
	if err != nil { // a task that was stored is written as it was
		return append(b, sse.Beat...)
	}
	return sse.Append(b, name, raw)
}
