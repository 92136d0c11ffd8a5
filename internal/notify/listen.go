package notify

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/webhook"
)

// fetched is how many events a listener has at once: it passes one on after the other, within their lease.
const fetched = 3

// listenPoll is between two looks for a listener's events that rang no bell here: those of other nodes' ends, and those
// whose pause is over.
const listenPoll = 5 * time.Second

// errClaim is the refusal of an outcome whose claim says nothing.
var errClaim = fault.Invalid("claim", "is not one of this delivery's, or is over: the event comes again")

// Fetch returns the due events of a listener, waiting for one for as long as is said; none may come. An event comes
// again unless its outcome is told within half a minute. The listener lives on.
func (d *Endpoints) Fetch(ctx context.Context, h Holder, id string, wait time.Duration) ([]api.WebhookEvent, error) {
	e, err := d.find(ctx, h, id)
	if err != nil {
		return nil, err
	}
	if e.URL != "" {
		return nil, fault.New(fault.InvalidRequest, "this webhook has an address: its events are sent there")
	}
	if err := d.keepAlive(ctx, e); err != nil {
		return nil, err
	}
	bell, stop := d.Store.Wake(store.TopicDeliveriesTo(id))
	defer stop()
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(listenPoll)
	defer tick.Stop()
	ended, forget := d.bell.Wake(id)
	defer forget()
	for {
		claimed, err := d.Store.ClaimDeliveries(ctx, store.DeliveryClaim{Node: d.Node, Lease: lease, Limit: fetched, Each: fetched, Endpoint: id})
		if err == nil {
			claimed, err = d.told(ctx, claimed)
		}
		if err != nil || len(claimed) > 0 {
			return eventsOf(claimed), err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-d.ended:
			return nil, store.ErrClosed
		case <-end.C:
			return nil, nil
		case <-bell:
		case <-ended:
		case <-tick.C:
		}
	}
}

// Stream begins a listener's stream and returns its context, which ends with ctx, with done, and when another stream of
// the same listener begins: the program that listens has come back before its old connection was known to be lost.
func (d *Endpoints) Stream(ctx context.Context, id string) (stream context.Context, done func()) {
	stream, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.streams[id]; before != nil {
		(*before)()
	}
	d.streams[id] = &cancel
	return stream, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.streams[id] == &cancel {
			delete(d.streams, id)
		}
	}
}

// told returns those of the deliveries that the listener still tells of, and ends the others.
func (d *Endpoints) told(ctx context.Context, claimed []store.Claimed) ([]store.Claimed, error) {
	var told []store.Claimed
	for _, c := range claimed {
		if tells(c) {
			told = append(told, c)
		} else if err := d.Store.EndDelivery(ctx, c.Ref, store.DeliveryOutcome{State: webhook.Canceled}); err != nil && !settled(err) {
			return nil, err
		}
	}
	return told, nil
}

// keepAlive puts the end of a listener off, once a third of its life is over.
func (d *Endpoints) keepAlive(ctx context.Context, e webhook.Endpoint) error {
	now := d.Now().UTC()
	if e.ExpiresAt != nil && e.ExpiresAt.Sub(now) > listenerLife*2/3 {
		return nil
	}
	_, err := d.Store.UpdateEndpoint(ctx, e.ID, func(e *webhook.Endpoint) error {
		if e.Expired(now) { // it isn't counted any more
			return store.ErrNotFound
		}
		e.ExpiresAt = new(now.Add(listenerLife))
		return nil
	})
	return known(err)
}

func eventsOf(claimed []store.Claimed) []api.WebhookEvent {
	out := make([]api.WebhookEvent, len(claimed))
	for i, c := range claimed {
		out[i] = api.WebhookEvent{ID: c.Delivery.Event.ID, Claim: claim{c.Ref, c.Delivery.Tries()}.text(), Body: c.Delivery.Event.Body()}
	}
	return out
}

// claim is a listener's right to tell the outcome of an attempt, and how many there were before.
type claim struct {
	Ref    store.DeliveryRef
	Before int
}

// text returns the claim as it travels. Nothing in it is secret, and another's is of no use: the store compares it.
func (c claim) text() string {
	raw, err := json.Marshal(c)
	if err != nil { // it has plain members alone
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// End records the outcome of an attempt that a listener made.
func (d *Endpoints) End(ctx context.Context, h Holder, id, event string, o api.DeliveryOutcome) error {
	e, err := d.find(ctx, h, id)
	if err != nil {
		return err
	}
	var c claim
	raw, bad := base64.RawURLEncoding.DecodeString(o.Claim)
	if bad != nil || json.Unmarshal(raw, &c) != nil || c.Ref.Endpoint != id || c.Ref.Event != event || e.URL != "" {
		return errClaim
	}
	if o.Status != 0 && (o.Status < 100 || o.Status > 599) {
		return fault.Invalid("status", "must be a status of HTTP, or 0 without an answer")
	}
	if o.Seconds < 0 || o.Seconds > lease.Seconds() {
		return fault.Invalid("duration_seconds", "must be from 0 to 30")
	}
	got := answer{status: o.Status}
	if o.Status == 0 {
		got.problem = "the listener's receiver didn't answer"
	}
	outcome := judge(max(c.Before, 0), got, rand.Float64())
	took := time.Duration(o.Seconds * float64(time.Second))
	outcome.Attempt = webhook.Attempt{At: d.Now().UTC().Add(-took), Took: took, Status: got.status, Error: got.problem}
	err = d.Store.EndDelivery(ctx, c.Ref, outcome)
	d.bell.Ring(id)
	if errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrNotFound) {
		return errClaim
	}
	return err
}
