package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// inProcess has a handler of this process answer requests to a base URL. No other address is called, whatever a
// request or a redirect says. It is safe for concurrent use.
type inProcess struct {
	handler http.Handler
	base    *url.URL
	outer   *http.Request // in whose name all are sent
	under   sync.WaitGroup
}

// forwarded are the headers by which proxies say who calls, and the one that names the place in the caller's trace.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "Traceparent"}

func newInProcess(handler http.Handler, base *url.URL, outer *http.Request) *inProcess {
	return &inProcess{handler: handler, base: base, outer: outer}
}

// wait returns once no request is under way.
func (t *inProcess) wait() { t.under.Wait() }

var errElsewhere = errors.New("the address isn't the service's own")

// RoundTrip implements http.RoundTripper.
func (t *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	in, err := t.incoming(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	out := newReply()
	t.under.Go(func() {
		defer out.finish()
		t.handler.ServeHTTP(out, in)
	})
	select {
	case <-out.begun:
	case <-ctx.Done():
		cancel()
		_ = out.read.Close() // or an answer that comes too late would wait for its reader for ever
		return nil, ctx.Err()
	}
	if out.status == 0 {
		cancel()
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{
		Status: http.StatusText(out.status), StatusCode: out.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.sent, Body: replyBody{out.read, cancel}, ContentLength: -1, Request: r,
	}, nil
}

// incoming is a client's request as its server reads it.
func (t *inProcess) incoming(ctx context.Context, r *http.Request) (*http.Request, error) {
	path, ours := strings.CutPrefix(r.URL.RequestURI(), t.base.EscapedPath())
	if !ours || r.URL.Scheme != t.base.Scheme || r.URL.Host != t.base.Host || !strings.HasPrefix(path, "/") {
		return nil, errElsewhere
	}
	target, err := url.ParseRequestURI(path)
	if err != nil {
		return nil, err
	}
	in := r.Clone(ctx)
	in.URL, in.RequestURI, in.Host, in.RemoteAddr = target, path, t.base.Host, t.outer.RemoteAddr
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	for _, name := range forwarded {
		in.Header[name] = t.outer.Header[name]
	}
	return in, nil
}

// reply is the http.ResponseWriter of a request in this process. Each piece waits for its reader.
type reply struct {
	header http.Header
	sent   http.Header // as it was when the answer began
	status int         // 0 until then
	once   sync.Once
	begun  chan struct{}
	read   *io.PipeReader
	write  *io.PipeWriter
}

func newReply() *reply {
	a := &reply{header: http.Header{}, begun: make(chan struct{})}
	a.read, a.write = io.Pipe()
	return a
}

// Header implements http.ResponseWriter.
func (a *reply) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *reply) WriteHeader(status int) {
	a.once.Do(func() {
		a.sent, a.status = a.header.Clone(), status
		close(a.begun)
	})
}

// Write implements http.ResponseWriter.
func (a *reply) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.write.Write(b)
}

// Flush implements http.Flusher: nothing is held back.
func (a *reply) Flush() { a.WriteHeader(http.StatusOK) }

// finish ends the answer. A handler that panics has broken it off.
func (a *reply) finish() {
	var err error
	if recover() != nil {
		err = io.ErrUnexpectedEOF
	} else {
		a.WriteHeader(http.StatusOK)
	}
	_ = a.write.CloseWithError(err)
	a.once.Do(func() { close(a.begun) })
}

// replyBody ends the request when its reader has enough.
type replyBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b replyBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
