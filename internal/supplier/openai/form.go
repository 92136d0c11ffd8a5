package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errMedia = errors.New("a media value can't be read")

// form gathers the parts of a multipart body. A media value that can't be read is its only failure.
type form struct {
	body   bytes.Buffer
	writer *multipart.Writer
	err    error
}

func newForm() *form {
	f := &form{}
	f.writer = multipart.NewWriter(&f.body)
	return f
}

// field adds a part of text; an empty value is left out.
func (f *form) field(name, value string) {
	if value != "" {
		_ = f.writer.WriteField(name, value) // a buffer takes everything
	}
}

// file adds a part with a media value. Servers tell its type by the name's ending.
func (f *form) file(name string, m supplier.Media) {
	part, err := f.writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + name + `"; filename="` + fileName(m.ContentType) + `"`},
		"Content-Type":        {m.ContentType},
	})
	if err != nil {
		f.err = errMedia
		return
	}
	body, err := m.Open()
	if err != nil {
		f.err = errMedia
		return
	}
	defer func() { _ = body.Close() }()
	f.body.Grow(int(m.Bytes) + bytes.MinRead)
	if _, err := io.Copy(part, body); err != nil {
		f.err = errMedia
	}
}

func fileName(contentType string) string {
	if ending, ok := endings[contentType]; ok {
		return "media." + ending
	}
	return "media"
}

// endings are those of the types that the gateway tells by their bytes.
var endings = map[string]string{
	"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif",
	"audio/wav": "wav", "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/flac": "flac",
	"audio/aac": "aac", "audio/mp4": "m4a", "video/mp4": "mp4", "video/webm": "webm",
}

// sendForm sends the form and returns the answer of a success; that may still hide an error. limit bounds
// the answer in bytes; 0: wire.DefaultLimit.
func (a *adapter) sendForm(ctx context.Context, path string, f *form, limit int64) (upstream.Answer, error) {
	_ = f.writer.Close()
	if f.err != nil {
		return upstream.Answer{}, upstream.Unfit(f.err)
	}
	return a.format.Send(ctx, upstream.Call{
		Path: path, Body: f.body.Bytes(), Limit: limit,
		Header: http.Header{"Content-Type": {f.writer.FormDataContentType()}},
	})
}
