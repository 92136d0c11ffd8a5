package client_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"unitask/client"
)

// half sends half of a request's body and breaks the connection.
func half(r *http.Request, do send) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Body = &short{ReadCloser: r.Body, left: r.ContentLength / 2}
	return do(r)
}

// TestUploadToTheService sends a picture over connections that are cut, and has a task enlarge it.
func TestUploadToTheService(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	picture.Write(make([]byte, 200_000)) // more than one write of the connection
	f := &first{method: http.MethodPut, faults: []trouble{half, half, lost}}
	c := s.client(t, f.do)
	sent, err := c.Upload(t.Context(), bytes.NewReader(picture.Bytes()), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	larger, err := c.ImageUpscale(t.Context(), client.ImageUpscaleInput{Image: sent.Media(), Authorization: &client.Authorization{Person: "none"}})
	if err != nil || *larger.Output.Images[0].Width != 600 {
		t.Errorf("%+v, %v", larger, err)
	}
	if len(f.ranges) < 3 || !strings.HasPrefix(f.ranges[0], "bytes 0-") || strings.HasPrefix(f.ranges[len(f.ranges)-1], "bytes 0-") {
		t.Errorf("sent %q, want a beginning and the rest of it", f.ranges)
	}
}
