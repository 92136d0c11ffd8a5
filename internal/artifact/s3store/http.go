package s3store

import (
	"context"
	"net"
	"net/http"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// idleConnections stay open for the requests to come: as many as nodes have parts and small requests under way.
const idleConnections = 64

// newClient returns a client whose connections break when they stall, in whichever direction: a worker that reads or
// writes one would wait for ever. AWS_CA_BUNDLE may add authorities to it.
func newClient(stall time.Duration) *awshttp.BuildableClient {
	dialer := &net.Dialer{Timeout: min(stall, 5*time.Second)} // the store is near, or a proxy is
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &stallConn{Conn: conn, stall: stall}, nil
		}
		t.ForceAttemptHTTP2 = false // on one connection a part that stalls would hold up all others
		t.TLSHandshakeTimeout = min(stall, 10*time.Second)
		t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
		t.IdleConnTimeout = stall / 2 // before stallConn ends it with an error
		t.DisableCompression = true   // bytes are counted
	})
}

// stallConn is a connection on which no read or write may take longer than stall. A write gives a read that waits for
// its answer as long again.
type stallConn struct {
	net.Conn
	stall time.Duration
}

func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
