// Package client calls a unitask service: it creates tasks, follows them to their end and fetches their files.
//
//	c, err := client.New("https://ai.example.com", os.Getenv("UNITASK_API_KEY"))
//	task, err := c.TextChat(ctx, client.TextChatInput{Prompt: "Say hello in three languages."})
//	fmt.Println(task.Output.Text)
//
// Each built-in capability has a method, an input and an output, which are generated from the service's catalog. The
// functions Run, Stream, Submit, Watch, Wait and Get take any input; a capability that only a service's own catalog
// has is called by a Request.
//
// Each creation has an Idempotency-Key, made once and kept through all retries, so a task runs once however often its
// request is lost. Lost connections and retryable errors are tried again: a creation six times at most, within three
// minutes, with full jitter and never before the service's Retry-After; a task that failed is reopened twice at most.
// Two reads of one task start two to five seconds apart. A context ends everything at once; the task goes on.
//
// An error of the service or of a task is an *Error, a connection that was refused or lost an *UnreachableError. The
// key is sent to the base URL alone: redirects aren't followed, and files, whose addresses are signed, are fetched
// without it. Unknown members of answers are passed over, so an older client serves a newer service.
//
//go:generate go test . -run TestGenerated -update
package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	dialTimeout  = 10 * time.Second // a host that drops packets shouldn't look like a slow one
	callTimeout  = 30 * time.Second // of one request, beside the wait it asks for
	createWindow = 60 * time.Second // the longest a creation is held
)

// KeyFunc returns the key to send. It is called before each request and may cache. refused is the key that the service
// has just refused, "" before a first try: if another key comes back, the request is sent once more.
type KeyFunc func(ctx context.Context, refused string) (string, error)

// Option changes a client that New makes.
type Option func(*Client)

// WithHTTPClient makes requests by h, whose cookies and redirect policy aren't used. Its Timeout would end streams too.
// nil is one of the client's own.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		if h == nil {
			h = &http.Client{Transport: transport()}
		}
		c.api = h
	}
}

// WithKeyFunc asks f for the key in place of a fixed one. No key, "", sends none.
func WithKeyFunc(f KeyFunc) Option { return func(c *Client) { c.key = f } }

// WithUserAgent names the program to the service.
func WithUserAgent(name string) Option { return func(c *Client) { c.userAgent = name } }

// WithOnRetry calls f before each pause after a lost connection or a retryable error. f must be safe for concurrent use.
func WithOnRetry(f func(Retry)) Option { return func(c *Client) { c.onRetry = f } }

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
	api       *http.Client // follows no redirect
	files     *http.Client // never carries the key
	userAgent string
	onRetry   func(Retry)
}

// New returns a client of the service at a base URL. It sends no request.
func New(baseURL, key string, options ...Option) (*Client, error) {
	base, err := ParseBaseURL(baseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, api: &http.Client{Transport: transport()}, userAgent: "unitask-go", onRetry: func(Retry) {}}
	if key != "" {
		c.key = func(context.Context, string) (string, error) { return key, nil }
	}
	c = c.With(options...)
	if c.key == nil {
		return nil, errors.New("unitask: a client needs a key")
	}
	return c, nil
}

// With returns a client of the same service with other options, which shares the connections of this one.
func (c *Client) With(options ...Option) *Client {
	other := *c
	for _, o := range options {
		o(&other)
	}
	api, files := *other.api, *other.api
	api.CheckRedirect = noRedirect
	api.Jar, files.Jar = nil, nil
	files.CheckRedirect = nil
	other.api, other.files = &api, &files
	return &other
}

// BaseURL returns the address this client calls, without a trailing slash.
func (c *Client) BaseURL() string { return c.base.String() }

// ParseBaseURL reads an absolute http or https URL without user, query and fragment; a trailing slash is cut. Its errors
// are *Error and repeat no part of the text.
func ParseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, invalid("base URL", "must look like http://127.0.0.1:8420")
	case u.User != nil:
		return nil, invalid("base URL", "must not hold a user or a password")
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, invalid("base URL", "must not have a query or a fragment")
	}
	return u, nil
}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext
	return t
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
