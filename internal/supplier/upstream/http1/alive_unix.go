//go:build unix

package http1

import (
	"net"
	"syscall"
	"time"
)

// socket asks the system about a connection's socket.
type socket struct {
	raw   syscall.RawConn // nil without a known one
	look  func(fd uintptr) bool
	still bool // look's finding: no bytes to read, and no end

	turn func(fd uintptr) bool // nil if say has to do without
	out  []byte                // the bytes that turn is to write; nil after that
	n    int                   // how much of it was
	err  error                 // why not all
}

// watch prepares alive and say.
func (c *connection) watch() {
	s, ok := c.plain.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	var one [1]byte
	k := &c.socket
	k.raw, k.look = raw, func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		k.still = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		k.turn = func(fd uintptr) bool {
			if k.out == nil {
				return true // there is something to read
			}
			if k.look(fd); !k.still {
				return true
			}
			k.n, k.err = tcp.Write(k.out)
			k.out = nil
			return k.err != nil
		}
	}
}

// alive reports whether an idle connection may take a request: its peer hasn't closed it or sent bytes.
func (c *connection) alive(until time.Time) bool {
	if c.socket.raw == nil {
		return c.silent(until)
	}
	return c.socket.raw.Read(c.socket.look) == nil && c.socket.still && (c.Conn == c.plain || c.quiet(0, until))
}

// say writes a short request and, if it can, waits until there are bytes to read. It saves the two vain system calls
// of alive and a read: bytes that come after look wake the wait, since the runtime counts from before it.
func (c *connection) say(b []byte, until time.Time) (sent bool, err error) {
	k := &c.socket
	if k.turn == nil || c.since.IsZero() {
		return c.write(b, until)
	}
	k.out, k.n, k.err, k.still = b, 0, nil, true
	err = k.raw.Read(k.turn)
	written := k.out == nil
	k.out = nil
	switch {
	case written: // why the wait ended, the next read finds too
		return k.n > 0 || k.err == nil, k.err
	case err != nil:
		return false, err
	default:
		return false, errGone
	}
}
