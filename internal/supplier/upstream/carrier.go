package upstream

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"unitask/internal/supplier/upstream/http1"
)

// carrier sends a request once, within the time, follows no redirect, and returns when the head of its answer is there.
// Its errors are *http1.Error.
type carrier interface {
	Carry(ctx context.Context, r http1.Request, within time.Duration, answer *http1.Response) error
}

// standard carries requests by net/http's Transport: over HTTP/2 if the supplier speaks it, and through a proxy.
type standard struct {
	empty     *http.Request // the beginning of all requests
	transport *http.Transport
}

func newStandard(base *url.URL, dial http1.Dialer, proxy func(*http.Request) (*url.URL, error), http2 bool) (*standard, error) {
	empty, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base.String(), nil)
	if err != nil {
		return nil, err
	}
	return &standard{empty, &http.Transport{
		Proxy:                  proxy,
		ForceAttemptHTTP2:      http2,
		DialContext:            dial,
		TLSHandshakeTimeout:    http1.TLSTimeout,
		IdleConnTimeout:        http1.IdleTimeout,
		MaxIdleConnsPerHost:    http1.MostIdle,
		MaxResponseHeaderBytes: http1.HeadLimit,
		WriteBufferSize:        writeBuffer,
	}}, nil
}

// Carry implements carrier.
func (s *standard) Carry(ctx context.Context, r http1.Request, within time.Duration, answer *http1.Response) error {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(within, func() { cancel(http1.ErrTimeout) })
	var sent atomic.Bool
	req := s.empty.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
	}))
	req.Method, req.URL, req.Header = r.Method, r.URL, r.Fields.All
	if n := r.Length(); n > 0 { // without GetBody, with which net/http may send the request twice
		body := net.Buffers(append([][]byte{r.Body}, r.More...))
		req.Body, req.ContentLength = io.NopCloser(&body), int64(n)
	}
	resp, err := s.transport.RoundTrip(req) //nolint:bodyclose // the Response's Body closes it
	if err != nil {
		timer.Stop()
		failure := &http1.Error{Sent: sent.Load(), Why: http1.Ended(ctx, nil), Err: err}
		cancel(nil)
		return failure
	}
	answer.Status, answer.Header, answer.Length = resp.StatusCode, http1.NewHeader(resp.Header), resp.ContentLength
	answer.Body = &standardBody{resp.Body, ctx, cancel, timer}
	return nil
}

// standardBody is the body of an answer, decompressed by net/http.
type standardBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// Patience implements http1.Body.
func (b *standardBody) Patience(d time.Duration) { b.timer.Reset(d) }

// Ended implements http1.Body.
func (b *standardBody) Ended(error) error { return http1.Ended(b.ctx, nil) }

// Close implements http1.Body.
func (b *standardBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
