package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// Tools answers a request of a client of the Model Context Protocol, whose key was found good and whose body is in
// memory. It returns once no part of the request is under way any more.
type Tools func(w http.ResponseWriter, r *http.Request, v ToolsVisit)

// ToolsVisit is what a request of Tools may use.
type ToolsVisit struct {
	API       http.Handler            // this server: the same checks for a request with the same key
	Directory func() []api.Capability // what the key may call
	Room      func(bytes int64) bool  // takes memory until the request is answered, false if there is none
	Method    string                  // of the message; "" if it can't be read
	// Notification is whether the message has no id, and so no answer.
	Notification bool
}

const (
	toolBody   = 4 << 20  // bytes of a body: files go by their addresses
	toolMemory = 64 << 20 // bytes of bodies and files of all requests under way, which last as long as a call
	toolCopies = 4        // of each are made: as it came, decoded, encoded, and as it is sent
)

// handleTools hands a request over. The protocol's own answers have its own shape; its library's refusals that aren't
// of the protocol get the one shape of errors.
func (s *Server) handleTools(x *exchange) error {
	if !s.ownOrigin(x.r.Header) {
		s.failWith(x, http.StatusForbidden, fault.New(fault.InvalidRequest, "the request comes from another site"))
		return nil
	}
	v := ToolsVisit{API: s, Directory: func() []api.Capability { return s.directory(x) }}
	account, taken := x.caller.Account.ID, int64(0)
	defer func() { s.toolRoom.Give(account, taken) }()
	v.Room = func(n int64) bool {
		ok := s.toolRoom.Try(account, n*toolCopies)
		if ok {
			taken += n * toolCopies
		}
		return ok
	}
	raw, err := s.toolRequest(x, v.Room)
	if err != nil {
		return err
	}
	var message struct {
		JSONRPC, Method string
		ID              json.RawMessage
	}
	_ = json.Unmarshal(raw, &message) // Tools refuses another one
	v.Method, v.Notification = message.Method, message.ID == nil && message.JSONRPC == "2.0"
	r := x.r.Clone(x.r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	h := x.Header()
	h["X-Content-Type-Options"] = noSniff
	h.Set("X-Accel-Buffering", "no") // to proxies that would keep a call's progress until its end
	s.tools(&toolAnswer{exchange: x, server: s}, r, v)
	return nil
}

// ownOrigin reports whether a request comes from no page, or from one of the service's own.
func (s *Server) ownOrigin(h http.Header) bool {
	values := h["Origin"]
	return len(values) == 0 || len(values) == 1 && strings.EqualFold(values[0], s.base.Scheme+"://"+s.base.Host)
}

// toolRequest returns the body of a request of one message: a batch, which older versions of the protocol had, would be
// any number of calls for one of the rate.
func (s *Server) toolRequest(x *exchange, room func(int64) bool) ([]byte, error) {
	if err := checkMediaType(x.r.Header); err != nil {
		return nil, err
	}
	limit := min(s.body.Load(), toolBody)
	if x.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	b, err := s.readBodyWithin(x, limit)
	if err != nil {
		return nil, err
	}
	defer b.release()
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(b.bytes, " \t\r\n"), []byte("[")):
		return nil, fault.Invalid("body", "must be one message: batches aren't taken")
	case !room(int64(len(b.bytes))):
		return nil, fault.New(fault.CapacityExhausted, "the service has no room for so large a request at the moment").WithRetryAfter(roomWait)
	}
	return bytes.Clone(b.bytes), nil
}

// toolAnswer gives the texts with which the protocol's library refuses a request the one shape of errors.
type toolAnswer struct {
	*exchange
	server  *Server
	refused int // the status of the text; 0: there is none
}

// WriteHeader passes on statuses of answers in JSON and of streams, and holds others back until their text comes.
func (a *toolAnswer) WriteHeader(status int) {
	if status >= http.StatusBadRequest && !strings.HasPrefix(a.Header().Get("Content-Type"), "application/json") {
		a.refused = status
		return
	}
	a.Header()["Cache-Control"] = noStore
	a.exchange.WriteHeader(status)
}

// Write answers a refusal by its text.
func (a *toolAnswer) Write(b []byte) (int, error) {
	if a.refused == 0 {
		if a.status == 0 {
			a.WriteHeader(http.StatusOK)
		}
		return a.exchange.Write(b)
	}
	if a.status == 0 {
		code := fault.InvalidRequest
		if a.refused >= http.StatusInternalServerError {
			code = fault.Internal
		}
		text, _, _ := strings.Cut(string(b[:min(len(b), 200)]), "\n")
		a.server.failWith(a.exchange, a.refused, fault.New(code, strings.ToValidUTF8(text, "")))
	}
	return len(b), nil
}
