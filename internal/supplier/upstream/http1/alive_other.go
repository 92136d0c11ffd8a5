//go:build !unix

package http1

import "time"

// socket asks the system about a connection's socket, if the system is known.
type socket struct{}

// watch prepares alive and say.
func (c *connection) watch() {}

// alive reports whether an idle connection may take a request: its peer hasn't closed it or sent bytes.
func (c *connection) alive(until time.Time) bool { return c.silent(until) }

// say writes a short request.
func (c *connection) say(b []byte, until time.Time) (sent bool, err error) { return c.write(b, until) }
