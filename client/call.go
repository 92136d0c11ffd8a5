package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// The service's paths and headers.
const (
	pathTasks            = "/api/ai/v1/tasks"
	pathCapabilities     = "/api/ai/v1/capabilities"
	headerRequestID      = "X-Request-Id"
	headerIdempotencyKey = "Idempotency-Key"
	headerReplayed       = "Idempotent-Replayed"
	headerPrefer         = "Prefer"
)

const (
	maxAnswer  = 256 << 20 // bytes of a JSON answer; embeddings are the large ones
	maxRefusal = 64 << 10  // bytes of an error that is read in the place of a file
)

// Call is one request of the API as it is, for Do.
type Call struct {
	Method string        // "": GET
	Path   string        // below the base URL, escaped, with its query
	Header http.Header   // beside the client's own
	Body   any           // written as JSON, unless it is a json.RawMessage; nil: no body
	Limit  time.Duration // of the whole exchange; 0: 30 s, or as long as it takes if the answer goes to an io.Writer
}

// Answer is the head of an answer.
type Answer struct {
	Status int
	Header http.Header
}

// RetryAfter is the pause that the answer advises, 0 without one.
func (a Answer) RetryAfter() time.Duration {
	return parseRetryAfter(a.Header.Get("Retry-After"), time.Now())
}

// Do makes one request with the client's key, for parts of the API without a method of their own. The answer's JSON goes
// to out, unless that is nil; if out is an io.Writer, the answer goes there as it comes. An answer that is no success is
// an *Error; 304 and 204 are successes without a value. It isn't tried again.
func (c *Client) Do(ctx context.Context, r Call, out any) (Answer, error) {
	w, pours := out.(io.Writer)
	if r.Limit == 0 && !pours {
		r.Limit = callTimeout
	}
	if r.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Limit)
		defer cancel()
	}
	var a Answer
	err := c.open(ctx, r, func(resp *http.Response) (err error) {
		a = Answer{Status: resp.StatusCode, Header: resp.Header}
		if pours && resp.StatusCode == http.StatusOK {
			_, err = io.Copy(w, resp.Body)
			return err
		}
		return c.read(resp, out)
	})
	return a, err
}

// open makes a request and hands its answer to use: once more with another key, if there is one, if it says that the
// service refused the first.
func (c *Client) open(ctx context.Context, r Call, use func(*http.Response) error) error {
	key, err := c.key(ctx, "")
	if err != nil {
		return err
	}
	err = c.openWith(ctx, r, key, use)
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeUnauthenticated || key == "" {
		return err
	}
	fresh, keyErr := c.key(ctx, key)
	switch {
	case keyErr != nil:
		return keyErr
	case fresh == key:
		return err
	}
	return c.openWith(ctx, r, fresh, use)
}

func (c *Client) openWith(ctx context.Context, r Call, key string, use func(*http.Response) error) error {
	req, err := c.request(ctx, r)
	if err != nil {
		return err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.api.Do(req)
	if err != nil {
		return unreachable(c.BaseURL(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	return use(resp)
}

// request writes a request without its key.
func (c *Client) request(ctx context.Context, r Call) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		raw, written := r.Body.(json.RawMessage)
		if !written {
			var err error
			if raw, err = json.Marshal(r.Body); err != nil {
				return nil, &Error{Code: CodeInvalidRequest, Message: "the request can't be written as JSON", cause: err}
			}
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.BaseURL()+r.Path, body)
	if err != nil {
		return nil, &Error{Code: CodeInvalidRequest, Message: "the request's address is malformed", cause: err}
	}
	req.GetBody = nil // the transport doesn't repeat it untold
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if c.userAgent != "" {
		req.Header.Set("User-Agent", c.userAgent)
	}
	return req, nil
}

// read decodes an answer.
func (c *Client) read(resp *http.Response, out any) error {
	if resp.StatusCode == http.StatusNotModified || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return unreachable(c.BaseURL(), err)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return refusal(resp, raw)
	case len(raw) > maxAnswer:
		return &Error{Code: CodeInternal, Message: "the answer is too large"}
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return foreign(resp.StatusCode, resp.Header.Get(headerRequestID))
	}
	return nil
}
