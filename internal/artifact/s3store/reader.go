package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// A reader asks for a window of bytes at a time, so that a seek wastes little and a slow reader holds no connection
// for long. Windows grow while they are read one after the other.
const (
	firstWindow = 1 << 20
	mostWindow  = 16 << 20
	// silences is how many answers in a row may end before their first byte.
	silences = 3
)

// reader reads an object from any offset. A window that breaks off is asked for again from there on; the ETag keeps
// the bytes to one object. One goroutine uses it.
type reader struct {
	store     *Store
	ctx       context.Context //nolint:containedctx // of the Open that it belongs to, as with an http.Request
	key, etag string
	size, at  int64
	window    int64 // the length of the last one, 0 after a seek

	body io.ReadCloser // nil between two windows
	left int64         // bytes of the window
	stop context.CancelFunc
}

// Seek implements io.Seeker, without a request.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("s3store: a seek before the beginning")
	}
	if offset != r.at {
		r.drop()
		r.at, r.window = offset, 0
	}
	return offset, nil
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	for silent := 1; ; silent++ {
		if r.body == nil {
			if err := r.ask(); err != nil {
				return 0, r.store.readFault(r.ctx, "GetObject", err)
			}
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.left)])
		r.at, r.left = r.at+int64(n), r.left-int64(n)
		if err != nil || r.left == 0 {
			r.drop()
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		if err != nil && (silent == silences || r.ctx.Err() != nil) {
			return 0, r.store.readFault(r.ctx, "GetObject", fmt.Errorf("the answer broke off: %w", noEOF(err)))
		}
	}
}

// noEOF keeps the end of an answer that is too short from being taken for the object's.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ask requests the next window.
func (r *reader) ask() error {
	ctx, stop := context.WithCancel(r.ctx)
	r.window = min(max(2*r.window, firstWindow), mostWindow)
	length := min(r.window, r.size-r.at)
	late := time.AfterFunc(r.store.stall, stop) // until the answer begins; then its connection mustn't stall
	got, err := r.store.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &r.store.bucket.Name, Key: &r.key, IfMatch: &r.etag,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", r.at, r.at+length-1)),
	})
	if !late.Stop() && err == nil {
		err = errors.Join(context.DeadlineExceeded, got.Body.Close())
	}
	if err == nil && !r.fits(got, length) {
		err = errors.Join(errors.New("the store doesn't answer with the range that was asked for"), got.Body.Close())
	}
	if err != nil {
		stop()
		return err
	}
	r.body, r.left, r.stop = got.Body, length, stop
	return nil
}

// fits reports whether an answer is the range that was asked for: a store that ignores it sends the beginning.
func (r *reader) fits(got *s3.GetObjectOutput, length int64) bool {
	return strings.HasPrefix(aws.ToString(got.ContentRange), fmt.Sprintf("bytes %d-%d/", r.at, r.at+length-1))
}

// drop ends the window.
func (r *reader) drop() {
	if r.body != nil {
		_ = r.body.Close()
		r.stop()
		r.body = nil
	}
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.drop()
	return nil
}
