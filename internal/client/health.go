package client

import (
	"context"
	"net/http"
	"time"

	"unitask/internal/api"
)

// Health is a service's public state.
type Health struct {
	Took time.Duration // of the question and its answer
	Skew time.Duration // of this machine's clock, ahead if above zero; as exact as Took and a second
}

// Health asks whether the service takes work. It sends no key.
func (c *Client) Health(ctx context.Context) (Health, error) {
	type status struct {
		Status string `json:"status"`
	}
	began := time.Now()
	a, err := exchange[status](ctx, c.api, c.BaseURL(), call{method: http.MethodGet, path: api.PathReady, limit: callTimeout})
	h := Health{Took: time.Since(began)}
	if err == nil && a.value.Status == "" {
		err = foreign(a.status, "")
	}
	if !a.date.IsZero() {
		h.Skew = skew(began.Add(h.Took/2), a.date)
	}
	return h, err
}

// skew is how far here is ahead of a time that was cut to its second.
func skew(here, there time.Time) time.Duration {
	d := here.Sub(there)
	if d >= 0 {
		return max(d-time.Second, 0)
	}
	return d
}
