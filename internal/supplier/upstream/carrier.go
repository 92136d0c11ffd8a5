package upstream

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// request is a call with everything it sends.
type request struct {
	method string
	url    *url.URL // not to be changed
	target string   // of the request line, for the URL's own host
	header *header
	body   []byte // nil: none
}

// header is that of a request but for its first lines, which tell one request from another. It isn't changed.
type header struct {
	key    string // that it has; "": no key
	fields http.Header
	lines  string // as a direct connection writes them
}

// framing are the fields that a direct connection itself writes, or that would contradict it.
var framing = map[string]bool{"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Trailer": true}

func newHeader(key string, fields http.Header) *header {
	var lines strings.Builder
	_ = fields.WriteSubset(&lines, framing) // a Builder takes everything
	return &header{key, fields, lines.String()}
}

// carrier sends a request once, within the time, follows no redirect, and returns when the head of its
// answer is there. Its errors are *supplier.Error.
type carrier interface {
	carry(ctx context.Context, r request, within time.Duration) (*Stream, error)
}

// standard carries requests by net/http's Transport: over HTTP/2 if the supplier speaks it, and through a proxy.
type standard struct {
	empty     *http.Request // the beginning of all requests
	transport *http.Transport
}

func newStandard(base *url.URL, dial dialer, proxy func(*http.Request) (*url.URL, error), http2 bool) (*standard, error) {
	empty, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base.String(), nil)
	if err != nil {
		return nil, err
	}
	return &standard{empty, &http.Transport{
		Proxy:                  proxy,
		ForceAttemptHTTP2:      http2,
		DialContext:            dial,
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleConnTimeout,
		MaxIdleConnsPerHost:    idleConns,
		MaxResponseHeaderBytes: headLimit,
		WriteBufferSize:        writeBuffer,
	}}, nil
}

func (s *standard) carry(ctx context.Context, r request, within time.Duration) (*Stream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(within, func() { cancel(errTimeout) })
	var sent atomic.Bool
	req := s.empty.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
	}))
	req.Method, req.URL, req.Header = r.method, r.url, r.header.fields
	if len(r.body) > 0 { // without GetBody, with which net/http may send the request twice
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.body)), int64(len(r.body))
	}
	resp, err := s.transport.RoundTrip(req) //nolint:bodyclose // the Stream closes it
	if err != nil {
		timer.Stop()
		failure := broken(ended(ctx, nil), err, sent.Load())
		cancel(nil)
		return nil, failure
	}
	body := &standardBody{resp.Body, ctx, cancel, timer}
	return &Stream{Status: resp.StatusCode, Header: Header{all: resp.Header}, in: body, body: body, length: resp.ContentLength}, nil
}

// standardBody is the body of an answer, decompressed by net/http.
type standardBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (b *standardBody) patience(d time.Duration) { b.timer.Reset(d) }

func (b *standardBody) ended(error) error { return ended(b.ctx, nil) }

func (b *standardBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// dialer opens a connection.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)
