package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/secret"
)

func TestHealth(t *testing.T) {
	const wide = 5 * time.Second // a slow machine answers late
	tests := []struct {
		name   string
		status int
		body   string
		off    time.Duration // of the service's clock
		skew   time.Duration
		code   fault.Code
	}{
		{"ready", 200, `{"status":"ok"}`, 0, 0, ""},
		{"behind us", 200, `{"status":"ok"}`, -time.Hour, time.Hour, ""},
		{"ahead of us", 200, `{"status":"ok"}`, time.Hour, -time.Hour, ""},
		{"stopping", 503, `{"error":{"code":"CAPACITY_EXHAUSTED","message":"no"},"request_id":"req_1"}`, 0, 0, fault.CapacityExhausted},
		{"another server", 200, `{"hello":"world"}`, 0, 0, fault.InvalidRequest},
		{"a page", 200, `<html>`, 0, 0, fault.InvalidRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != api.PathReady || r.Header.Get("Authorization") != "" {
					t.Errorf("asked %s with the key %q", r.URL.Path, r.Header.Get("Authorization"))
				}
				w.Header().Set("Date", time.Now().Add(tt.off).UTC().Format(http.TimeFormat))
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer s.Close()
			c, err := client.New(client.Config{BaseURL: s.URL, Key: func(context.Context) (secret.Value, error) { return secret.New("a-key"), nil }})
			if err != nil {
				t.Fatal(err)
			}
			h, err := c.Health(t.Context())
			if fault.CodeOf(err) != tt.code {
				t.Errorf("error %v, want %q", err, tt.code)
			}
			if d := (h.Skew - tt.skew).Abs(); d > wide {
				t.Errorf("skew %v, want %v", h.Skew, tt.skew)
			}
		})
	}
}
