package server

import (
	"net"
	"net/http"

	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// ThriftyConn returns the connection as the API's listener would.
func ThriftyConn(c net.Conn) net.Conn { return &conn{Conn: c} }

// HandleCreated adds a path that does what a creation does but for the gateway's part: the task is there.
func (s *Server) HandleCreated(path string, t task.Task) {
	create := func(x *exchange) error {
		sub, err := s.submission(x)
		if err != nil {
			return err
		}
		accepted := gateway.Accepted{Task: t}
		return s.answerCreate(x, sub.Wait, &accepted)
	}
	s.handle(path, s.limited(s.keyHolder, gate.Creates, methods{http.MethodPost: create}.dispatch))
}

// What the fuzz tests of the decoders need.
var (
	IdempotencyKey = idempotencyKey
	PreferredWait  = preferredWait
	CheckMediaType = checkMediaType
	ParseListQuery = parseListQuery
	Clean          = clean
)

// KnownRevision returns the revision that an If-None-Match names.
var KnownRevision = known.revision

// ParseIfNoneMatch reads an If-None-Match.
var ParseIfNoneMatch = parseIfNoneMatch
