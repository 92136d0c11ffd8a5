package client

import (
	"context"
	"encoding/base64"
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
	pathUploads  = "/api/ai/v1/uploads"
	uploadTries  = 8               // in a row without a byte that arrived
	uploadIdle   = time.Minute     // without a byte that goes out: a service with a slow disk pauses
	uploadFinish = 5 * time.Minute // from the last byte to the answer, before which the service reads all of them again
	// partSize is at whose multiples a part ends: the service takes no digest of one that goes on behind it.
	partSize = 8 << 20
	// firstPart is how much is sent alone at first: the service judges a file's type by its beginning, and a client that is
	// still sending may not get the answer.
	firstPart = 64 << 10
)

// ErrNoUploads is in the error of a service that takes no files ahead of tasks, such as an older one.
var ErrNoUploads = errors.New("unitask: this service takes no files ahead of tasks")

// UploadOption changes one upload.
type UploadOption func(*upload)

// WithProgress calls f with the number of bytes that were sent so far, from this goroutine or another, one at a time.
func WithProgress(f func(sent int64)) UploadOption { return func(u *upload) { u.progress = f } }

// Upload sends a file ahead of the requests that use it, which take it as a.Media(). r is read twice from its beginning:
// for its size and hashes, and to be sent. A broken connection is resumed at the last byte that arrived, and a part that
// arrives damaged is sent again alone; a file that was sent before isn't sent again, nor is the part that a process sent
// which ended. The artifact has no URL.
func (c *Client) Upload(ctx context.Context, r io.ReadSeeker, contentType string, options ...UploadOption) (Artifact, error) {
	u := &upload{client: c, from: r, progress: func(int64) {}}
	for _, o := range options {
		o(u)
	}
	sums := newSums()
	_, err := r.Seek(0, io.SeekStart)
	if err == nil {
		u.size, err = io.Copy(sums, &untilDone{ctx, r})
	}
	switch {
	case ctx.Err() != nil:
		return Artifact{}, ctx.Err()
	case err != nil:
		return Artifact{}, unreadable(err)
	}
	u.parts = sums.all()
	a := Artifact{ContentType: contentType, Bytes: u.size, SHA256: hex.EncodeToString(sums.whole.Sum(nil))}
	err = u.announce(ctx, a)
	if err == nil && !u.done() {
		err = u.run(ctx)
	}
	a.ID, a.ExpiresAt = u.answer.Upload.Artifact, u.answer.Upload.ExpiresAt
	return a, err
}

func unreadable(err error) error {
	return fmt.Errorf("unitask: the file to upload can't be read: %w", err)
}

// untilDone is a reader that ends with its context.
type untilDone struct {
	ctx  context.Context //nolint:containedctx // of the call that it belongs to
	from io.Reader
}

// Read implements io.Reader.
func (r *untilDone) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}

// upload is a file on its way.
type upload struct {
	client   *Client
	from     io.ReadSeeker
	size     int64
	parts    map[int64][]byte // the hashes of its parts, by where they begin
	flowing  bool             // the last part arrived
	cut      bool             // the last try was cut off, perhaps by a proxy that answered, or refused before its bytes
	target   string           // the signed URL
	where    string           // its host, for errors
	progress func(sent int64)
	answer   struct {
		Upload struct {
			Artifact  string    `json:"artifact"`
			State     string    `json:"state"`
			Received  int64     `json:"received"`
			URL       string    `json:"url"`
			ExpiresAt time.Time `json:"expires_at"`
		} `json:"upload"`
	}
}

func (u *upload) done() bool { return u.answer.Upload.State == "complete" }

// announce tells the service of the file, which may have it already.
func (u *upload) announce(ctx context.Context, a Artifact) error {
	body := map[string]any{"content_type": a.ContentType, "bytes": a.Bytes, "sha256": a.SHA256}
	err := u.client.again(ctx, 0, func() error {
		return u.learn(u.client.Do(ctx, Call{Method: http.MethodPost, Path: pathUploads, Body: body, Limit: callTimeout + uploadFinish}, &u.answer))
	})
	if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeNotFound {
		return errors.Join(ErrNoUploads, err)
	}
	return err
}

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
	u.target, u.where = to.String(), to.Scheme+"://"+to.Host
	return nil
}

