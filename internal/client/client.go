// Package client is the commands' layer on the library unitask/client: the same calls with the types of package api and
// the errors of package fault, the profiles and keys of this machine, and the operator's socket of a server on it.
//
// How requests are sent, retried and followed is the library's. Errors of the service are *Error and unwrap to
// *fault.Error; a server that can't be reached is *UnreachableError. Whatever is kept on this machine, profiles, holds
// no key.
package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	library "unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/secret"
)

// DefaultBaseURL is the default address of a server.
const DefaultBaseURL = "http://127.0.0.1:8420"

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

// Retry says why a request is sent again, and after which pause. Its error has a code of package fault.
type Retry = library.Retry

// Client calls one service with one key. It is safe for concurrent use.
type Client struct {
	library *library.Client
	onRetry func(Retry)
}

// New checks the configuration and returns a client. It sends no request.
func New(c Config) (*Client, error) {
	if c.Key == nil {
		return nil, fault.New(fault.Internal, "a client needs a key")
	}
	made := &Client{onRetry: c.OnRetry}
	if made.onRetry == nil {
		made.onRetry = func(Retry) {}
	}
	options := []library.Option{library.WithKeyFunc(c.key), library.WithOnRetry(retold(made.onRetry))}
	if c.HTTPClient != nil {
		options = append(options, library.WithHTTPClient(c.HTTPClient))
	}
	if c.UserAgent != "" {
		options = append(options, library.WithUserAgent(c.UserAgent))
	}
	var err error
	made.library, err = library.New(c.BaseURL, "", options...)
	return made, translated(err)
}

// key is the library's way to the key.
func (c Config) key(ctx context.Context, refused string) (string, error) {
	switch {
	case refused == "":
		v, err := c.Key(ctx)
		return v.Reveal(), err
	case c.Renew == nil:
		return refused, nil
	default:
		v, err := c.Renew(ctx)
		return v.Reveal(), err
	}
}

// retold has f hear of errors with codes of package fault.
func retold(f func(Retry)) func(Retry) {
	return func(r Retry) {
		r.Err = translated(r.Err)
		f(r)
	}
}

// BaseURL returns the address this client calls, without a trailing slash.
func (c *Client) BaseURL() string { return c.library.BaseURL() }

// ParseBaseURL reads an absolute http or https URL without user, query and fragment; a trailing
// slash is cut.
func ParseBaseURL(text string) (*url.URL, error) {
	u, err := library.ParseBaseURL(text)
	return u, translated(err)
}

// NewIdempotencyKey returns a fresh key.
func NewIdempotencyKey() string { return library.NewIdempotencyKey() }

// PollInterval returns the time between the starts of two reads of a task, from the service's advice.
func PollInterval(advised time.Duration) time.Duration { return library.PollInterval(advised) }

// Download writes the artifact to w and checks its size and SHA-256. Bytes written before an error must not be used.
func (c *Client) Download(ctx context.Context, a api.Artifact, w io.Writer) error {
	return translated(c.library.Download(ctx, library.Artifact{ID: a.ID, URL: a.URL, Bytes: a.Bytes, SHA256: a.SHA256}, w))
}

// do makes one request.
func do[T any](ctx context.Context, c *library.Client, r library.Call) (out T, a library.Answer, err error) {
	a, err = c.Do(ctx, r, &out)
	return out, a, translated(err)
}
