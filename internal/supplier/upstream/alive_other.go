//go:build !unix

package upstream

import "time"

// socket is what asks the system about a connection's socket, where it is known how.
type socket struct{}

// watch prepares alive and say.
func (c *connection) watch() {}

// alive reports whether an idle connection may take a request: its peer neither closed it nor said
// anything.
func (c *connection) alive(until time.Time) bool { return c.silent(until) }

// say writes a short request.
func (c *connection) say(b []byte, until time.Time) (sent bool, err error) { return c.write(b, until) }
