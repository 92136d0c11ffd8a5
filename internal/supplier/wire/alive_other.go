//go:build !unix

package wire

import "time"

// watch prepares alive.
func (c *connection) watch() {}

// alive reports whether an idle connection may take a request: its peer neither closed it nor said
// anything.
func (c *connection) alive(until time.Time) bool { return c.quiet(time.Millisecond, until) }
