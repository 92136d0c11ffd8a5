//go:build unix

package wire

import (
	"syscall"
	"time"
)

// watch prepares alive.
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
	c.raw, c.peek = raw, func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		c.still = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	}
}

// alive reports whether an idle connection may take a request: its peer neither closed it nor said
// anything.
func (c *connection) alive(until time.Time) bool {
	if c.raw == nil {
		return c.quiet(time.Millisecond, until)
	}
	return c.raw.Read(c.peek) == nil && c.still && (c.Conn == c.plain || c.quiet(0, until))
}
