package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"time"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/sse"
)

// relayMark is the header of a node's request to another one. Such a request is answered by what is said there and never
// passed on, so that there are no loops.
const relayMark = "Unitask-Relay"

// mostRelayed bounds one event of another node, in bytes.
const mostRelayed = 64 << 20

// mostSilent is how long another node may be silent: twice as long as one that works is.
const mostSilent = 2 * heartbeat

// errSilent ends a relay.
var errSilent = errors.New("the node fell silent")

// watched is a body whose reader is told of a silence.
type watched struct {
	io.Reader
	silence *time.Timer
}

// Read implements io.Reader.
func (w watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.silence.Reset(mostSilent)
	}
	return n, err
}

// proofs are the headers by which a request shows who makes it, from a program or from a page.
var proofs = []string{"Authorization", "Cookie", "Origin", "Sec-Fetch-Site"}

// newNodeClient returns a client of other nodes. There is no bound on a whole answer: a stream lasts as long as its task.
func newNodeClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 5 * time.Second, // a stream begins at once
			IdleConnTimeout:       30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// relay returns how the request's task is followed at another node: at the path, by the same caller. nil if the request
// comes from a node itself.
func (s *Server) relay(x *exchange, path string) gateway.Relay {
	if x.r.Header.Get(relayMark) != "" {
		return nil
	}
	header := http.Header{relayMark: {"1"}, "Accept": {sse.ContentType}, "X-Forwarded-For": {x.client}}
	for _, name := range proofs {
		if values, ok := x.r.Header[name]; ok {
			header[name] = values
		}
	}
	host := x.r.Host
	return func(ctx context.Context, address string, said func(api.Delta)) error {
		ctx, giveUp := context.WithCancelCause(ctx)
		defer giveUp(nil)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			return err
		}
		req.Header, req.Host = maps.Clone(header), host
		resp, err := s.nodes.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != sse.ContentType {
			return fmt.Errorf("%s answered with status %d", address, resp.StatusCode)
		}
		heard := watched{resp.Body, time.AfterFunc(mostSilent, func() { giveUp(errSilent) })}
		defer heard.silence.Stop()
		for e, err := range sse.Read(heard, mostRelayed) {
			if err != nil {
				return cmp.Or(context.Cause(ctx), err)
			}
			var d api.Delta
			if e.Name == api.EventDelta && json.Unmarshal([]byte(e.Data), &d) == nil {
				said(d)
			}
		}
		return nil
	}
}
