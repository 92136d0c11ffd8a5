package boltstore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// notify records the deliveries of a task's end.
func (x *txn) notify(before, after *task.Task) error {
	if !after.State.Terminal() {
		return nil
	}
	for _, o := range store.Deliveries(before, after, x.db.outbox.of(after.Scope)) {
		if err := x.putDelivery(o); err != nil {
			return err
		}
		x.wake(store.TopicsOfDelivery(o.Endpoint)...)
	}
	return nil
}

// Tell implements store.Webhooks.
func (db *DB) Tell(ctx context.Context, n store.Notice) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		e, known := db.outbox.endpoints[n.Endpoint]
		if !known {
			return store.ErrNotFound
		}
		told := x.counterDelta(x.counterKey(n.Told()))
		if e.Disabled != "" || told.now > 0 {
			return nil
		}
		if err := x.putDelivery(n.OutgoingAt(x.wall)); err != nil {
			return err
		}
		x.adjust(told, 1, endOf(x.wall.Add(n.Lasts)))
		x.wake(store.TopicsOfDelivery(n.Endpoint)...)
		return nil
	}})
}

// putDelivery records a delivery, and when it is due.
func (x *txn) putDelivery(o store.Outgoing) error {
	row := deliveryRow(o.Endpoint, o.Event.ID)
	if err := x.putJSON(bucketDeliveries, row, o); err != nil {
		return err
	}
	return x.setWait(o.Endpoint, o.Event.ID, waitOf(o))
}

// setWait changes when a delivery is due, undoably; nil: it doesn't wait.
func (x *txn) setWait(endpoint, event string, w *wait) error {
	x.undo.note(changed{back: x.db.outbox.set(endpoint, event, w)})
	if w == nil {
		return x.del(bucketWaiting, deliveryRow(endpoint, event))
	}
	return x.put(bucketWaiting, deliveryRow(endpoint, event), encodeWait(*w))
}

// delivery reads a delivery; ErrNotFound without one.
func (x *txn) delivery(endpoint, event string) (o store.Outgoing, err error) {
	return o, getJSON(&x.reader, bucketDeliveries, []byte(deliveryRow(endpoint, event)), &o)
}

// setEndpoint changes an endpoint, undoably; nil removes it.
func (x *txn) setEndpoint(id string, e *webhook.Endpoint) error {
	x.undo.note(changed{back: x.db.outbox.put(id, e)})
	if e == nil {
		return x.del(bucketEndpoints, id)
	}
	return x.putJSON(bucketEndpoints, id, e)
}

// PutEndpoint implements store.Webhooks.
func (db *DB) PutEndpoint(ctx context.Context, e webhook.Endpoint) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if _, taken := db.outbox.endpoints[e.ID]; taken {
			return store.ErrExists
		}
		if !x.has(bucketAccounts, []byte(e.Scope.Account)) {
			return store.ErrNotFound
		}
		if err := store.MayAdd(db.outbox.of(e.Scope), x.wall); err != nil {
			return err
		}
		return x.setEndpoint(e.ID, &e)
	}})
}

// GetEndpoint implements store.Webhooks.
func (db *DB) GetEndpoint(ctx context.Context, s task.Scope, id string) (webhook.Endpoint, error) {
	var e webhook.Endpoint
	err := db.refusal(ctx, db.view(ctx, func(r *reader) error { return getJSON(r, bucketEndpoints, []byte(id), &e) }))
	if err == nil && e.Scope != s {
		err = store.ErrNotFound
	}
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return e, nil
}

// ListEndpoints implements store.Webhooks.
func (db *DB) ListEndpoints(ctx context.Context, s task.Scope) ([]webhook.Endpoint, error) {
	all, err := listJSON[webhook.Endpoint](ctx, db, bucketEndpoints)
	return slices.DeleteFunc(all, func(e webhook.Endpoint) bool { return s != (task.Scope{}) && e.Scope != s }), err
}

