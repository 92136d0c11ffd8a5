// Package upstream is the HTTP client that the adapters share. It sends one request once, says whether the request
// may have arrived, and bounds the answer; it knows no supplier's format beyond the ways in which suppliers report
// errors.
//
// Invariants:
//   - One call is at most one request on the network. No request is sent again: not if an idle connection turns out
//     to be closed (it is checked before it is used, and later faults are of unknown outcome), nor, behind a proxy,
//     by net/http, which would repeat a request whose body can be rewound. Redirects are answers, never followed, so
//     the key reaches the base URL's host only.
//   - No proxy, key or address is taken from the environment.
//   - Every error is a *supplier.Error. A failure before any byte of a request may have left is not_sent, a later one
//     is unknown, and an answer is judged by its status (see [SentByStatus]).
//   - No byte that a supplier or a caller wrote gets into an error: messages are this package's own,
//     causes are the operating system's, TLS's or fixed texts.
//
// Requests and answers are written and read in the goroutine that calls, over connections of the package's own (see
// direct): net/http's Transport hands each request through two goroutines more, which cost a gateway a tenth of its
// CPU. It does the work behind a proxy; both read an answer alike. Plain heads of answers are read here (see
// readPlain), all else in them by net/http.
//
// HTTP/1.1 only: with HTTP/2 the death of one connection would leave every submission on it with an unknown outcome,
// but here it leaves one.
package upstream
