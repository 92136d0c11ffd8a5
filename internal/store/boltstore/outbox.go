package boltstore

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// outbox is the endpoints and the deliveries that wait, in memory, so that a task's end finds who is told, and a claim
// what is due, without a transaction. It is the committer's own.
type outbox struct {
	endpoints map[string]webhook.Endpoint
	scopes    map[task.Scope][]string // endpoints' ids, sorted
	queues    map[string]*dueQueue    // by endpoint
}

// wait is until when a delivery waits.
type wait struct {
	due    int64 // in nanoseconds since 1970
	leased bool  // it is the end of a lease
}

// dueQueue is the waiting deliveries of an endpoint: by event, and by when they are due.
type dueQueue struct {
	waits  map[string]*waiting
	order  heap[*waiting]
	leased map[string]*waiting
}

// waiting is a delivery in a queue.
type waiting struct {
	wait
	event string
	at    int // in the order
}

func newDueQueue() *dueQueue {
	return &dueQueue{
		waits: map[string]*waiting{}, leased: map[string]*waiting{},
		order: heap[*waiting]{
			less: func(a, b *waiting) bool {
				return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.event, b.event)) < 0
			},
			position: func(w *waiting, at int) { w.at = at },
		},
	}
}

func newOutbox() *outbox {
	return &outbox{endpoints: map[string]webhook.Endpoint{}, scopes: map[task.Scope][]string{}, queues: map[string]*dueQueue{}}
}

// put sets an endpoint, or removes it if e is nil, and returns what undoes that.
func (o *outbox) put(id string, e *webhook.Endpoint) (back func()) {
	old, had := o.endpoints[id]
	queue := o.queues[id]
	if e == nil { // a sweep removes its deliveries
		delete(o.queues, id)
	}
	if had {
		ids := slices.DeleteFunc(slices.Clone(o.scopes[old.Scope]), func(other string) bool { return other == id })
		if o.scopes[old.Scope] = ids; len(ids) == 0 {
			delete(o.scopes, old.Scope)
		}
		delete(o.endpoints, id)
	}
	if e != nil {
		o.endpoints[id] = *e
		ids := append(slices.Clone(o.scopes[e.Scope]), id)
		slices.Sort(ids)
		o.scopes[e.Scope] = ids
	}
	return func() {
		if had {
			o.put(id, &old)
		} else {
			o.put(id, nil)
		}
		if queue != nil {
			o.queues[id] = queue
		}
	}
}

// of returns the endpoints of a scope, by their ids.
func (o *outbox) of(s task.Scope) []webhook.Endpoint {
	ids := o.scopes[s]
	if len(ids) == 0 {
		return nil
	}
	all := make([]webhook.Endpoint, len(ids))
	for i, id := range ids {
		all[i] = o.endpoints[id]
	}
	return all
}

// all returns every endpoint, by its id.
func (o *outbox) all() []webhook.Endpoint {
	all := []webhook.Endpoint{}
	for _, id := range slices.Sorted(maps.Keys(o.endpoints)) {
		all = append(all, o.endpoints[id])
	}
	return all
}

// set lets a delivery wait, or not any more if w is nil, and returns what undoes that.
func (o *outbox) set(endpoint, event string, w *wait) (back func()) {
	q := o.queues[endpoint]
	if q == nil {
		q = newDueQueue()
		o.queues[endpoint] = q
	}
	old := q.waits[event]
	if old != nil {
		q.order.remove(old.at)
		delete(q.waits, event)
		delete(q.leased, event)
	}
	if w != nil {
		now := &waiting{wait: *w, event: event}
		q.waits[event] = now
		q.order.push(now)
		if w.leased {
			q.leased[event] = now
		}
	}
	if len(q.waits) == 0 {
		delete(o.queues, endpoint)
	}
	return func() {
		if old != nil {
			o.set(endpoint, event, &old.wait)
		} else {
			o.set(endpoint, event, nil)
		}
	}
}

// waiting returns how many deliveries wait for an endpoint.
func (o *outbox) waiting(endpoint string) int {
	if q := o.queues[endpoint]; q != nil {
		return len(q.waits)
	}
	return 0
}

// due returns at most limit deliveries of an endpoint that are due, in their order. No more than each are leased at once.
func (o *outbox) due(endpoint string, now time.Time, each, limit int) (found []*waiting) {
	q := o.queues[endpoint]
	if q == nil {
		return nil
	}
	for _, w := range q.leased {
		if w.due > now.UnixNano() {
			each--
		}
	}
	for len(found) < min(each, limit) && q.order.len() > 0 && q.order.items[0].due <= now.UnixNano() {
		found = append(found, q.order.items[0])
		q.order.remove(0)
	}
	for _, w := range found { // a claim takes them out by set
		q.order.push(w)
	}
	return found
}

// deliveryRow is the key of a delivery.
func deliveryRow(endpoint, event string) string { return endpoint + "\x00" + event }

// parseDelivery takes such a key apart.
func parseDelivery(row []byte) (endpoint, event string, ok bool) {
	return strings.Cut(string(row), "\x00")
}

// readDelivery reads a row; an error for one that is another's.
func readDelivery(row, raw []byte) (o store.Outgoing, err error) {
	if err = decodeJSON(bucketDeliveries, row, raw, &o); err == nil && deliveryRow(o.Endpoint, o.Event.ID) != string(row) {
		err = unreadable(bucketDeliveries, row, raw, errOther)
	}
	return o, err
}

const waitSize = 9

// encodeWait writes a row of `waiting`.
func encodeWait(w wait) []byte {
	row := append(make([]byte, 0, waitSize), 0)
	if w.leased {
		row[0] = 1
	}
	return binary.BigEndian.AppendUint64(row, uint64(w.due))
}

func decodeWait(row []byte) (w wait, ok bool) {
	if len(row) != waitSize || row[0] > 1 {
		return w, false
	}
	return wait{due: int64(binary.BigEndian.Uint64(row[1:])), leased: row[0] == 1}, true
}

// waitOf is how a delivery waits, nil if it doesn't.
func waitOf(o store.Outgoing) *wait {
	if o.State != webhook.Waiting {
		return nil
	}
	return &wait{due: o.Due().UnixNano(), leased: !o.Until.IsZero()}
}

// loadOutbox fills the outbox. It returns the rows that can't be read.
func loadOutbox(tx *bolt.Tx, o *outbox) (bad []*unreadableError) {
	r := &reader{opened: tx}
	for k, v := range r.ascend(bucketEndpoints, nil, nil) {
		var e webhook.Endpoint
		if err := decodeJSON(bucketEndpoints, k, v, &e); err != nil || e.ID != string(k) {
			bad = append(bad, &unreadableError{bucketEndpoints, slices.Clone(k), slices.Clone(v), errRecord})
			continue
		}
		o.put(e.ID, &e)
	}
	for k, v := range r.ascend(bucketWaiting, nil, nil) {
		endpoint, event, ok := parseDelivery(k)
		w, sound := decodeWait(v)
		if !ok || !sound {
			bad = append(bad, &unreadableError{bucketWaiting, slices.Clone(k), slices.Clone(v), errRecord})
			continue
		}
		if _, known := o.endpoints[endpoint]; known { // a sweep removes those of deleted ones
			o.set(endpoint, event, &w)
		}
	}
	return bad
}