// UpdateEndpoint implements store.Webhooks.
func (db *DB) UpdateEndpoint(ctx context.Context, id string, change func(*webhook.Endpoint) error) (webhook.Endpoint, error) {
	var e webhook.Endpoint
	err := db.do(ctx, &op{writes: true, run: func(x *txn) error {
		var known bool
		if e, known = db.outbox.endpoints[id]; !known {
			return store.ErrNotFound
		}
		if err := store.ChangeEndpoint(&e, change); err != nil {
			return err
		}
		x.wake(store.TopicsOfDelivery(id)...)
		return x.setEndpoint(id, &e)
	}})
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return e, nil
}

// DeleteEndpoint implements store.Webhooks. A sweep removes its deliveries.
func (db *DB) DeleteEndpoint(ctx context.Context, id string) error {
	return db.do(ctx, &op{writes: true, frees: true, run: func(x *txn) error {
		if _, known := db.outbox.endpoints[id]; !known {
			return store.ErrNotFound
		}
		return x.setEndpoint(id, nil)
	}})
}

// ClaimDeliveries implements store.Webhooks.
func (db *DB) ClaimDeliveries(ctx context.Context, c store.DeliveryClaim) ([]store.Claimed, error) {
	var claimed []store.Claimed
	err := db.do(ctx, &op{writes: true, run: func(x *txn) (err error) {
		claimed, err = x.claimDeliveries(c)
		return err
	}})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

func (x *txn) claimDeliveries(c store.DeliveryClaim) (claimed []store.Claimed, _ error) {
	type found struct {
		*waiting
		endpoint webhook.Endpoint
	}
	var queues []store.Queue[found]
	endpoints := []webhook.Endpoint{x.db.outbox.endpoints[c.Endpoint]}
	if c.Endpoint == "" {
		endpoints = x.db.outbox.all()
	}
	for _, e := range endpoints {
		if e.ID == "" || !c.Takes(e) {
			continue
		}
		q := store.Queue[found]{Account: e.Scope.Account}
		for _, d := range x.db.outbox.due(e.ID, x.wall, c.Each, c.Limit) {
			q.Due = append(q.Due, found{d, e})
		}
		queues = append(queues, q)
	}
	due := func(f found) time.Time { return time.Unix(0, f.due) }
	for _, f := range store.TakeTurns(c, queues, due) {
		o, err := x.delivery(f.endpoint.ID, f.event)
		if errors.Is(err, store.ErrNotFound) { // it couldn't be read and was set aside
			if err := x.setWait(f.endpoint.ID, f.event, nil); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		o = o.Claim(x.wall, c.Lease)
		if err := x.putDelivery(o); err != nil {
			return nil, err
		}
		claimed = append(claimed, store.Claimed{Ref: o.Ref(), Delivery: o.Delivery, Endpoint: f.endpoint})
	}
	return claimed, nil
}

// EndDelivery implements store.Webhooks.
func (db *DB) EndDelivery(ctx context.Context, ref store.DeliveryRef, out store.DeliveryOutcome) error {
	return db.changeDelivery(ctx, ref.Endpoint, ref.Event, func(x *txn, o store.Outgoing) (store.Outgoing, error) {
		return o.End(ref, out, x.wall)
	})
}

// Replay implements store.Webhooks.
func (db *DB) Replay(ctx context.Context, s task.Scope, endpoint, event string) error {
	return db.changeDelivery(ctx, endpoint, event, func(x *txn, o store.Outgoing) (store.Outgoing, error) {
		if db.outbox.endpoints[endpoint].Scope != s {
			return o, store.ErrNotFound
		}
		x.wake(store.TopicsOfDelivery(endpoint)...)
		return o.Replay(x.wall), nil
	})
}

// changeDelivery changes a delivery to an endpoint that is there.
func (db *DB) changeDelivery(ctx context.Context, endpoint, event string, change func(*txn, store.Outgoing) (store.Outgoing, error)) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if _, known := db.outbox.endpoints[endpoint]; !known {
			return store.ErrNotFound
		}
		o, err := x.delivery(endpoint, event)
		if err != nil {
			return err
		}
		if o, err = change(x, o); err != nil {
			return err
		}
		return x.putDelivery(o)
	}})
}

