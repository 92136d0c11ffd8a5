package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// deliveryKey names a delivery.
type deliveryKey struct{ endpoint, event string }

// notify records the deliveries of a task's end.
func (db *DB) notify(before, after *task.Task) {
	for _, o := range store.Deliveries(before, after, db.endpointsOf(after.Scope)) {
		db.deliveries[deliveryKey{o.Endpoint, o.Event.ID}] = o
		db.bell.Ring(store.TopicsOfDelivery(o.Endpoint)...)
	}
}

// Tell implements store.Webhooks.
func (db *DB) Tell(ctx context.Context, n store.Notice) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	e, ok := db.endpoints[n.Endpoint]
	if !ok {
		return store.ErrNotFound
	}
	if e.Disabled != "" || db.counters[n.Told()] > 0 {
		return nil
	}
	db.counters[n.Told()], db.ends[n.Told()] = 1, db.wall().Add(n.Lasts)
	db.deliveries[deliveryKey{n.Endpoint, n.Event.ID}] = n.OutgoingAt(db.wall())
	db.bell.Ring(store.TopicsOfDelivery(n.Endpoint)...)
	return nil
}

// endpointsOf returns the endpoints of a scope, the zero Scope's being all, by their ids.
func (db *DB) endpointsOf(s task.Scope) []webhook.Endpoint {
	all := []webhook.Endpoint{}
	for _, id := range slices.Sorted(maps.Keys(db.endpoints)) {
		if e := db.endpoints[id]; s == (task.Scope{}) || e.Scope == s {
			all = append(all, e)
		}
	}
	return all
}

// PutEndpoint implements store.Webhooks.
func (db *DB) PutEndpoint(ctx context.Context, e webhook.Endpoint) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	if _, taken := db.endpoints[e.ID]; taken {
		return store.ErrExists
	}
	if _, known := db.accounts[e.Scope.Account]; !known {
		return store.ErrNotFound
	}
	if err := store.MayAdd(db.endpointsOf(e.Scope), db.wall()); err != nil {
		return err
	}
	db.endpoints[e.ID] = e
	return nil
}

// GetEndpoint implements store.Webhooks.
func (db *DB) GetEndpoint(ctx context.Context, s task.Scope, id string) (webhook.Endpoint, error) {
	if err := db.lock(ctx); err != nil {
		return webhook.Endpoint{}, err
	}
	defer db.mu.Unlock()
	if e, ok := db.endpoints[id]; ok && e.Scope == s {
		return e, nil
	}
	return webhook.Endpoint{}, store.ErrNotFound
}

// ListEndpoints implements store.Webhooks.
func (db *DB) ListEndpoints(ctx context.Context, s task.Scope) ([]webhook.Endpoint, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	return db.endpointsOf(s), nil
}

// UpdateEndpoint implements store.Webhooks.
func (db *DB) UpdateEndpoint(ctx context.Context, id string, change func(*webhook.Endpoint) error) (webhook.Endpoint, error) {
	if err := db.lock(ctx); err != nil {
		return webhook.Endpoint{}, err
	}
	defer db.mu.Unlock()
	e, ok := db.endpoints[id]
	if !ok {
		return webhook.Endpoint{}, store.ErrNotFound
	}
	if err := store.ChangeEndpoint(&e, change); err != nil {
		return webhook.Endpoint{}, err
	}
	db.endpoints[id] = e
	db.bell.Ring(store.TopicsOfDelivery(id)...)
	return e, nil
}

// DeleteEndpoint implements store.Webhooks.
func (db *DB) DeleteEndpoint(ctx context.Context, id string) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	if _, ok := db.endpoints[id]; !ok {
		return store.ErrNotFound
	}
	db.deleteEndpoint(id)
	return nil
}

func (db *DB) deleteEndpoint(id string) {
	delete(db.endpoints, id)
	maps.DeleteFunc(db.deliveries, func(k deliveryKey, _ store.Outgoing) bool { return k.endpoint == id })
}

