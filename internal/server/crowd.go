package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// reserve is how many connections beyond the limit are taken, so that a probe of the health finds one.
const reserve = 64

// crowd is the connections of callers. It keeps their number, and that of each address, within bounds by closing
// those that wait for a request: the oldest of the address that has too many, else of the address that has the most.
// Where all are at work on requests, some more are taken, which only learn how the service is.
type crowd struct {
	most    int
	each    int // of one address, but for trusted proxies
	proxies proxies

	mu  sync.Mutex
	all map[*conn]struct{}
	by  map[netip.Prefix]int
}

func newCrowd(most, each int, p proxies) *crowd {
	return &crowd{most: most, each: each, proxies: p, all: map[*conn]struct{}{}, by: map[netip.Prefix]int{}}
}

// enter takes a connection in, or reports that there is no room for it.
func (w *crowd) enter(c *conn) bool {
	c.crowd = w
	c.peer = peerOf(c.Conn)
	c.host = c.peer.String()
	c.proxy = w.proxies.trust(c.peer)
	c.from = block(c.peer)
	c.waits.Store(time.Now().UnixNano())
	w.mu.Lock()
	old, ok := w.placeLocked(c)
	w.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	return ok
}

// placeLocked adds the connection if it can, and returns the one that gives way to it, if one has to.
func (w *crowd) placeLocked(c *conn) (old *conn, ok bool) {
	if !c.proxy && w.by[c.from] >= w.each {
		if old = w.oldestLocked(func(o *conn) bool { return o.from == c.from }); old == nil {
			return nil, false
		}
	} else if len(w.all) >= w.most {
		if old = w.oldestLocked(func(*conn) bool { return true }); old == nil && len(w.all) >= w.most+reserve {
			return nil, false
		}
		c.reserved = old == nil
	}
	if old != nil {
		w.dropLocked(old)
	}
	w.all[c] = struct{}{}
	w.by[c.from]++
	return old, true
}

// oldestLocked returns the connection that has waited the longest, among those of the address that has the most; nil
// where none waits.
func (w *crowd) oldestLocked(among func(*conn) bool) (oldest *conn) {
	var since int64
	for c := range w.all {
		at := c.waits.Load()
		if at == 0 || !among(c) {
			continue
		}
		if oldest == nil || w.by[c.from] > w.by[oldest.from] || c.from == oldest.from && at < since {
			oldest, since = c, at
		}
	}
	return oldest
}

// leave forgets a connection that is closed.
func (w *crowd) leave(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropLocked(c)
}

func (w *crowd) dropLocked(c *conn) {
	if _, in := w.all[c]; !in {
		return
	}
	delete(w.all, c)
	if w.by[c.from]--; w.by[c.from] == 0 {
		delete(w.by, c.from)
	}
}

// watch hears of a connection's states: a new one, and one between two requests, waits.
func (w *crowd) watch(c net.Conn, state http.ConnState) {
	own, ok := c.(*conn)
	switch {
	case !ok:
	case state == http.StateActive:
		own.waits.Store(0)
	case state == http.StateIdle:
		own.waits.Store(time.Now().UnixNano())
	}
}

// connKey is the key of a connection in its requests' contexts.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of a request; nil where it came over no listener of the API.
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
