package upstream_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"unitask/internal/supplier/upstream"
)

// TestPieces sends a body in pieces, short and long, by both transports and twice on one connection.
func TestPieces(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength {
			t.Errorf("%d of %d bytes: %v", len(body), r.ContentLength, err)
		}
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	for _, standard := range []bool{false, true} {
		c := newClient(t, upstream.Config{BaseURL: srv.URL, Standard: standard})
		for _, n := range []int{0, 10, 40_000, 1_000_000} {
			middle := bytes.Repeat([]byte("m"), n)
			call := upstream.Call{Path: "/", Body: []byte("head"), More: [][]byte{middle, []byte("tail")}}
			for range 2 {
				a, err := c.Do(t.Context(), call)
				if want := "head" + string(middle) + "tail"; err != nil || string(a.Body) != want {
					t.Errorf("standard %v: %d of %d bytes came back: %v", standard, len(a.Body), len(want), err)
				}
			}
		}
	}
}
