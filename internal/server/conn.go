package server

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// cappedListener is a listener whose connections tell the system of few of the deadlines that they are given.
// net/http and exchange set ten for each request, nearly all of which the next one lifts or puts off.
type cappedListener struct {
	net.Listener
	crowd *connTable
}

// Accept implements net.Listener. It returns the connections that the crowd has room for.
func (l cappedListener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if tcp, ok := inner.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(receiveBuffer)
		}
		c := &conn{Conn: inner}
		if l.crowd.enter(c) {
			return c, nil
		}
		_ = inner.Close()
	}
}

// receiveBuffer is how many unread bytes of a connection the kernel holds: as much as it likes otherwise, tens of
// megabytes on some systems, for each of thousands.
const receiveBuffer = 256 << 10

// conn keeps its deadlines as any net.Conn does.
type conn struct {
	net.Conn
	read, write deadline

	table    *connTable // nil: it is in no table
	peer     netip.Addr
	name     string // peer, in words
	proxy    bool   // peer is a trusted proxy
	reserved bool   // it came when all others were at work: it only learns how the service is

	// Of the crowd, under its lock.
	host  *host         // nil: it has left
	waits *list.Element // in its host's line of those that wait for a request; nil: it is at work on one
}

// Close implements net.Conn.
func (c *conn) Close() error {
	if c.table != nil {
		c.table.leave(c)
	}
	return c.Conn.Close()
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	for {
		if err := c.read.begin(c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(b)
		if !c.read.end(err) {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (written int, err error) {
	for {
		if err := c.write.begin(c.Conn.SetWriteDeadline); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[written:])
		written += n
		if !c.write.end(err) {
			return written, err
		}
	}
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.read.set(t, c.Conn.SetReadDeadline) }

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.write.set(t, c.Conn.SetWriteDeadline) }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// deadline is one direction's. The system gets it only while a call is under way or begins, and only if it is earlier
// than the system's. A call that the system then ends too early is started again.
type deadline struct {
	mu     sync.Mutex
	wanted time.Time // zero: no deadline
	told   time.Time // the system's deadline; zero: no deadline
	passed bool      // told is over: every call ends at once
	calls  int       // under way
}

func (d *deadline) set(t time.Time, tell func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.calls == 0 {
		return nil
	}
	return d.tellLocked(tell)
}

// begin comes before a call.
func (d *deadline) begin(tell func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.tellLocked(tell); err != nil {
		return err
	}
	d.calls++
	return nil
}

// end comes after a call, which ended with err, and reports whether that was too early.
func (d *deadline) end(err error) (early bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls--
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.passed = true
	return d.wanted.IsZero() || time.Now().Before(d.wanted)
}

func (d *deadline) tellLocked(tell func(time.Time) error) error {
	earlier := !d.wanted.IsZero() && (d.told.IsZero() || d.wanted.Before(d.told))
	if !earlier && !d.passed {
		return nil
	}
	if err := tell(d.wanted); err != nil {
		return err
	}
	d.told, d.passed = d.wanted, false
	return nil
}