// ClaimDeliveries implements store.Webhooks.
func (db *DB) ClaimDeliveries(ctx context.Context, c store.DeliveryClaim) ([]store.Claimed, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	now := db.wall()
	var queues []store.Queue[store.Outgoing]
	for _, e := range db.endpointsOf(task.Scope{}) {
		if !c.Takes(e) {
			continue
		}
		free := c.Each
		var due []store.Outgoing
		for _, o := range db.deliveriesTo(e.ID) {
			switch {
			case o.Leased(now):
				free--
			case o.State == webhook.Waiting && !o.Due().After(now):
				due = append(due, o)
			}
		}
		slices.SortStableFunc(due, func(a, b store.Outgoing) int { return a.Due().Compare(b.Due()) })
		queues = append(queues, store.Queue[store.Outgoing]{Account: e.Scope.Account, Due: due[:min(len(due), max(free, 0))]})
	}
	var claimed []store.Claimed
	for _, o := range store.TakeTurns(c, queues, store.Outgoing.Due) {
		o = o.Claim(now, c.Lease)
		db.deliveries[deliveryKey{o.Endpoint, o.Event.ID}] = o
		claimed = append(claimed, store.Claimed{Ref: o.Ref(), Delivery: o.Delivery, Endpoint: db.endpoints[o.Endpoint]})
	}
	return claimed, nil
}

// deliveriesTo returns the deliveries to an endpoint by their events.
func (db *DB) deliveriesTo(endpoint string) []store.Outgoing {
	var all []store.Outgoing
	for k, o := range db.deliveries {
		if k.endpoint == endpoint {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b store.Outgoing) int { return cmp.Compare(a.Event.ID, b.Event.ID) })
	return all
}

// EndDelivery implements store.Webhooks.
func (db *DB) EndDelivery(ctx context.Context, ref store.DeliveryRef, out store.DeliveryOutcome) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	k := deliveryKey{ref.Endpoint, ref.Event}
	o, ok := db.deliveries[k]
	if !ok {
		return store.ErrNotFound
	}
	o, err := o.End(ref, out, db.wall())
	if err == nil {
		db.deliveries[k] = o
	}
	return err
}

// ListDeliveries implements store.Webhooks.
func (db *DB) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (store.DeliveryPage, error) {
	if err := db.lock(ctx); err != nil {
		return store.DeliveryPage{}, err
	}
	defer db.mu.Unlock()
	var page store.DeliveryPage
	if db.endpoints[q.Endpoint].Scope != q.Scope {
		return page, nil
	}
	most, bounded := q.Looks()
	looked, last := 0, ""
	for _, o := range slices.Backward(db.deliveriesTo(q.Endpoint)) {
		if q.Cursor != "" && o.Event.ID >= q.Cursor {
			continue
		}
		if looked++; bounded && looked > most {
			page.Next = last
			break
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

// Replay implements store.Webhooks.
func (db *DB) Replay(ctx context.Context, s task.Scope, endpoint, event string) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	k := deliveryKey{endpoint, event}
	o, ok := db.deliveries[k]
	if !ok || db.endpoints[endpoint].Scope != s {
		return store.ErrNotFound
	}
	db.deliveries[k] = o.Replay(db.wall())
	db.bell.Ring(store.TopicsOfDelivery(endpoint)...)
	return nil
}

// disableFull disables the endpoints for which too many deliveries wait, and returns them.
func (db *DB) disableFull(r store.SweepRequest, now time.Time) (ids []string) {
	waiting := map[string]int{}
	for _, o := range db.deliveries {
		if o.State == webhook.Waiting {
			waiting[o.Endpoint]++
		}
	}
	for _, e := range db.endpointsOf(task.Scope{}) {
		if r.TooFull(e, waiting[e.ID], now) {
			e.SetDisabled(webhook.DisabledFull, now)
			db.endpoints[e.ID] = e
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// sweepWebhooks removes at most limit listeners whose time is over and deliveries that have been kept for long enough, and
// returns how many.
func (db *DB) sweepWebhooks(now time.Time, limit int) (removed int) {
	for id, e := range db.endpoints {
		if removed < limit && e.Expired(now) {
			db.deleteEndpoint(id)
			removed++
		}
	}
	for k, o := range db.deliveries {
		if removed < limit && o.Expired(now) {
			delete(db.deliveries, k)
			removed++
		}
	}
	return removed
}
