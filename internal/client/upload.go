package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	library "unitask/client"
	"unitask/internal/api"
)

// ErrNoUploads is the answer of a service that takes no files ahead of tasks, such as an older one.
var ErrNoUploads = errors.New("this service takes no files ahead of tasks")

// Uploads returns a page of the account's uploads from a cursor on, "" for the first one: the one that expires first at the
// beginning.
func (c *Client) Uploads(ctx context.Context, cursor string, limit int) (api.UploadList, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	page, _, err := do[api.UploadList](ctx, c.library, library.Call{Path: api.PathUploads + "?" + q.Encode()})
	return page, err
}

// DeleteUpload removes an upload with its artifact.
func (c *Client) DeleteUpload(ctx context.Context, id string) error {
	_, _, err := do[api.Done](ctx, c.library, library.Call{Method: http.MethodDelete, Path: api.PathUploads + "/" + url.PathEscape(id)})
	return err
}

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
	a, err := c.library.Upload(ctx, io.NewSectionReader(f, 0, f.Bytes), f.ContentType, library.WithProgress(onProgress))
	switch {
	case errors.Is(err, library.ErrNoUploads):
		return api.Upload{}, errors.Join(ErrNoUploads, translated(err))
	case err != nil:
		return api.Upload{}, translated(err)
	}
	return api.Upload{
		Artifact: a.ID, State: api.UploadComplete, ContentType: a.ContentType, Bytes: a.Bytes, SHA256: a.SHA256, Received: a.Bytes,
		ExpiresAt: api.Timestamp{Time: a.ExpiresAt},
	}, nil
}
