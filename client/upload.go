package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	pathUploads = "/api/ai/v1/uploads"
	uploadTries = 5 // in a row without a byte that arrived
	// hashing is how long the service may be silent once it has every byte: it reads a large file once more.
	hashing = 10 * time.Minute
)

// Upload sends a file ahead of the requests that use it, and returns it as their value. r is read twice from its
// beginning: for its size and hash, and to be sent. A broken connection is resumed at the last byte that arrived. The
// service keeps the file as long as a result; the same upload may be used any number of times.
func (c *Client) Upload(ctx context.Context, r io.ReadSeeker, contentType string) (Media, error) {
	u := &upload{client: c, from: r}
	sum := sha256.New()
	_, err := r.Seek(0, io.SeekStart)
	if err == nil {
		u.size, err = io.Copy(sum, r)
	}
	if err != nil {
		return Media{}, fmt.Errorf("unitask: the file to upload can't be read: %w", err)
	}
	announced := map[string]any{"content_type": contentType, "bytes": u.size, "sha256": hex.EncodeToString(sum.Sum(nil))}
	err = c.again(ctx, 0, func() error {
		return u.learn(c.Do(ctx, Call{Method: http.MethodPost, Path: pathUploads, Body: announced}, &u.answer))
	})
	if err == nil && !u.done() {
		err = u.run(ctx)
	}
	if err != nil {
		return Media{}, err
	}
	return Media{Artifact: u.answer.Upload.Artifact}, nil
}

// upload is a file on its way.
type upload struct {
	client *Client
	from   io.ReadSeeker
	size   int64
	target string
	answer struct {
		Upload struct {
			Artifact string `json:"artifact"`
			State    string `json:"state"`
			Received int64  `json:"received"`
			URL      string `json:"url"`
		} `json:"upload"`
	}
}

func (u *upload) done() bool { return u.answer.Upload.State == "complete" }

// learn keeps the address that an answer names.
func (u *upload) learn(a Answer, err error) error {
	if err != nil || u.done() {
		return err
	}
	now := u.answer.Upload
	to, err := u.client.base.Parse(now.URL)
	if err != nil || to.Host == "" || now.Artifact == "" || now.Received < 0 || now.Received > u.size {
		return foreign(a.Status, a.Header.Get(headerRequestID))
	}
	u.target = to.String()
	return nil
}

// run sends until every byte is there or no more arrive.
func (u *upload) run(ctx context.Context) error {
	for failures := 1; ; {
		before := u.answer.Upload.Received
		err := u.send(ctx)
		switch {
		case err == nil && u.done():
			return nil
		case err == nil && u.answer.Upload.Received > before:
			failures = 1
			continue
		case err == nil:
			err = damaged("the service takes no byte of the upload " + u.answer.Upload.Artifact)
		}
		pause, again := retryPause(err, failures)
		if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusConflict && !mismatched(e) {
			again = true // it begins elsewhere
		}
		if !again || failures == uploadTries || ctx.Err() != nil {
			return err
		}
		u.client.onRetry(Retry{Err: err, Pause: pause})
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
		if err := u.ask(ctx); err != nil {
			return err
		}
		if failures++; u.answer.Upload.Received > before {
			failures = 1
		}
		if u.done() { // the answer to the last byte was lost
			return nil
		}
	}
}

// mismatched reports whether a conflict is about the file's hash: it was changed while it was read.
func mismatched(e *Error) bool {
	for _, d := range e.Details {
		if d.Field == "sha256" {
			return true
		}
	}
	return false
}

// ask learns how much has arrived.
func (u *upload) ask(ctx context.Context) error {
	return u.client.again(ctx, 0, func() error {
		path := pathUploads + "/" + url.PathEscape(u.answer.Upload.Artifact)
		return u.learn(u.client.Do(ctx, Call{Path: path}, &u.answer))
	})
}

// send makes one request with the missing bytes. The address is signed, so no key is sent.
func (u *upload) send(ctx context.Context) error {
	at := u.answer.Upload.Received
	if _, err := u.from.Seek(at, io.SeekStart); err != nil {
		return fmt.Errorf("unitask: the file to upload can't be read: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(idleTimeout, cancel)
	defer idle.Stop()
	source := &source{from: io.LimitReader(u.from, u.size-at), left: u.size - at, idle: idle}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, u.target, io.NopCloser(source))
	if err != nil {
		return damaged("the upload " + u.answer.Upload.Artifact + " has no usable address")
	}
	req.ContentLength = u.size - at
	if at > 0 {
		req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, u.size-1, u.size))
	}
	resp, err := u.client.api.Do(req)
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if broken := source.stop(); broken != nil {
		return fmt.Errorf("unitask: the file to upload can't be read: %w", broken)
	}
	if err != nil {
		return unreachable(u.client.BaseURL(), err)
	}
	a := Answer{Status: resp.StatusCode, Header: resp.Header}
	return u.learn(a, u.client.read(resp, &u.answer))
}

// source is the missing part of the file as the transport reads it, which may go on for a while after its answer.
type source struct {
	mu   sync.Mutex
	from io.Reader // nil once it is stopped
	left int64
	idle *time.Timer
	err  error // of the file
}

// stop ends all use of the file and returns its error.
func (s *source) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = nil
	return s.err
}

// Read implements io.Reader.
func (s *source) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from == nil {
		return 0, io.ErrClosedPipe
	}
	n, err := s.from.Read(b)
	if s.left -= int64(n); s.left > 0 {
		s.idle.Reset(idleTimeout)
	} else {
		s.idle.Reset(hashing)
	}
	switch {
	case errors.Is(err, io.EOF) && s.left > 0:
		s.err = io.ErrUnexpectedEOF
		return n, s.err
	case err != nil && !errors.Is(err, io.EOF):
		s.err = err
	}
	return n, err
}
