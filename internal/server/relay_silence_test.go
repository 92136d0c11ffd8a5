package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/api"
	"unitask/internal/server"
	"unitask/internal/sse"
)

// nodeOf is a transport to a node that answers with a stream.
type nodeOf struct{ body io.ReadCloser }

func (n nodeOf) RoundTrip(r *http.Request) (*http.Response, error) {
	context.AfterFunc(r.Context(), func() { _ = n.body.Close() }) // as a connection is
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sse.ContentType}}, Body: n.body, Request: r}, nil
}

// TestRelayOfASilentNode: a relay goes on as long as the other node gives signs of life, and ends half a minute after the
// last of them.
func TestRelayOfASilentNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, node := io.Pipe()
		go func() {
			for range 10 { // and no more
				time.Sleep(20 * time.Second)
				_, _ = io.WriteString(node, sse.Beat)
			}
			_, _ = node.Write(sse.Append(nil, api.EventDelta, []byte(`{"text":"Once "}`)))
		}()
		start, said := time.Now(), ""
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, api.PathTasks+"/task_1", nil)
		err := server.RelayOf(r, &http.Client{Transport: nodeOf{body}})(t.Context(), "http://10.0.0.9:8420", func(piece api.Delta) { said += piece.Text })
		if took := time.Since(start); took != 230*time.Second || said != "Once " || err == nil {
			t.Errorf("it ended after %s with %v; said %q", took, err, said)
		}
	})
}

// TestRelayOfANodeWithoutTLS: a node that takes a connection and never answers the handshake is given up.
func TestRelayOfANodeWithoutTLS(t *testing.T) {
	t.Parallel()
	mute, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, api.PathTasks+"/task_1", nil)
	if err := server.RelayOf(r, server.NewNodeClient())(ctx, "https://"+mute.Addr().String(), func(api.Delta) {}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}
