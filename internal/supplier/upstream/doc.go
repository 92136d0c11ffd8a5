// Package upstream is the HTTP client that the adapters share. It sends one request once, says whether the request
// may have arrived, and bounds the answer; it knows no supplier's format beyond the ways in which suppliers report
// errors.
//
// Invariants:
//   - One call is at most one request on the network. No request is sent again: not if an idle connection turns out
//     to be closed (it is checked before it is used, and later faults are of unknown outcome), nor by net/http, which
//     would repeat a request whose body can be rewound. Redirects are answers, never followed, so
//     the key reaches the base URL's host only.
//   - No proxy, key or address is taken from the environment.
//   - Every error is a *supplier.Error. A failure before any byte of a request may have left is not_sent, a later one
//     is unknown, and an answer is judged by its status (see [SentByStatus]).
//   - No byte that a supplier or a caller wrote gets into an error: messages are this package's own,
//     causes are the operating system's, TLS's or fixed texts.
//
// Two carriers send requests, and read an answer alike: package http1, in the calling goroutine, and net/http's
// Transport, which hands each request through two more goroutines, a tenth of a gateway's CPU. The latter serves behind
// a proxy, and if the settings ask for it, then with HTTP/2. The death of an HTTP/2 connection leaves every submission
// on it with an unknown outcome, that of an HTTP/1.1 one only one.
package upstream
