package server

import (
	"container/heap"
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// reserve is how many connections beyond the limit are taken, so that a probe of the health finds one.
const reserve = 64

// connTable is the connections of callers. It keeps their number, and that of each address, within bounds by closing
// those that wait for a request: the oldest of the address that has too many, else of the address that has the most
// waiting. While all are busy, some more are accepted for requests of health alone. Its operations don't take longer
// with more connections, except for a sift in the heap of addresses.
type connTable struct {
	most    int
	each    int // of one address, but for trusted proxies
	proxies proxies

	mu    sync.Mutex
	all   int
	hosts map[netip.Prefix]*host
	queue hosts // the one that has the most waiting comes first
}

// host is one address, or network of addresses, with its connections.
type host struct {
	from    netip.Prefix
	all     int
	waiting list.List // of *conn that wait for a request; the one that has waited the longest comes first
	at      int       // in the queue
}

func newConnTable(most, each int, p proxies) *connTable {
	return &connTable{most: most, each: each, proxies: p, hosts: map[netip.Prefix]*host{}}
}

// enter takes a connection in, or reports that there is no room for it.
func (w *connTable) enter(c *conn) bool {
	c.table = w
	c.peer = peerOf(c.Conn)
	c.name = c.peer.String()
	c.proxy = w.proxies.trust(c.peer)
	w.mu.Lock()
	old, ok := w.makeRoomLocked(c)
	w.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	return ok
}

// makeRoomLocked adds the connection if it can, and returns the one that gives way to it, if one has to.
func (w *connTable) makeRoomLocked(c *conn) (old *conn, ok bool) {
	from := block(c.peer)
	h := w.hosts[from]
	switch {
	case !c.proxy && h != nil && h.all >= w.each:
		if old = h.oldest(); old == nil {
			return nil, false
		}
	case w.all >= w.most:
		if old = w.queue[0].oldest(); old == nil && w.all >= w.most+reserve {
			return nil, false
		}
		c.reserved = old == nil
	}
	if h == nil {
		h = &host{from: from}
		w.hosts[from] = h
		heap.Push(&w.queue, h)
	}
	h.all++
	w.all++
	c.host = h
	w.waitLocked(c)
	if old != nil {
		w.dropLocked(old)
	}
	return old, true
}

// oldest returns the host's connection that has waited the longest; nil if all are busy.
func (h *host) oldest() *conn {
	if first := h.waiting.Front(); first != nil {
		return first.Value.(*conn)
	}
	return nil
}

// waitLocked notes that a connection waits for a request from now on.
func (w *connTable) waitLocked(c *conn) {
	w.workLocked(c)
	c.waits = c.host.waiting.PushBack(c)
	heap.Fix(&w.queue, c.host.at)
}

// workLocked notes that a connection is at work on a request.
func (w *connTable) workLocked(c *conn) {
	if c.waits != nil {
		c.host.waiting.Remove(c.waits)
		c.waits = nil
		heap.Fix(&w.queue, c.host.at)
	}
}

// leave forgets a connection that is closed.
func (w *connTable) leave(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropLocked(c)
}

func (w *connTable) dropLocked(c *conn) {
	if c.host == nil {
		return // it was dropped before, or never taken in
	}
	w.workLocked(c)
	w.all--
	if c.host.all--; c.host.all == 0 {
		delete(w.hosts, c.host.from)
		heap.Remove(&w.queue, c.host.at)
	}
	c.host = nil
}

// watch hears of a connection's states: a new one, and one between two requests, waits.
func (w *connTable) watch(c net.Conn, state http.ConnState) {
	own, ok := c.(*conn)
	if !ok || state != http.StateActive && state != http.StateIdle {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case own.host == nil: // it gave way
	case state == http.StateActive:
		w.workLocked(own)
	default:
		w.waitLocked(own)
	}
}

// hosts is a heap by how many connections wait.
type hosts []*host

// Len implements heap.Interface.
func (q hosts) Len() int { return len(q) }

// Less implements heap.Interface.
func (q hosts) Less(i, j int) bool { return q[i].waiting.Len() > q[j].waiting.Len() }

// Swap implements heap.Interface.
func (q hosts) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

// Push implements heap.Interface.
func (q *hosts) Push(x any) {
	h := x.(*host)
	h.at = len(*q)
	*q = append(*q, h)
}

// Pop implements heap.Interface.
func (q *hosts) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return h
}

// connKey is the key of a connection in its requests' contexts.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of a request; nil if it didn't come over a listener of the API.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// peerOf returns the address at the other end.
func peerOf(c net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// block returns the addresses that count as one: one of IPv4, and the network of 64 bits that a host of IPv6 has at least.
func block(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}
