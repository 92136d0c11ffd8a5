package storetest

import (
	"fmt"
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// testMostEndpoints: a scope has a bounded number of endpoints, also if many are made at once; expired ones don't count.
func testMostEndpoints(e *env) {
	e.putOwner(acme)
	ended := e.endpoint("ended", func(w *webhook.Endpoint) { w.URL, w.ExpiresAt = "", new(w.CreatedAt.Add(time.Minute)) })
	e.lapse(time.Hour)
	var all sync.WaitGroup
	outcomes := make([]error, 2*webhook.MaxEndpoints)
	for i := range outcomes {
		made := webhook.Endpoint{ID: fmt.Sprint("whe_", i), Scope: acme, URL: "https://example.com/", CreatedAt: e.clock.Now().UTC()}
		all.Go(func() { outcomes[i] = e.hooks().PutEndpoint(e.Context(), made) })
	}
	all.Wait()
	made := 0
	for _, err := range outcomes {
		if err == nil {
			made++
		} else {
			e.wantErr("one too many", err, store.ErrMost)
		}
	}
	e.wantSame("endpoints that were made at once", made, webhook.MaxEndpoints)
	taken := ended
	taken.ExpiresAt = nil
	e.wantErr("an id that is taken", e.hooks().PutEndpoint(e.Context(), taken), store.ErrExists)
	e.endpoint("test", func(w *webhook.Endpoint) { w.Scope.Mode = task.Test })
}

// testDeliveryShare: an account gets no place for a delivery while it holds twice as many as are free.
func testDeliveryShare(e *env) {
	e.putOwner(acme)
	e.endpoint("a", nil)
	e.endpoint("b", nil)
	var events []string
	for i := range 3 {
		events = append(events, e.ended(fmt.Sprint("key-", i)))
	}
	e.wantSame("of one that holds enough", named(e.claimDeliveries(store.DeliveryClaim{Limit: 4, Held: map[string]int{acme.Account: 8}})), []string(nil))
	e.wantSame("of one that holds more than another", named(e.claimDeliveries(store.DeliveryClaim{Limit: 4, Held: map[string]int{acme.Account: 5, "other": 9}})), []string{
		"whe_a " + events[0],
	})
	e.wantSame("of one that holds none", len(e.claimDeliveries(store.DeliveryClaim{Limit: 4, Held: map[string]int{}})), 3)
	e.wantSame("where accounts aren't counted", len(e.claimDeliveries(store.DeliveryClaim{Limit: 1})), 1)
}

// testTooManyDeliveries: a sweep disables an endpoint for which more deliveries wait than may. Those that wait stay, and
// one that was opened again has an hour to catch up.
func testTooManyDeliveries(e *env) {
	e.putOwner(acme)
	e.endpoint("1", nil)
	e.endpoint("failed", func(w *webhook.Endpoint) { w.States = []task.State{task.Failed} })
	sweep := func() []string {
		s, err := e.Store.Sweep(e.Context(), store.SweepRequest{Limit: 10, Waiting: 3})
		e.wantErr("Sweep", err, nil)
		return s.Disabled
	}
	e.ended("key-0")
	e.ended("key-1")
	e.wantErr("EndDelivery", e.hooks().EndDelivery(e.Context(), e.claimDeliveries(store.DeliveryClaim{Limit: 1})[0].Ref,
		store.DeliveryOutcome{State: webhook.Delivered}), nil)
	e.ended("key-2")
	e.ended("key-3")
	e.wantSame("with as many as may wait", sweep(), []string(nil))
	e.ended("key-4")
	e.wantSame("with one more", sweep(), []string{"whe_1"})
	at := e.clock.Now()
	e.again()
	e.ended("key-5")
	got, err := e.hooks().GetEndpoint(e.Context(), acme, "whe_1")
	e.wantErr("GetEndpoint", err, nil)
	e.wantSame("why it is disabled", got.Disabled, webhook.DisabledFull)
	if got.Since == nil || !got.Since.Equal(at) {
		e.Errorf("disabled since %v, want %v", got.Since, at)
	}
	e.wantSame("its deliveries", len(e.deliveries("whe_1")), 5)
	e.wantSame("a second sweep", sweep(), []string(nil))
	_, err = e.hooks().UpdateEndpoint(e.Context(), "whe_1", func(w *webhook.Endpoint) error {
		w.SetDisabled("", e.clock.Now().UTC())
		return nil
	})
	e.wantErr("UpdateEndpoint", err, nil)
	e.lapse(59 * time.Minute)
	e.wantSame("within an hour after it was opened", sweep(), []string(nil))
	e.wantSame("to be claimed", len(e.claimDeliveries(store.DeliveryClaim{})), 4)
	e.lapse(2 * time.Minute)
	e.wantSame("after it", sweep(), []string{"whe_1"})
	_, err = e.hooks().UpdateEndpoint(e.Context(), "whe_1", func(w *webhook.Endpoint) error {
		w.SetDisabled("", e.clock.Now().UTC())
		return nil
	})
	e.wantErr("UpdateEndpoint", err, nil)
	e.ended("key-6")
	e.ended("key-7")
	e.wantSame("opened again with twice as many", sweep(), []string(nil))
	e.ended("key-8")
	e.wantSame("with one more than that", sweep(), []string{"whe_1"})
}

// testDeliveriesByState: a page of one state looks at so many deliveries, and the next one goes on after them.
func testDeliveriesByState(e *env) {
	e.putOwner(acme)
	e.endpoint("1", nil)
	var events []string
	for i := range 7 {
		events = append(events, e.ended(fmt.Sprint("key-", i)))
	}
	for _, c := range e.claimDeliveries(store.DeliveryClaim{Limit: 2}) {
		e.wantErr("EndDelivery", e.hooks().EndDelivery(e.Context(), c.Ref, store.DeliveryOutcome{State: webhook.Failed}), nil)
	}
	list := func(state webhook.DeliveryState, look int) (pages [][]string) {
		q := store.DeliveryQuery{Scope: acme, Endpoint: "whe_1", State: state, Limit: 2, Look: look}
		for range 10 {
			page, err := e.hooks().ListDeliveries(e.Context(), q)
			e.wantErr("ListDeliveries", err, nil)
			var ids []string
			for _, d := range page.Deliveries {
				ids = append(ids, d.Event.ID)
			}
			pages = append(pages, ids)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		return pages
	}
	e.wantSame("at the end", list(webhook.Failed, 0), [][]string{{events[1], events[0]}})
	e.wantSame("three at a time", list(webhook.Failed, 3), [][]string{nil, {events[1]}, {events[0]}})
	e.wantSame("all in one", list(webhook.Failed, 7), [][]string{{events[1], events[0]}})
	e.wantSame("a full page", list(webhook.Waiting, 3), [][]string{{events[6], events[5]}, {events[4], events[3]}, {events[2]}})
}

// testDeliveryGauges: those that wait are counted, and the age of the first that is due and may be sent.
func testDeliveryGauges(e *env) {
	of, ok := e.Store.(store.Gauger)
	if !ok {
		e.Skip("the engine has no gauges")
	}
	e.putOwner(acme)
	e.endpoint("listener", func(w *webhook.Endpoint) { w.URL = "" })
	e.ended("key-0")
	e.lapse(time.Hour)
	e.endpoint("1", nil)
	e.ended("key-1")
	e.ended("key-2")
	e.lapse(time.Minute)
	e.claimDeliveries(store.DeliveryClaim{Limit: 1})
	got, err := of.Gauges(e.Context())
	e.wantErr("Gauges", err, nil)
	e.wantSame("that wait", got.Waiting, int64(5))
	e.wantSame("the first that is due", got.Overdue.Round(time.Second), time.Minute)
}
