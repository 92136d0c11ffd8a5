package server

import (
	"net"
	"net/http"
	"net/netip"

	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// ThriftyConn returns the connection as the API's listener would.
func ThriftyConn(c net.Conn) net.Conn { return &conn{Conn: c} }

// HandleCreated adds a path that handles a creation except for the gateway's part: the task is there.
func (s *Server) HandleCreated(path string, t task.Task) {
	create := func(x *exchange) error {
		sub, err := s.submission(x, idempotencyKey)
		if err != nil {
			return err
		}
		accepted := gateway.Accepted{Task: t}
		return s.answerCreate(x, sub.Wait, &accepted)
	}
	s.handle(path, s.limited(s.keyHolder, gate.Creates, methods{http.MethodPost: create}.dispatch))
}

// DecodeObject is decodeObject.
var DecodeObject = decodeObject

// DigestOf is digestOf.
var DigestOf = digestOf

// NewNodeClient is newNodeClient.
var NewNodeClient = newNodeClient

// RelayOf returns how the task of a request is followed at another node, by a client of nodes.
func RelayOf(r *http.Request, nodes *http.Client) gateway.Relay {
	s := &Server{nodes: nodes}
	return s.relay(&exchange{r: r}, r.URL.EscapedPath())
}

// ClientAddress returns whose request it is that came from the peer.
func ClientAddress(trusted []netip.Prefix, peer netip.Addr, h http.Header) netip.Addr {
	return proxies(trusted).client(peer, h)
}

// Private reports whether no stranger could read a request that came from the peer.
func Private(trusted []netip.Prefix, peer netip.Addr, h http.Header) bool {
	p := proxies(trusted)
	return p.private(&conn{peer: peer, proxy: p.trust(peer)}, h)
}

// For the tests of refused clients.
var NewStrangers = newRefusedClients

// StrangersMost is strangersMost.
const StrangersMost = refusedClientsMost

// Count is count.
func (s *refusedClients) Count(a netip.Addr) bool { return s.count(block(a)) }

// Len returns how many addresses are remembered.
func (s *refusedClients) Len() int { return len(s.by) }

// For the fuzz tests of the decoders.
var (
	IdempotencyKey = idempotencyKey
	PreferredWait  = preferredWait
	CheckMediaType = checkMediaType
	ParseListQuery = parseListQuery
	Traceparent    = traceparent
	Clean          = clean
)

// KnownRevision returns the revision that an If-None-Match names.
var KnownRevision = ifNoneMatch.revision

// ParseIfNoneMatch reads an If-None-Match.
var ParseIfNoneMatch = parseIfNoneMatch

// For the tests of the table of connections.
type Crowd = connTable

// Reserve is reserve.
const Reserve = reserve

// NewCrowd returns a crowd that knows no proxies.
func NewCrowd(most, each int) *Crowd { return newConnTable(most, each, nil) }

// Enter returns the connection as the crowd knows it, and whether it was taken in.
func (w *connTable) Enter(inner net.Conn) (net.Conn, bool) {
	c := &conn{Conn: inner}
	return c, w.enter(c)
}

// Watch is watch.
func (w *connTable) Watch(c net.Conn, state http.ConnState) { w.watch(c, state) }
