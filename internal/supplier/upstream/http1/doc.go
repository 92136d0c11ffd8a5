// Package http1 is a client of HTTP/1.1 that sends a request in the goroutine that asks for it, once, on a connection
// of its own, and says of each failure whether any of the request may have left. It speaks what suppliers of AI use:
// requests with a body of known length, answers of any framing, gzip, TLS; no proxy, redirect, cookie, trailer,
// upgrade or HEAD.
//
// The fewest lines go their own way: connections, the writing of requests, and the heads of plain answers (see
// readPlain). Any other head is read by net/http, and a fuzz test compares both ways with net/http's own client. It
// saves the two goroutines through which net/http hands each request; suppliers[].transport: standard chooses net/http
// all the same.
//
// An idle connection is used again within 4 s and only if its peer has neither closed it nor said anything, so that a
// request seldom meets a connection that is just being closed, which would leave its outcome unknown.
package http1
