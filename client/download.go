package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	downloadTries = 5                // in a row without a new byte
	idleTimeout   = 30 * time.Second // without a byte: the connection is dead, though it wasn't closed
)

// Download writes the artifact to w and checks its size and SHA-256. A broken connection is resumed at its last byte.
// The URL is signed, so no key is sent, wherever it points; an hour after the task was read it may have expired, and Get
// makes a fresh one. Bytes written before an error must not be used.
func (c *Client) Download(ctx context.Context, a Artifact, w io.Writer) error {
	target, err := c.artifactURL(a)
	if err != nil {
		return err
	}
	d := &download{client: c, artifact: a, target: target, sum: sha256.New(), w: w}
	if err := d.run(ctx); err != nil {
		return err
	}
	if got := hex.EncodeToString(d.sum.Sum(nil)); !strings.EqualFold(got, a.SHA256) {
		return damaged("artifact " + a.ID + " arrived damaged: its SHA-256 isn't the announced one")
	}
	return nil
}

// damaged is an error that another try doesn't mend.
func damaged(message string) *Error { return &Error{Code: CodeInternal, Message: message} }

// artifactURL takes an absolute URL, or one relative to the base URL.
func (c *Client) artifactURL(a Artifact) (string, error) {
	u, err := c.base.Parse(a.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", damaged("artifact " + a.ID + " has no usable URL")
	}
	return u.String(), nil
}

type download struct {
	client   *Client
	artifact Artifact
	target   string
	etag     string
	written  int64
	sum      hash.Hash
	w        io.Writer
}

// run fetches until every byte is there or no more come.
func (d *download) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		before := d.written
		err := d.fetch(ctx)
		if err == nil {
			return nil
		}
		if d.written > before {
			failures = 1
		}
		pause, again := retryPause(err, failures)
		if !again || failures == downloadTries || ctx.Err() != nil {
			return err
		}
		d.client.onRetry(Retry{Err: err, Pause: pause})
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// errShort is an answer that ended before the announced size.
var errShort = errors.New("the connection ended early")

// fetch makes one request for the missing bytes.
func (d *download) fetch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(idleTimeout, cancel)
	defer idle.Stop()
	resp, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK { // the whole again, also if only the rest was requested
		if _, err := io.CopyN(io.Discard, resp.Body, d.written); err != nil {
			return d.broken(err)
		}
	}
	return d.copy(resp.Body, func() { idle.Reset(idleTimeout) })
}

func (d *download) open(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.target, nil)
	if err != nil {
		return nil, damaged("artifact " + d.artifact.ID + " has no usable URL")
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges and sizes count the file's own bytes
	if d.written > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.written))
		if d.etag != "" {
			req.Header.Set("If-Range", d.etag)
		}
	}
	resp, err := d.client.files.Do(req)
	if err != nil {
		return nil, d.broken(err)
	}
	resumed := resp.StatusCode == http.StatusPartialContent &&
		strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.written))
	if resp.StatusCode != http.StatusOK && !resumed {
		defer func() { _ = resp.Body.Close() }()
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		return nil, refusal(resp, raw)
	}
	if tag := resp.Header.Get("ETag"); !strings.HasPrefix(tag, "W/") {
		d.etag = tag
	}
	return resp, nil
}

// copy takes bytes up to the announced size; alive is called at each piece.
func (d *download) copy(body io.Reader, alive func()) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		alive()
		if d.written+int64(n) > d.artifact.Bytes {
			return damaged("artifact " + d.artifact.ID + " is longer than announced")
		}
		if n > 0 {
			if _, werr := d.w.Write(buf[:n]); werr != nil {
				return werr
			}
			d.sum.Write(buf[:n])
			d.written += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF) && d.written == d.artifact.Bytes:
			return nil
		case errors.Is(err, io.EOF):
			return d.broken(errShort)
		case err != nil:
			return d.broken(err)
		}
	}
}

func (d *download) broken(err error) error {
	where := "the artifact's host"
	if u, perr := url.Parse(d.target); perr == nil {
		where = u.Scheme + "://" + u.Host
	}
	return unreachable(where, err)
}
