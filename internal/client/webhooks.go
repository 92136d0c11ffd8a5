package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
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
	path := webhookPath(id) + "/deliveries"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return webhookCall[api.DeliveryList](ctx, c, http.MethodGet, path, nil)
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

// silence is how long a listener's stream may be silent, without even the service's comment every 15 s.
const silence = 45 * time.Second

// ListenWebhook reads a listener's events until the stream breaks off, and returns why; nil if the service ended it.
// The function is called for one event after the other. opened is called once the stream has begun.
func (c *Client) ListenWebhook(ctx context.Context, id string, opened func(), event func(api.WebhookEvent) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	patience := time.AfterFunc(silence, cancel)
	defer patience.Stop()
	r, w := io.Pipe()
	defer func() { _ = r.Close() }()
	go func() {
		_, err := c.library.Do(ctx, library.Call{
			Path: api.PathWebhooks + webhookPath(id) + "/events", Header: http.Header{"Accept": {sse.ContentType}},
		}, &heard{w, patience, sync.OnceFunc(opened)})
		_ = w.CloseWithError(translated(err))
	}()
	for e, err := range sse.Read(r, 0) {
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
	return nil
}

// heard puts off the end of a silent stream.
type heard struct {
	io.Writer
	patience *time.Timer
	opened   func()
}

func (h *heard) Write(b []byte) (int, error) {
	h.patience.Reset(silence)
	h.opened()
	return h.Writer.Write(b)
}

func webhookCall[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	out, _, err := do[T](ctx, c.library, library.Call{Method: method, Path: api.PathWebhooks + path, Body: body})
	return out, err
}

func webhookPath(id string) string { return "/" + url.PathEscape(id) }
