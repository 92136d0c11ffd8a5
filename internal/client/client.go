// Package client speaks the service's wire: capabilities, tasks, artifacts, and the operator's
// socket of a server on this machine.
//
// A Client sends its key to one place, the base URL it was made for: it follows no redirect of the API and fetches
// artifacts, whose URLs are signed, without the key. It sends a creation again under the same Idempotency-Key if that
// is safe, and reads a task every two to five seconds, never more often. Errors of the service are *Error and unwrap
// to *fault.Error; a server that can't be reached is *UnreachableError. Whatever is kept on this machine, profiles,
// holds no key.
package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"unitask/internal/fault"
	"unitask/internal/secret"
)

// DefaultBaseURL is the default address of a server.
const DefaultBaseURL = "http://127.0.0.1:8420"

const (
	dialTimeout  = 10 * time.Second // a host that drops packets shouldn't look like a slow one
	callTimeout  = 30 * time.Second // of one request, beside the wait it asks for
	createWindow = 60 * time.Second // the longest a creation is held
)

// KeyFunc returns the key to send. It is called before each request and may cache.
type KeyFunc func(context.Context) (secret.Value, error)

// Config names the service and its key.
type Config struct {
	BaseURL    string       // required; http or https, a path is kept
	Key        KeyFunc      // required
	Renew      KeyFunc      // optional; asked once when the service refuses the key, for a key that expires
	HTTPClient *http.Client // optional; its redirect policy is replaced
	UserAgent  string       // optional
	OnRetry    func(Retry)  // optional; told before each pause after a lost connection or a retryable error
}

// Retry says why a request is sent again, and after which pause.
type Retry struct {
	Err        error
	Pause      time.Duration
	Try, Tries int // which try of how many comes next; 0 for the reads of a task, which have no such bound
}

// Client calls one service with one key. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	key       KeyFunc
	renew     KeyFunc
	api       *http.Client // follows no redirect
	files     *http.Client // never carries the key
	userAgent string
	onRetry   func(Retry)
}

// New checks the configuration and returns a client. It sends no request.
func New(c Config) (*Client, error) {
	base, err := ParseBaseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Key == nil {
		return nil, fault.New(fault.Internal, "a client needs a key")
	}
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{Transport: transport()}
	}
	if c.OnRetry == nil {
		c.OnRetry = func(Retry) {}
	}
	api, files := *c.HTTPClient, *c.HTTPClient
	api.CheckRedirect = noRedirect
	api.Jar, files.Jar = nil, nil
	files.CheckRedirect = nil
	return &Client{
		base: base, key: c.Key, renew: c.Renew, api: &api, files: &files,
		userAgent: c.UserAgent, onRetry: c.OnRetry,
	}, nil
}

// BaseURL returns the address this client calls, without a trailing slash.
func (c *Client) BaseURL() string { return c.base.String() }

// ParseBaseURL reads an absolute http or https URL without user, query and fragment; a trailing
// slash is cut.
func ParseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.Invalid("base URL", "must look like "+DefaultBaseURL)
	case u.User != nil:
		return nil, fault.Invalid("base URL", "must not hold a user or a password")
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, fault.Invalid("base URL", "must not have a query or a fragment")
	}
	return u, nil
}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext
	return t
}
