package notify

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// The lives of things that end.
const (
	listenerLife = 15 * time.Minute    // of a listener after its last fetch
	oldSecret    = 24 * time.Hour      // how long the secret before signs too, by default
	longestOld   = 30 * 24 * time.Hour // and at most
)

// Create makes an endpoint. The answer has its secret.
func (d *Endpoints) Create(ctx context.Context, h Holder, req api.WebhookCreate) (api.Webhook, error) {
	now := d.Now().UTC()
	e := webhook.Endpoint{
		ID: newEndpointID(now), Scope: h.Scope, KeyID: h.KeyID, URL: req.URL, Description: req.Description,
		Capabilities: req.Capabilities, States: slices.Clone(req.States), Budgets: req.Budgets, Generation: 1, CreatedAt: now,
	}
	switch {
	case req.Listener && req.URL != "":
		return api.Webhook{}, fault.Invalid("url", "must be absent for a listener")
	case req.Listener:
		e.ExpiresAt = new(now.Add(listenerLife))
	case req.URL == "":
		return api.Webhook{}, fault.Invalid("url", "is required")
	default:
		if err := d.checkURL(req.URL); err != nil {
			return api.Webhook{}, err
		}
	}
	if err := d.check(h, &e, nil); err != nil {
		return api.Webhook{}, err
	}
	switch err := d.Store.PutEndpoint(ctx, e); {
	case errors.Is(err, store.ErrMost):
		return api.Webhook{}, fault.Newf(fault.InvalidRequest, "there are %d webhooks already, which is the most: delete one", webhook.MaxEndpoints)
	case err != nil:
		return api.Webhook{}, err
	}
	return d.withSecret(e), nil
}

// withSecret returns the endpoint with the newest secret.
func (d *Endpoints) withSecret(e webhook.Endpoint) api.Webhook {
	out := webhookOf(e, d.Now())
	out.Secret = webhook.DeriveSecret(d.Secret, e.ID, e.Generation).Reveal()
	return out
}

// List returns the endpoints that the holder sees, oldest first.
func (d *Endpoints) List(ctx context.Context, h Holder) ([]api.Webhook, error) {
	all, err := d.Store.ListEndpoints(ctx, h.Scope)
	out := make([]api.Webhook, 0, len(all))
	for _, e := range all {
		if h.sees(e) {
			out = append(out, webhookOf(e, d.Now()))
		}
	}
	return out, err
}

// Get returns an endpoint.
func (d *Endpoints) Get(ctx context.Context, h Holder, id string) (api.Webhook, error) {
	e, err := d.find(ctx, h, id)
	if err != nil {
		return api.Webhook{}, err
	}
	return webhookOf(e, d.Now()), nil
}

// Update changes an endpoint. One that was disabled is told again when Disabled is false.
func (d *Endpoints) Update(ctx context.Context, h Holder, id string, u api.WebhookUpdate) (api.Webhook, error) {
	return d.update(ctx, h, id, func(e *webhook.Endpoint) error {
		before := e.Capabilities
		if u.URL != nil {
			if e.URL == "" {
				return fault.Invalid("url", "must be absent for a listener")
			}
			if err := d.checkURL(*u.URL); err != nil {
				return err
			}
			e.URL = *u.URL
		}
		if u.Description != nil {
			e.Description = *u.Description
		}
		if u.Capabilities != nil {
			e.Capabilities = slices.Clone(*u.Capabilities)
		}
		if u.States != nil {
			e.States = slices.Clone(*u.States)
		}
		if u.Budgets != nil {
			e.Budgets = *u.Budgets
		}
		if u.Disabled != nil {
			if err := ask(e, *u.Disabled, d.Now().UTC()); err != nil {
				return err
			}
		}
		return d.check(h, e, before)
	})
}

func (d *Endpoints) update(ctx context.Context, h Holder, id string, change func(*webhook.Endpoint) error) (api.Webhook, error) {
	if _, err := d.find(ctx, h, id); err != nil {
		return api.Webhook{}, err
	}
	e, err := d.Store.UpdateEndpoint(ctx, id, func(e *webhook.Endpoint) error {
		if !h.sees(*e) {
			return store.ErrNotFound
		}
		return change(e)
	})
	if err != nil {
		return api.Webhook{}, known(err)
	}
	return webhookOf(e, d.Now()), nil
}

