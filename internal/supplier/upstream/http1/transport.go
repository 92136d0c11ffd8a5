package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/idna"
)

// Transport carries requests to one host, each on a connection of its own until its answer is read. It is safe for
// concurrent use.
type Transport struct {
	dial    Dialer
	address string
	host    string      // of the Host header
	tls     *tls.Config // nil: plain text

	mu     sync.Mutex
	idle   []*connection // in the order in which they became so
	closer *time.Timer   // closes those that were idle for too long; nil before there were any
}

// New returns a transport to the base URL's host, which dial reaches; an error if that is no host.
func New(base *url.URL, dial Dialer) (*Transport, error) {
	host, port := base.Hostname(), base.Port()
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return nil, err
		}
		host = ascii
	}
	d := &Transport{dial: dial, host: host}
	if strings.Contains(host, ":") {
		d.host = "[" + host + "]"
	}
	switch {
	case port != "":
		d.host += ":" + port
	case base.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	d.address = net.JoinHostPort(host, port)
	if base.Scheme == "https" {
		d.tls = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	return d, nil
}

// Carry sends a request once, within the time, follows no redirect, and returns when the head of its answer is there.
// Its errors are *Error.
func (d *Transport) Carry(ctx context.Context, r Request, within time.Duration, answer *Response) error {
	if ctx.Err() != nil {
		return &Error{Why: Ended(ctx, nil), Err: ctx.Err()}
	}
	until := time.Now().Add(within)
	for {
		c := d.take(until)
		if c == nil {
			var err error
			if c, err = d.connect(ctx, until); err != nil {
				return err
			}
		}
		sent, err := c.exchange(ctx, r, until, answer)
		if err == nil {
			return nil
		}
		why := Ended(ctx, err)
		c.drop()
		if why != nil || !errors.Is(err, errGone) {
			return &Error{sent, why, err}
		}
	}
}

// connect opens a connection. Its errors are *Error.
func (d *Transport) connect(ctx context.Context, until time.Time) (*connection, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, until, ErrTimeout)
	defer cancel()
	plain, err := d.dial(ctx, "tcp", d.address)
	if err != nil {
		return nil, &Error{Why: lapsed(ctx), Err: err}
	}
	c := &connection{Conn: plain, plain: plain, of: d}
	c.hangUp = c.close
	if d.tls != nil {
		if c.Conn, err = shake(ctx, plain, d.tls); err != nil {
			c.close()
			return nil, &Error{Why: lapsed(ctx), Err: err}
		}
	}
	c.head.from = c.Conn
	c.in = bufio.NewReader(&c.head)
	c.watch()
	if err := c.SetDeadline(until); err != nil {
		c.close()
		return nil, &Error{Err: err}
	}
	return c, nil
}

// lapsed is Ended for functions that may notice the end of ctx's time a moment before ctx does, as a dial.
func lapsed(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		<-ctx.Done()
	}
	return Ended(ctx, nil)
}

func shake(ctx context.Context, plain net.Conn, config *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, TLSTimeout)
	defer cancel()
	secure := tls.Client(plain, config)
	return secure, secure.HandshakeContext(ctx)
}

// take returns an idle connection, the one that was used last; nil without one. Its peer may have closed
// it.
func (d *Transport) take(until time.Time) *connection {
	for {
		c := d.pop()
		if c == nil {
			return nil
		}
		if time.Since(c.since) < IdleTimeout && c.SetDeadline(until) == nil {
			return c
		}
		c.close()
	}
}

func (d *Transport) pop() *connection {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.idle) - 1
	if last < 0 {
		return nil
	}
	c := d.idle[last]
	d.idle = slices.Delete(d.idle, last, last+1)
	return c
}

// put keeps a connection for the next request.
func (d *Transport) put(c *connection) {
	c.since = time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.idle) == MostIdle {
		c.close()
		return
	}
	d.idle = append(d.idle, c)
	switch {
	case len(d.idle) > 1: // the timer runs
	case d.closer == nil:
		d.closer = time.AfterFunc(IdleTimeout, d.expire)
	default:
		d.closer.Reset(IdleTimeout)
	}
}

// expire closes the connections that were idle for too long.
func (d *Transport) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := 0
	for old < len(d.idle) && time.Since(d.idle[old].since) >= IdleTimeout {
		d.idle[old].close()
		old++
	}
	if d.idle = slices.Delete(d.idle, 0, old); len(d.idle) > 0 {
		d.closer.Reset(IdleTimeout - time.Since(d.idle[0].since))
	}
}
