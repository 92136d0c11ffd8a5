package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	library "unitask/client"
	"unitask/internal/api"
	"unitask/internal/sse"
)

// CreateWebhook makes an endpoint. The answer has its secret.
func (c *Client) CreateWebhook(ctx context.Context, req api.WebhookCreate) (api.Webhook, error) {
	return webhookCall[api.Webhook](ctx, c, http.MethodPost, "", req)
}

// Webhooks returns the account's endpoints, oldest first.
func (c *Client) Webhooks(ctx context.Context) ([]api.Webhook, error) {
	list, err := webhookCall[api.WebhookList](ctx, c, http.MethodGet, "", nil)
	return list.Data, err
}

// Webhook returns an endpoint.
func (c *Client) Webhook(ctx context.Context, id string) (api.Webhook, error) {
	return webhookCall[api.Webhook](ctx, c, http.MethodGet, webhookPath(id), nil)
}

// UpdateWebhook changes an endpoint.
func (c *Client) UpdateWebhook(ctx context.Context, id string, u api.WebhookUpdate) (api.Webhook, error) {
	return webhookCall[api.Webhook](ctx, c, http.MethodPatch, webhookPath(id), u)
}

// DeleteWebhook removes an endpoint with its deliveries.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := webhookCall[struct{}](ctx, c, http.MethodDelete, webhookPath(id), nil)
	return err
}

// RotateWebhook gives an endpoint a new secret, which the answer has.
func (c *Client) RotateWebhook(ctx context.Context, id string, req api.WebhookRotate) (api.Webhook, error) {
	return webhookCall[api.Webhook](ctx, c, http.MethodPost, webhookPath(id)+"/rotate", req)
}

// TestWebhook sends a test event to an endpoint and returns its answer.
func (c *Client) TestWebhook(ctx context.Context, id string) (api.WebhookTest, error) {
	return webhookCall[api.WebhookTest](ctx, c, http.MethodPost, webhookPath(id)+"/test", nil)
}

// DeliveryOptions select deliveries; zero members select all.
type DeliveryOptions struct {
	State  string
	Limit  int    // of one page, at most api.MaxListLimit
	Cursor string // of an earlier page
}

// Deliveries returns a page of an endpoint's deliveries, newest first.
func (c *Client) Deliveries(ctx context.Context, id string, o DeliveryOptions) (api.DeliveryList, error) {
	q := url.Values{}
	for name, value := range map[string]string{"state": o.State, "cursor": o.Cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.Limit > 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	path := api.PathWebhooks + webhookPath(id) + "/deliveries"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	list, _, err := do[api.DeliveryList](ctx, c.library, library.Call{Path: path})
	return list, err
}

// ReplayDelivery sends an event to an endpoint again.
func (c *Client) ReplayDelivery(ctx context.Context, id, event string) error {
	_, err := webhookCall[struct{}](ctx, c, http.MethodPost, webhookPath(id)+"/deliveries/"+url.PathEscape(event)+"/replay", nil)
	return err
}

// EndDelivery tells the outcome of an event that a listener passed on.
func (c *Client) EndDelivery(ctx context.Context, id, event string, o api.DeliveryOutcome) error {
	_, err := webhookCall[struct{}](ctx, c, http.MethodPost, webhookPath(id)+"/deliveries/"+url.PathEscape(event)+"/outcome", o)
	return err
}

// silence is how long a listener's stream may be silent; the service sends a comment at least every 15 s.
const silence = 45 * time.Second

// ListenWebhook reads a listener's events until the stream breaks off, and returns why. The function is called for one
// event after the other. opened is called once the stream has begun.
func (c *Client) ListenWebhook(ctx context.Context, id string, opened func(), event func(api.WebhookEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(silence, func() { cancel(context.DeadlineExceeded) })
	defer patience.Stop()
	r, w := io.Pipe()
	defer func() { _ = r.Close() }()
	go func() {
		call := library.Call{Path: api.PathWebhooks + webhookPath(id) + "/events", Header: http.Header{"Accept": {sse.ContentType}}}
		_, err := c.library.Do(ctx, call, w)
		_ = w.CloseWithError(c.brokenOff(cmp.Or(translated(err), errStreamEnd)))
	}()
	for e, err := range sse.Read(&heard{Reader: r, begun: opened, patience: patience}, 0) {
		if err != nil {
			return err
		}
		var got api.WebhookEvent
		if e.Name != api.EventWebhook || json.Unmarshal([]byte(e.Data), &got) != nil {
			continue
		}
		if err := event(got); err != nil {
			return err
		}
	}
	return c.brokenOff(errStreamEnd)
}

// brokenOff is why a stream ended that has no end.
func (c *Client) brokenOff(err error) error {
	if _, answered := errors.AsType[*Error](err); answered {
		return err
	}
	if _, known := errors.AsType[*UnreachableError](err); known {
		return err
	}
	return &UnreachableError{Where: c.BaseURL(), Err: err}
}

// heard is a stream that may be silent for a while.
type heard struct {
	io.Reader
	begun    func() // called at its first bytes
	patience *time.Timer
}

// Read reads for silence at most.
func (h *heard) Read(b []byte) (int, error) {
	h.patience.Reset(silence)
	n, err := h.Reader.Read(b)
	if n > 0 && h.begun != nil {
		h.begun()
		h.begun = nil
	}
	return n, err
}

// errStreamEnd is the end of a stream without an end.
var errStreamEnd = errors.New("the stream ended")

func webhookCall[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	out, _, err := do[T](ctx, c.library, library.Call{Method: method, Path: api.PathWebhooks + path, Body: body})
	return out, err
}

func webhookPath(id string) string { return "/" + url.PathEscape(id) }
