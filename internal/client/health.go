package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	library "unitask/client"
	"unitask/internal/api"
)

// Health is a service's public state.
type Health struct {
	Took time.Duration // of the question and its answer
	Skew time.Duration // of this machine's clock, ahead if above zero; as exact as Took and a second
}

// Health asks whether the service takes work. It sends no key.
func (c *Client) Health(ctx context.Context) (Health, error) {
	keyless := c.library.With(library.WithKeyFunc(func(context.Context, string) (string, error) { return "", nil }))
	began := time.Now()
	_, answer, err := do[readiness](ctx, keyless, library.Call{Path: api.PathReady})
	h := Health{Took: time.Since(began)}
	if date, bad := http.ParseTime(answer.Header.Get("Date")); bad == nil {
		h.Skew = skew(began.Add(h.Took/2), date)
	}
	return h, err
}

// readiness is an answer about health. Without a status it comes from another server.
type readiness struct{}

// UnmarshalJSON refuses JSON without a status.
func (*readiness) UnmarshalJSON(b []byte) error {
	var said struct {
		Status string `json:"status"`
	}
	if err := json.Unmarshal(b, &said); err != nil {
		return err
	}
	if said.Status == "" {
		return errNoStatus
	}
	return nil
}

var errNoStatus = errors.New("no status")

// skew is how far here is ahead of a time that was cut to its second.
func skew(here, there time.Time) time.Duration {
	d := here.Sub(there)
	if d >= 0 {
		return max(d-time.Second, 0)
	}
	return d
}
