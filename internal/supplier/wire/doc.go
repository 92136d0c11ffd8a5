// Package wire is the HTTP client that the adapters share. It sends one request once, says whether
// the request may have arrived, and bounds what comes back; it knows no supplier's format beyond the
// ways in which suppliers report errors.
//
// Invariants:
//   - One call is at most one request on the network. net/http sends a request again by itself when
//     it carries an Idempotency-Key or can rewind its body, so no body here can be rewound; redirects
//     are answers, never followed, so the key reaches the base URL's host only.
//   - No proxy, key or address is taken from the environment.
//   - Every error is a *supplier.Error. Not one byte of a request leaves before net/http reports its
//     headers as written: what fails earlier is not_sent, what fails later is unknown, and an answer
//     is judged by its status (see [SentByStatus]).
//   - No byte that a supplier or a caller wrote gets into an error: messages are this package's own,
//     causes are the operating system's, TLS's or fixed texts.
//
// HTTP/1.1 only: with HTTP/2 the death of one connection would leave every submission on it with an
// unknown outcome, where here it leaves one.
package wire