// run sends until every byte is there or no more arrive.
func (u *upload) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		before := u.answer.Upload.Received
		u.progress(before)
		err := u.send(ctx)
		switch {
		case err == nil && u.done():
			return nil
		case err == nil && u.answer.Upload.Received > before:
			failures, u.flowing, u.cut = 0, true, false
			continue
		case err == nil:
			err = unreachable(u.where, errShort)
		}
		u.flowing, u.cut = false, refusedField(err) != "Content-Digest"
		pause, again := retryPause(err, failures)
		switch refusedField(err) {
		case "Content-Range":
			pause, again = firstPause, true // another process sends the same file, or more arrived than is known
		case "Content-Digest":
			if err := u.unchanged(before); err != nil {
				return unreadable(err)
			}
			pause, again = firstPause, true // damaged on its way
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
		if u.done() { // the answer to the last byte was lost
			return nil
		}
		if u.answer.Upload.Received > before {
			failures = 0
		}
	}
}

// refusedField is what the service found wrong with bytes that it didn't take, "" for any other error.
func refusedField(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusConflict || len(e.Details) == 0 {
		return ""
	}
	return e.Details[0].Field
}

// ask learns how much has arrived.
func (u *upload) ask(ctx context.Context) error {
	return u.client.again(ctx, 0, func() error {
		path := pathUploads + "/" + url.PathEscape(u.answer.Upload.Artifact)
		return u.learn(u.client.Do(ctx, Call{Path: path, Limit: callTimeout + uploadFinish}, &u.answer))
	})
}

// send makes one request with the next part. The address is signed, so no key is sent.
func (u *upload) send(ctx context.Context) error {
	at := u.answer.Upload.Received
	if _, err := u.from.Seek(at, io.SeekStart); err != nil {
		return unreadable(err)
	}
	length := min(partEnd(at), u.size) - at
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(uploadIdle, cancel)
	defer idle.Stop()
	source := &source{from: io.LimitReader(u.from, length), at: at, end: at + length, idle: idle, progress: u.progress}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, u.target, io.NopCloser(source))
	if err != nil {
		return damaged("the upload " + u.answer.Upload.Artifact + " has no usable address")
	}
	req.ContentLength = length
	req.Header.Set("Content-Type", "application/octet-stream")
	if !u.flowing {
		req.Header.Set("Expect", "100-continue") // a refusal comes before the bytes
	}
	// Of a part without its hash the service keeps what arrives before a cut: a line that is cut often gets on all the same.
	if sum := u.parts[at]; sum != nil && !u.cut {
		req.Header.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum)+":")
	}
	req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, at+length-1, u.size))
	if u.client.userAgent != "" {
		req.Header.Set("User-Agent", u.client.userAgent)
	}
	resp, err := u.client.api.Do(req)
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if broken := source.stop(); broken != nil {
		return unreadable(broken)
	}
	if err != nil {
		return unreachable(u.where, err)
	}
	return u.learn(Answer{Status: resp.StatusCode, Header: resp.Header}, u.client.read(resp, &u.answer))
}

// source is the missing part of the file as the transport reads it, which may go on for a while after its answer.
type source struct {
	mu       sync.Mutex
	from     io.Reader // nil once it is stopped
	at, end  int64     // in the file
	idle     *time.Timer
	progress func(sent int64)
	err      error // of the file
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
	s.at += int64(n)
	s.progress(s.at)
	if s.at < s.end {
		s.idle.Reset(uploadIdle)
	} else {
		s.idle.Reset(uploadFinish)
	}
	switch {
	case errors.Is(err, io.EOF) && s.at < s.end:
		s.err = io.ErrUnexpectedEOF
		return n, s.err
	case err != nil && !errors.Is(err, io.EOF):
		s.err = err
	}
	return n, err
}
