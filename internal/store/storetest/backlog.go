package storetest

import (
	"fmt"
	"time"

	"unitask/internal/store"
	"unitask/internal/webhook"
)

// testBacklog: the deliveries that wait are counted by endpoint, under a lease or not, and no others.
func testBacklog(e *env) {
	if _, ok := e.hooks().(store.Backlogger); !ok {
		e.Skip("the engine counts no backlog")
	}
	backlog := func() map[string]store.Backlog {
		e.Helper()
		all, err := e.hooks().(store.Backlogger).Backlog(e.Context())
		e.wantErr("Backlog", err, nil)
		return all
	}
	e.putOwner(acme)
	e.wantSame("at first", backlog(), map[string]store.Backlog{})
	e.endpoint("a", nil)
	e.endpoint("b", nil)
	e.endpoint("c", nil)
	for i := range 3 {
		e.ended(fmt.Sprint("key-", i))
		e.clock.Advance(time.Second)
	}
	all := e.deliveries("whe_a")
	oldest, second := all[2].Event.At, all[1].Event.At
	e.wantSame("of each", backlog(), map[string]store.Backlog{"whe_a": {Waiting: 3, Oldest: oldest}, "whe_b": {Waiting: 3, Oldest: oldest}, "whe_c": {Waiting: 3, Oldest: oldest}})
	for _, c := range e.claimDeliveries(store.DeliveryClaim{}) {
		state := webhook.Delivered
		switch {
		case c.Endpoint.ID == "whe_a" && c.Delivery.Event.At.After(oldest):
			state = webhook.Waiting
		case c.Endpoint.ID == "whe_c":
			continue
		}
		out := store.DeliveryOutcome{Attempt: webhook.Attempt{At: e.clock.Now(), Status: 200}, State: state, Pause: time.Hour}
		e.wantErr("EndDelivery", e.hooks().EndDelivery(e.Context(), c.Ref, out), nil)
	}
	e.again()
	e.wantSame("after attempts", backlog(), map[string]store.Backlog{"whe_a": {Waiting: 2, Oldest: second}, "whe_c": {Waiting: 3, Oldest: oldest}})
	e.wantErr("DeleteEndpoint", e.hooks().DeleteEndpoint(e.Context(), "whe_c"), nil)
	e.wantSame("without a deleted one", backlog(), map[string]store.Backlog{"whe_a": {Waiting: 2, Oldest: second}})
}
