package notify_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// fakeStore keeps endpoints and deliveries in memory, as an engine does.
type fakeStore struct {
	store.Bell

	mu         sync.Mutex
	endpoints  map[string]webhook.Endpoint
	deliveries []*row
	epoch      int64
	claims     int // calls of ClaimDeliveries
	told       map[store.Counter]int64
}

type row struct {
	webhook.Delivery

	leased time.Time
	epoch  int64
}

func newFakeStore() *fakeStore {
	return &fakeStore{endpoints: map[string]webhook.Endpoint{}, told: map[store.Counter]int64{}}
}

func (f *fakeStore) Held(_ context.Context, counters []store.Counter) (all []int64, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range counters {
		all = append(all, f.told[c])
	}
	return all, nil
}

func (f *fakeStore) Tell(_ context.Context, n store.Notice) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[n.Told()] == 0 {
		f.told[n.Told()] = 1
		f.deliveries = append(f.deliveries, &row{Delivery: n.OutgoingAt(time.Now()).Delivery})
	}
	return nil
}

// add puts an event on its way to an endpoint.
func (f *fakeStore) add(endpoint, event string) {
	f.mu.Lock()
	f.deliveries = append(f.deliveries, &row{Delivery: webhook.Delivery{
		Endpoint: endpoint, State: webhook.Waiting, Next: time.Now(),
		Event: webhook.Event{ID: event, TaskID: "task_1", Capability: "text.chat", State: task.Succeeded, At: time.Now()},
	}})
	f.mu.Unlock()
	f.Ring(store.TopicsOfDelivery(endpoint)...)
}

// states returns the deliveries' states by their events.
func (f *fakeStore) states() map[string]webhook.DeliveryState {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]webhook.DeliveryState{}
	for _, d := range f.deliveries {
		out[d.Event.ID] = d.State
	}
	return out
}

func (f *fakeStore) attempts(event string) []webhook.Attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.deliveries {
		if d.Event.ID == event {
			return slices.Clone(d.Attempts)
		}
	}
	return nil
}

func (f *fakeStore) PutEndpoint(_ context.Context, e webhook.Endpoint) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var others []webhook.Endpoint
	for _, other := range f.endpoints {
		if other.Scope == e.Scope {
			others = append(others, other)
		}
	}
	if err := store.MayAdd(others, time.Now()); err != nil {
		return err
	}
	f.endpoints[e.ID] = e
	return nil
}

func (f *fakeStore) GetEndpoint(_ context.Context, s task.Scope, id string) (webhook.Endpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.endpoints[id]
	if !ok || e.Scope != s {
		return e, store.ErrNotFound
	}
	return e, nil
}

func (f *fakeStore) ListEndpoints(_ context.Context, s task.Scope) (all []webhook.Endpoint, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.endpoints {
		if s == (task.Scope{}) || e.Scope == s {
			all = append(all, e)
		}
	}
	return all, nil
}

func (f *fakeStore) UpdateEndpoint(_ context.Context, id string, change func(*webhook.Endpoint) error) (webhook.Endpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.endpoints[id]
	if !ok {
		return e, store.ErrNotFound
	}
	if err := change(&e); err != nil {
		return e, err
	}
	f.endpoints[id] = e
	return e, nil
}

func (f *fakeStore) DeleteEndpoint(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.endpoints, id)
	return nil
}

func (f *fakeStore) ClaimDeliveries(_ context.Context, c store.DeliveryClaim) (out []store.Claimed, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims++
	now := time.Now()
	leased := map[string]int{}
	for _, d := range f.deliveries {
		if d.leased.After(now) {
			leased[d.Endpoint]++
		}
	}
	var queues []store.Queue[*row]
	for _, id := range slices.Sorted(maps.Keys(f.endpoints)) {
		e := f.endpoints[id]
		q := store.Queue[*row]{Account: e.Scope.Account}
		for _, d := range f.deliveries {
			if d.Endpoint == id && c.Takes(e) && d.State == webhook.Waiting && !d.Next.After(now) && !d.leased.After(now) && leased[id] < c.Each {
				leased[id]++
				q.Due = append(q.Due, d)
			}
		}
		queues = append(queues, q)
	}
	for _, d := range store.TakeTurns(c, queues, func(d *row) time.Time { return d.Next }) {
		e := f.endpoints[d.Endpoint]
		f.epoch++
		d.leased, d.epoch = now.Add(c.Lease), f.epoch
		out = append(out, store.Claimed{Ref: store.DeliveryRef{Endpoint: e.ID, Event: d.Event.ID, Epoch: d.epoch}, Delivery: d.Delivery, Endpoint: e})
	}
	return out, nil
}

func (f *fakeStore) EndDelivery(_ context.Context, ref store.DeliveryRef, o store.DeliveryOutcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.deliveries {
		if d.Endpoint == ref.Endpoint && d.Event.ID == ref.Event {
			if d.epoch != ref.Epoch || !d.leased.After(time.Now()) {
				return store.ErrFenced
			}
			d.leased, d.State, d.Next = time.Time{}, o.State, time.Now().Add(o.Pause)
			if !o.Attempt.At.IsZero() {
				d.Attempts = append(d.Attempts, o.Attempt)
			}
			return nil
		}
	}
	return store.ErrNotFound
}

func (f *fakeStore) ListDeliveries(_ context.Context, q store.DeliveryQuery) (page store.DeliveryPage, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.deliveries {
		if d.Endpoint == q.Endpoint && (q.State == "" || q.State == d.State) {
			page.Deliveries = append(page.Deliveries, d.Delivery)
		}
	}
	return page, nil
}

func (f *fakeStore) Replay(_ context.Context, _ task.Scope, endpoint, event string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.deliveries {
		if d.Endpoint == endpoint && d.Event.ID == event {
			d.State, d.Next, d.Before = webhook.Waiting, time.Now(), len(d.Attempts)
			return nil
		}
	}
	return store.ErrNotFound
}