// Delete removes an endpoint with its deliveries.
func (d *Endpoints) Delete(ctx context.Context, h Holder, id string) error {
	if _, err := d.find(ctx, h, id); err != nil {
		return err
	}
	return known(d.Store.DeleteEndpoint(ctx, id))
}

// Rotate gives an endpoint a new secret. The one before signs too for a time, so that receivers can change theirs; until
// then another rotation is refused, unless it is to end both.
func (d *Endpoints) Rotate(ctx context.Context, h Holder, id string, req api.WebhookRotate) (api.Webhook, error) {
	keep := oldSecret
	if s := req.KeepOldForSeconds; s != nil {
		if *s < 0 || *s > int64(longestOld/time.Second) {
			return api.Webhook{}, fault.Invalid("keep_old_for_seconds", "must be from 0 to 30 days")
		}
		keep = time.Duration(*s) * time.Second
	}
	var rotated webhook.Endpoint
	_, err := d.update(ctx, h, id, func(e *webhook.Endpoint) error {
		now := d.Now().UTC()
		if e.Retiring != nil && now.Before(*e.Retiring) && keep > 0 {
			return errRetiring(*e.Retiring)
		}
		e.Generation++
		e.Retiring = new(now.Add(keep))
		rotated = *e
		return nil
	})
	if err != nil {
		return api.Webhook{}, err
	}
	return d.withSecret(rotated), nil
}

// Test sends an event of the type webhook.test at once and returns the answer. It is no delivery: it isn't repeated.
func (d *Endpoints) Test(ctx context.Context, h Holder, id string) (api.WebhookTest, error) {
	e, err := d.find(ctx, h, id)
	if err != nil {
		return api.WebhookTest{}, err
	}
	if e.URL == "" {
		return api.WebhookTest{}, fault.New(fault.InvalidRequest, "a listener has no address to send a test to")
	}
	if e.Disabled == webhook.DisabledOperator {
		return api.WebhookTest{}, errBarred
	}
	done, ok := d.Sender.trial(ctx, e)
	if !ok {
		return api.WebhookTest{}, fault.New(fault.RateLimitExceeded, "too many webhooks are slow to answer at this moment: test again in a few seconds")
	}
	defer done()
	at := d.Now().UTC()
	event := webhook.Event{ID: task.NewID("test_", at) + ".0", At: at}
	header, body := http.Header{}, event.Body()
	webhook.Sign(header, event.ID, at, body, Secrets(d.Secret, e, at)...)
	got := d.post.post(ctx, e.URL, header, body)
	attempt := webhook.Attempt{At: at, Took: d.Now().Sub(at), Status: got.status, Error: got.problem}
	return api.WebhookTest{Delivered: got.delivered(), Attempt: attemptOf(attempt)}, nil
}

// Deliveries returns a page of an endpoint's deliveries, newest first.
func (d *Endpoints) Deliveries(ctx context.Context, h Holder, q store.DeliveryQuery) (api.DeliveryList, error) {
	if _, err := d.find(ctx, h, q.Endpoint); err != nil {
		return api.DeliveryList{}, err
	}
	page, err := d.Store.ListDeliveries(ctx, q)
	if err != nil {
		return api.DeliveryList{}, err
	}
	list := api.DeliveryList{Data: make([]api.Delivery, 0, len(page.Deliveries))}
	for _, one := range page.Deliveries {
		if h.hears(one.Event) { // the endpoint may have told of more
			list.Data = append(list.Data, deliveryOf(one))
		}
	}
	if page.Next != "" {
		list.NextCursor = &page.Next
	}
	return list, nil
}

// hears reports whether the holder may be told of an event.
func (h Holder) hears(e webhook.Event) bool {
	if e.Budget != nil {
		return h.all()
	}
	return account.Allows(h.patterns(), e.Capability)
}

// Replay sends an event to an endpoint again, at once.
func (d *Endpoints) Replay(ctx context.Context, h Holder, id, event string) error {
	e, err := d.find(ctx, h, id)
	if err != nil {
		return err
	}
	if e.Disabled != "" {
		return fault.New(fault.InvalidRequest, "the webhook is disabled: enable it first")
	}
	if !webhook.ValidEvent(event) {
		return errDelivery
	}
	err = d.Store.Replay(ctx, h.Scope, id, event)
	if errors.Is(err, store.ErrNotFound) {
		return errDelivery
	}
	return err
}
