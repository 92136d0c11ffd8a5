package upstream_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestReach: whatever the base URL answers to a request without the key, it is reached, by either way of sending; and
// through the proxy, if there is one.
func TestReach(t *testing.T) {
	for _, standard := range []bool{false, true} {
		for _, status := range []int{200, 302, 401, 500} {
			var got string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Method + " " + r.URL.String() + r.Header.Get("Authorization")
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
			}))
			c := newClient(t, upstream.Config{BaseURL: s.URL + "/v1", Standard: standard, APIKey: func() (string, error) { return "the-key", nil }})
			if err := c.Reach(t.Context()); err != nil || got != "GET /v1/" {
				t.Errorf("standard %v, status %d: asked %q, %v", standard, status, got, err)
			}
			s.Close()
		}
	}
	var dialled string
	c := newClient(t, upstream.Config{
		BaseURL: "http://supplier.example", Proxy: "http://proxy.example:3128",
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = address
			return nil, errors.New("dialled")
		},
	})
	if err := c.Reach(t.Context()); dialled != "proxy.example:3128" || supplier.AsError(err).Sent != supplier.NotSent {
		t.Errorf("with a proxy it dialled %s: %v", dialled, err)
	}
}
