package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
)

const (
	maxAnswer = 256 << 20 // bytes of a JSON answer; embeddings are the large ones
	maxPause  = time.Minute
)

// call is one request to make.
type call struct {
	method string
	path   string // below the base URL, escaped
	query  url.Values
	body   any // written as JSON, unless it is a json.RawMessage; nil: no body
	header http.Header
	limit  time.Duration // of the whole exchange
}

// answer is a decoded success and the values of its header.
type answer[T any] struct {
	value      T
	status     int
	etag       string
	date       time.Time // of the answer, by the server's clock; zero if missing
	retryAfter time.Duration
	replayed   bool
}

// send makes the call with the key, once more with a renewed one if the service refuses it, and decodes the answer.
// 304 is a success without a value.
func send[T any](ctx context.Context, c *Client, r call) (answer[T], error) {
	out, err := sendWith[T](ctx, c, r, c.key)
	if err != nil && c.renew != nil && fault.CodeOf(err) == fault.Unauthenticated {
		return sendWith[T](ctx, c, r, c.renew)
	}
	return out, err
}

func sendWith[T any](ctx context.Context, c *Client, r call, keyFunc KeyFunc) (answer[T], error) {
	r, err := c.keyed(ctx, r, keyFunc)
	if err != nil {
		return answer[T]{}, err
	}
	return exchange[T](ctx, c.api, c.BaseURL(), r)
}

// keyed returns the call with the key and who makes it.
func (c *Client) keyed(ctx context.Context, r call, keyFunc KeyFunc) (call, error) {
	key, err := keyFunc(ctx)
	if err != nil {
		return r, err
	}
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set("Authorization", "Bearer "+key.Reveal())
	if c.userAgent != "" {
		r.header.Set("User-Agent", c.userAgent)
	}
	return r, nil
}

// exchange makes one request below the base URL.
func exchange[T any](ctx context.Context, h *http.Client, base string, r call) (answer[T], error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	req, err := request(ctx, base, r)
	if err != nil {
		return answer[T]{}, err
	}
	resp, err := h.Do(req)
	if err != nil {
		return answer[T]{}, unreachable(base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	return read[T](resp, base)
}

// read decodes a whole answer.
func read[T any](resp *http.Response, base string) (answer[T], error) {
	var out answer[T]
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return out, unreachable(base, err)
	}
	out.status, out.etag = resp.StatusCode, resp.Header.Get("ETag")
	out.date, _ = http.ParseTime(resp.Header.Get("Date"))
	out.retryAfter = ParseRetryAfter(resp.Header.Get("Retry-After"), time.Now())
	out.replayed = resp.Header.Get(api.HeaderIdempotentReplay) == "true"
	switch {
	case resp.StatusCode == http.StatusNotModified, resp.StatusCode == http.StatusNoContent:
		return out, nil
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return out, refusal(resp, raw, out.retryAfter)
	case len(raw) > maxAnswer:
		return out, &Error{Fault: fault.New(fault.Internal, "the answer is too large"), Status: out.status}
	}
	if err := json.Unmarshal(raw, &out.value); err != nil {
		return out, foreign(resp.StatusCode, resp.Header.Get(api.HeaderRequestID))
	}
	return out, nil
}

func request(ctx context.Context, base string, r call) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		raw, written := r.body.(json.RawMessage)
		if !written {
			var err error
			if raw, err = json.Marshal(r.body); err != nil {
				return nil, fault.Wrap(fault.InvalidRequest, err, "the request can't be written as JSON")
			}
		}
		body = bytes.NewReader(raw)
	}
	target := base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, err, "the request's address is malformed")
	}
	req.GetBody = nil // the transport doesn't repeat it untold
	if r.header != nil {
		req.Header = r.header
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	return req, nil
}

// refusal returns the error of an answer: the service's own if the body is one.
func refusal(resp *http.Response, raw []byte, retryAfter time.Duration) *Error {
	var body api.ErrorResponse
	requestID := resp.Header.Get(api.HeaderRequestID)
	if json.Unmarshal(raw, &body) != nil || !body.Error.Code.Valid() {
		e := foreign(resp.StatusCode, requestID)
		e.Fault.RetryAfter = retryAfter
		return e
	}
	f := body.Fault()
	f.RetryAfter = max(f.RetryAfter, retryAfter)
	if body.RequestID != "" {
		requestID = body.RequestID
	}
	return &Error{Fault: f, Status: resp.StatusCode, RequestID: requestID}
}

// unreachable keeps the network's error without the URL, whose query may hold a signature.
func unreachable(where string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return &UnreachableError{Where: where, cause: err}
}

// ParseRetryAfter reads a Retry-After of whole seconds or an HTTP date; 0 if it is missing, malformed or past. It
// never exceeds a year.
func ParseRetryAfter(text string, now time.Time) time.Duration {
	const year = 365 * 24 * time.Hour
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(s)*time.Second, year)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), year)
}
