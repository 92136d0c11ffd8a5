package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"

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

// What the tests of room need.
var (
	NewRoom      = newRoom
	ErrKeyFull   = errKeyFull
	ErrWholeFull = errWholeFull
)

// Take is take.
func (r *room) Take(ctx context.Context, key string, bytes int64) error {
	return r.take(ctx, key, bytes)
}

// Give is give.
func (r *room) Give(key string, bytes int64) { r.give(key, bytes) }

// Left says what isn't back yet, "" for nothing.
func (r *room) Left() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken == 0 && len(r.by) == 0 && len(r.waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes of %d keys are taken, and %d claims wait", r.taken, len(r.by), len(r.waiting))
}

// ClientAddress returns whose request it is that came from the peer.
func ClientAddress(trusted []netip.Prefix, peer netip.Addr, h http.Header) netip.Addr {
	return proxies(trusted).client(peer, h)
}

// What the tests of strangers need.
var NewStrangers = newStrangers

// StrangersMost is strangersMost.
const StrangersMost = strangersMost

// Count is count.
func (s *strangers) Count(a netip.Addr) bool { return s.count(block(a)) }

// Len returns how many addresses are remembered.
func (s *strangers) Len() int { return len(s.by) }

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