// ListDeliveries implements store.Webhooks. A row that can't be read is set aside.
func (db *DB) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (page store.DeliveryPage, err error) {
	var bad asides
	for {
		err = db.view(ctx, func(r *reader) (err error) {
			page, err = deliveryPage(ctx, r, q)
			return err
		})
		if err == nil {
			return page, nil
		}
		if err = bad.goOn(ctx, db, err); err != nil {
			return store.DeliveryPage{}, err
		}
	}
}

// deliveryPage returns a page of an endpoint's deliveries, an empty one for an endpoint of another scope.
func deliveryPage(ctx context.Context, r *reader, q store.DeliveryQuery) (page store.DeliveryPage, _ error) {
	var e webhook.Endpoint
	switch err := getJSON(r, bucketEndpoints, []byte(q.Endpoint), &e); {
	case errors.Is(err, store.ErrNotFound) || err == nil && e.Scope != q.Scope:
		return page, nil
	case err != nil:
		return page, err
	}
	low, high := []byte(deliveryRow(q.Endpoint, "")), []byte(q.Endpoint+"\x01")
	if q.Cursor != "" {
		high = []byte(deliveryRow(q.Endpoint, q.Cursor))
	}
	most, bounded := q.Looks()
	looked, last := 0, ""
	for k, v := range r.descend(bucketDeliveries, low, high) {
		if looked++; bounded && looked > most {
			page.Next = last
			break
		}
		if looked%1000 == 0 && ctx.Err() != nil {
			return page, ctx.Err()
		}
		o, err := readDelivery(k, v)
		if err != nil {
			return page, err
		}
		last = o.Event.ID
		if q.State != "" && o.State != q.State {
			continue
		}
		if len(page.Deliveries) == q.PageSize() {
			page.Next = page.Deliveries[len(page.Deliveries)-1].Event.ID
			break
		}
		page.Deliveries = append(page.Deliveries, o.Delivery)
	}
	return page, nil
}

// disableFull disables the endpoints for which too many deliveries wait, and returns them.
func (db *DB) disableFull(ctx context.Context, r store.SweepRequest) (ids []string, err error) {
	err = db.do(ctx, &op{writes: true, frees: true, run: func(x *txn) error {
		ids = nil
		for _, e := range db.outbox.all() {
			if !r.TooFull(e, db.outbox.waiting(e.ID), x.wall) {
				continue
			}
			e.SetDisabled(webhook.DisabledFull, x.wall)
			if err := x.setEndpoint(e.ID, &e); err != nil {
				return err
			}
			ids = append(ids, e.ID)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// expiredListeners returns at most limit listeners whose time is over.
func (r *reader) expiredListeners(now time.Time, limit int) (rows []expired, _ error) {
	for k, v := range r.ascend(bucketEndpoints, nil, nil) {
		var e webhook.Endpoint
		if err := decodeJSON(bucketEndpoints, k, v, &e); err != nil {
			return nil, err
		}
		if len(rows) < limit && e.Expired(now) {
			rows = append(rows, expired{bucket: bucketEndpoints, key: string(k), was: string(v)})
		}
	}
	return rows, nil
}

// oldDeliveries returns at most limit deliveries that have been kept for long enough or whose endpoint isn't there, and the
// row at which the next look begins, nil for the first one. It looks at sweepDeliveries rows at most.
func (r *reader) oldDeliveries(from []byte, now time.Time, limit int) (rows []expired, next []byte, _ error) {
	seen := 0
	for k, v := range r.ascend(bucketDeliveries, from, nil) {
		if seen++; seen > sweepDeliveries || len(rows) >= limit {
			return rows, bytes.Clone(k), nil
		}
		var o store.Outgoing
		if err := decodeJSON(bucketDeliveries, k, v, &o); err != nil {
			return nil, nil, err
		}
		if o.Expired(now) || r.get(bucketEndpoints, []byte(o.Endpoint)) == nil {
			rows = append(rows, expired{bucket: bucketDeliveries, key: string(k), was: string(v)})
		}
	}
	return rows, nil, nil
}

// removeDelivery removes a delivery and what says when it is due.
func (x *txn) removeDelivery(row string) error {
	if endpoint, event, ok := parseDelivery([]byte(row)); ok {
		if err := x.setWait(endpoint, event, nil); err != nil {
			return err
		}
	}
	return x.del(bucketDeliveries, row)
}
