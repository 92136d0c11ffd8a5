package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"unitask/internal/artifact"
)

// The bounds of one attempt.
const (
	attemptTime = 10 * time.Second // from the name's resolution to the answer's header
	drainTime   = time.Second      // for the answer's body, so that its connection serves again
	mostAnswer  = 64 << 10         // bytes of it that are read, and thrown away
)

// DialFunc connects to a foreign address, or refuses with artifact.ErrDenied.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// answer is a receiver's answer to one attempt.
type answer struct {
	status     int           // 0 without an answer
	problem    string        // why there is none: words of ours, never the receiver's
	retryAfter time.Duration // that it asked for, 0 without
}

// delivered reports whether the receiver took the event.
func (a answer) delivered() bool { return a.status >= 200 && a.status < 300 }

// poster sends deliveries. It follows no redirect, goes through no proxy and reads no more of an answer than a bound.
type poster struct {
	client *http.Client
	agent  string
	http   bool // addresses may be http
}

func newPoster(dial DialFunc, version string, mayHTTP bool) *poster {
	agent := "unitask"
	if version != "" {
		agent += "/" + version
	}
	return &poster{agent: agent, http: mayHTTP, client: &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dial,
			DisableKeepAlives:      true, // net/http logs the bytes that a receiver sends on an idle connection
			MaxResponseHeaderBytes: 16 << 10,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// close drops the idle connections.
func (p *poster) close() { p.client.CloseIdleConnections() }

// post sends one attempt. A receiver that has answered with a header has answered, whatever it does with its body.
func (p *poster) post(ctx context.Context, url string, header http.Header, body []byte) answer {
	timed, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(attemptTime, func() { cancel(errLate) })
	defer late.Stop()
	request, err := http.NewRequestWithContext(timed, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{problem: "the address is malformed"}
	}
	if request.URL.Scheme != "https" && !p.http {
		return answer{problem: "its address is http, which the operator doesn't allow"}
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", p.agent)
	response, err := p.client.Do(request)
	if err != nil {
		if errors.Is(context.Cause(timed), errLate) {
			err = errLate
		}
		return answer{problem: problemOf(err)}
	}
	late.Reset(drainTime)
	_, _ = io.CopyN(io.Discard, response.Body, mostAnswer)
	_ = response.Body.Close()
	return answer{status: response.StatusCode, retryAfter: retryAfter(response)}
}

// errLate ends an attempt that takes too long.
var errLate = errors.New("notify: no answer in time")

// problemOf says why there is no answer. The error itself may name addresses inside the operator's network. A name that
// doesn't resolve and a refused address have the same text: it doesn't tell which private names there are.
func problemOf(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.Is(err, artifact.ErrDenied), errors.As(err, &name):
		return "its host has no public address"
	case errors.Is(err, errLate), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it didn't answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses connections"
	case errors.As(err, &certificate):
		return "its certificate is not valid"
	default:
		return "the connection broke off"
	}
}

// retryAfter returns the pause that an answer asks for, 0 without one.
func retryAfter(r *http.Response) time.Duration {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	text := r.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	sent, bad := http.ParseTime(r.Header.Get("Date"))
	if err != nil || bad != nil {
		return 0
	}
	return max(0, at.Sub(sent))
}
