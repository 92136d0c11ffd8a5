package server

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"

	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// callingByForm returns the handler of calls whose body is a form; one in JSON is read by inJSON unless that is nil.
func (o *openAI) callingByForm(read openai.FormReader, inJSON openai.Reader) handler {
	byJSON := o.calling(inJSON)
	return func(x *exchange) error {
		if inJSON != nil && checkMediaType(x.r.Header) == nil {
			return byJSON(x)
		}
		boundary, err := checkForm(x.r.Header)
		if err != nil {
			return err
		}
		sub, err := o.received(x, optionalKey)
		if err != nil {
			return err
		}
		call, err := read(sub.Body, boundary)
		return o.take(x, sub, boundary, call, err)
	}
}

// answerMedia answers with a task that succeeded, whose files are read from the store as they are sent. An answer that
// can't be sent whole breaks off, so that no client takes it for the whole.
func (o *openAI) answerMedia(x *exchange, call *openai.Call, t *task.Task) error {
	answer, err := call.Answer(t, o.link)
	if err != nil {
		return err
	}
	files, err := o.openAll(x.r.Context(), answer.Pieces)
	defer func() {
		for _, file := range files {
			_ = file.Close()
		}
	}()
	if err != nil {
		return fault.From(err).WithTask(t.ID)
	}
	var size int64
	for _, p := range answer.Pieces {
		size += p.Size()
	}
	h := x.Header()
	h.Set("Content-Type", answer.ContentType)
	h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	x.WriteHeader(http.StatusOK)
	for _, p := range answer.Pieces {
		if p.File == nil {
			_, err = x.Write(p.Text)
		} else {
			err = sendFile(x, p, files[0])
			_ = files[0].Close()
			files = files[1:]
		}
		if err != nil {
			if x.r.Context().Err() == nil {
				o.brokeOff(x, err)
			}
			panic(http.ErrAbortHandler)
		}
	}
	return nil
}

// errGone is an answer whose files were deleted before their task.
var errGone = fault.New(fault.NotFound, "the task's result is no longer kept")

// openAll opens the files of the pieces, in their order. The caller closes them, with an error too.
func (o *openAI) openAll(ctx context.Context, pieces []openai.Piece) (files []io.ReadSeekCloser, err error) {
	for _, p := range pieces {
		if p.File == nil {
			continue
		}
		meta, file, err := o.artifacts.Open(ctx, p.File.ID)
		if err == nil {
			files = append(files, file)
		}
		if fault.CodeOf(err) == fault.NotFound || err == nil && meta.Expired(o.now()) {
			err = errGone
		}
		if err != nil {
			return files, err
		}
	}
	return files, nil
}

var errShort = errors.New("a kept file is shorter than its task says")

// sendFile writes a file's bytes.
func sendFile(x *exchange, p openai.Piece, file io.Reader) error {
	to, end := io.Writer(x), func() error { return nil }
	if p.Base64 {
		encoder := base64.NewEncoder(base64.StdEncoding, x)
		to, end = encoder, encoder.Close
	}
	piece := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(piece)
	n, err := io.CopyBuffer(to, io.LimitReader(file, p.File.Bytes), piece[:])
	if err == nil && n < p.File.Bytes {
		err = errShort
	}
	return errors.Join(err, end())
}
