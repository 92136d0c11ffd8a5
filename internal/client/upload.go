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
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
)

const (
	uploadTries  = 8               // in a row without a byte that arrived
	uploadIdle   = time.Minute     // without a byte that goes out: a service with a slow disk pauses
	uploadFinish = 5 * time.Minute // from the last byte to the answer, before which the service looks at all of them
)

// ErrNoUploads is the answer of a service that takes no files ahead of tasks, such as an older one.
var ErrNoUploads = errors.New("this service takes no files ahead of tasks")

// File is a file to send ahead of the tasks that use it. Its bytes must stay as they are meanwhile.
type File struct {
	io.ReaderAt

	Bytes       int64
	ContentType string
}

// Upload sends the file and returns its artifact, complete. A lost connection is resumed at the last byte that arrived; a
// file that was sent before, or in part by a process that ended, isn't sent again. onProgress, if not nil, is told how
// many bytes are there. ErrNoUploads if the service takes none.
func (c *Client) Upload(ctx context.Context, f File, onProgress func(sent int64)) (api.Upload, error) {
	if onProgress == nil {
		onProgress = func(int64) {}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, &readerOf{ctx, io.NewSectionReader(f, 0, f.Bytes), func(int) {}}); err != nil {
		return api.Upload{}, err
	}
	u, err := c.announce(ctx, api.UploadCreate{ContentType: f.ContentType, Bytes: f.Bytes, SHA256: hex.EncodeToString(sum.Sum(nil))})
	if err != nil || u.State == api.UploadComplete {
		return u, err
	}
	at, err := url.Parse(u.URL)
	if err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") {
		return u, fault.Newf(fault.Internal, "upload %s has no usable URL", u.Artifact)
	}
	s := &sending{client: c, file: f, now: u, target: u.URL, where: at.Scheme + "://" + at.Host, onProgress: onProgress}
	err = s.run(ctx)
	return s.now, err
}

// announce tells the service of the file, which may have it already.
func (c *Client) announce(ctx context.Context, file api.UploadCreate) (api.Upload, error) {
	var t tries
	for {
		a, err := send[api.UploadResponse](ctx, c, call{method: http.MethodPost, path: api.PathUploads, body: file, limit: callTimeout + uploadFinish})
		if fault.CodeOf(err) == fault.NotFound {
			return api.Upload{}, errors.Join(ErrNoUploads, err)
		}
		if err == nil || ctx.Err() != nil {
			return a.value.Upload, err
		}
		pause, again := t.next(err)
		if !again || !c.pause(ctx, CreateOptions{OnRetry: func(Retry) {}}, t.retry(err, pause)) {
			return api.Upload{}, err
		}
	}
}

// sending is an upload under way.
type sending struct {
	client        *Client
	file          File
	now           api.Upload
	target, where string // the signed URL, and its host for errors
	onProgress    func(sent int64)
}

// run sends until every byte is there or no more come.
func (s *sending) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		before := s.now.Received
		s.onProgress(before)
		err := s.send(ctx)
		switch {
		case err == nil && s.now.State == api.UploadComplete:
			return nil
		case err == nil && s.now.Received > before:
			failures = 0
			continue
		case err == nil:
			err = s.unreachable(errShort)
		}
		pause, again := retryPause(err, failures)
		if f := fault.From(err); isConflict(err) && len(f.Details) > 0 && f.Details[0].Field == "Content-Range" {
			pause, again = firstPause, true // another process sends the same file, or a request of ours had more effect than is known
		}
		if !again || failures == uploadTries || ctx.Err() != nil {
			return err
		}
		s.client.onRetry(Retry{Err: err, Pause: pause})
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
		if now, wrong := s.ask(ctx); wrong == nil {
			s.now = now
		} else if !fault.From(wrong).Retryable() && !lost(wrong) {
			return wrong
		}
		if s.now.State == api.UploadComplete {
			return nil
		}
		if s.now.Received > before {
			failures = 0
		}
	}
}

func lost(err error) bool {
	_, is := errors.AsType[*UnreachableError](err)
	return is
}

func isConflict(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusConflict
}

func (s *sending) unreachable(err error) error { return unreachable(s.where, err) }

// firstPart is how much is sent alone at first: the service judges a file's type by its beginning, and a client that is
// still sending may not get the answer.
const firstPart = 64 << 10

// send makes one request with all that is missing, or with the first part.
func (s *sending) send(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(uploadIdle, cancel)
	defer idle.Stop()
	at := s.now.Received
	left := s.file.Bytes - at
	if at == 0 {
		left = min(left, firstPart)
	}
	end := at + left
	body := &readerOf{ctx, io.NewSectionReader(s.file, at, left), func(n int) {
		at += int64(n)
		s.onProgress(at)
		if at < end {
			idle.Reset(uploadIdle)
		} else {
			idle.Reset(uploadFinish)
		}
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.target, body)
	if err != nil {
		return fault.Newf(fault.Internal, "upload %s has no usable URL", s.now.Artifact)
	}
	req.ContentLength = left
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Expect", "100-continue") // a refusal comes before the bytes
	req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, end-1, s.file.Bytes))
	now, err := s.do(req)
	if err == nil {
		s.now = now
	}
	return err
}

// ask reads how far the upload is.
func (s *sending) ask(ctx context.Context) (api.Upload, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+uploadFinish)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.target, nil)
	if err != nil {
		return api.Upload{}, fault.Newf(fault.Internal, "upload %s has no usable URL", s.now.Artifact)
	}
	return s.do(req)
}

func (s *sending) do(req *http.Request) (api.Upload, error) {
	if s.client.userAgent != "" {
		req.Header.Set("User-Agent", s.client.userAgent)
	}
	resp, err := s.client.files.Do(req)
	if err != nil {
		return api.Upload{}, s.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	a, err := read[api.UploadResponse](resp, s.where)
	return a.value.Upload, err
}

// readerOf is a reader that ends with its context and tells of each read.
type readerOf struct {
	ctx  context.Context //nolint:containedctx // of the call that it belongs to
	from io.Reader
	read func(n int)
}

// Read implements io.Reader.
func (r *readerOf) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	r.read(n)
	return n, err
}
