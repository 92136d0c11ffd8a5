package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

func webhookTopics() []topic {
	return []topic{
		{"webhooks' endpoints", testEndpoints},
		{"the most endpoints", testMostEndpoints},
		{"deliveries of ends", testDeliveries},
		{"a delivery's life", testDeliveryLife},
		{"deliveries take turns", testDeliveryTurns},
		{"deliveries of an account", testDeliveryShare},
		{"too many deliveries", testTooManyDeliveries},
		{"deliveries of a state", testDeliveriesByState},
		{"gauges of deliveries", testDeliveryGauges},
		{"notices are told once", testTell},
		{"deliveries sweep", testDeliverySweep},
		{"deliveries that wait are counted", testBacklog},
	}
}

// hooks returns the engine's endpoints and deliveries.
func (e *env) hooks() store.Webhooks {
	e.Helper()
	return e.Registry
}

// putOwner records the account of a scope.
func (e *env) putOwner(s task.Scope) {
	e.Helper()
	a := account.Account{ID: s.Account, Name: s.Account, CreatedAt: e.clock.Now()}
	e.wantErr("PutAccount", e.Registry.PutAccount(e.Context(), a), nil)
}

// endpoint records an endpoint of acme, changed by what.
func (e *env) endpoint(id string, change func(*webhook.Endpoint)) webhook.Endpoint {
	e.Helper()
	made := webhook.Endpoint{ID: "whe_" + id, Scope: acme, URL: "https://example.com/" + id, Generation: 1, CreatedAt: e.clock.Now().UTC()}
	if change != nil {
		change(&made)
	}
	e.wantErr("PutEndpoint", e.hooks().PutEndpoint(e.Context(), made), nil)
	return made
}

func (e *env) claimDeliveries(c store.DeliveryClaim) []store.Claimed {
	e.Helper()
	if c.Lease == 0 {
		c.Lease = time.Minute
	}
	if c.Limit == 0 {
		c.Limit = 100
	}
	if c.Each == 0 {
		c.Each = 100
	}
	claimed, err := e.hooks().ClaimDeliveries(e.Context(), c)
	if err != nil {
		e.Fatalf("ClaimDeliveries: %v", err)
	}
	return claimed
}

// named returns deliveries as "endpoint event", in their order.
func named(claimed []store.Claimed) []string {
	var names []string
	for _, c := range claimed {
		names = append(names, c.Delivery.Endpoint+" "+c.Delivery.Event.ID)
	}
	return names
}

func (e *env) deliveries(endpoint string) []webhook.Delivery {
	e.Helper()
	page, err := e.hooks().ListDeliveries(e.Context(), store.DeliveryQuery{Scope: acme, Endpoint: endpoint})
	if err != nil || page.Next != "" {
		e.Fatalf("ListDeliveries: next %q, %v", page.Next, err)
	}
	return page.Deliveries
}

// again continues on the state that a crash leaves, if the engine is durable.
func (e *env) again() {
	e.Helper()
	if e.Crash != nil {
		e.crash()
		e.session()
	}
}

func testEndpoints(e *env) {
	h, ctx := e.hooks(), e.Context()
	made := webhook.Endpoint{ID: "whe_1", Scope: acme, URL: "https://example.com/", CreatedAt: e.clock.Now().UTC()}
	e.wantErr("an unknown account", h.PutEndpoint(ctx, made), store.ErrNotFound)
	e.putOwner(acme)
	other := task.Scope{Account: acme.Account, Mode: task.Test}
	made = e.endpoint("1", func(w *webhook.Endpoint) { w.Capabilities, w.States = []string{"text.*"}, []task.State{task.Failed} })
	test := e.endpoint("0", func(w *webhook.Endpoint) { w.Scope = other })
	e.wantErr("an id that is taken", h.PutEndpoint(ctx, made), store.ErrExists)
	e.again()
	h = e.hooks()
	got, err := h.GetEndpoint(ctx, acme, made.ID)
	e.wantErr("GetEndpoint", err, nil)
	e.wantSame("an endpoint", got, made)
	_, err = h.GetEndpoint(ctx, other, made.ID)
	e.wantErr("one of another scope", err, store.ErrNotFound)
	for s, want := range map[task.Scope][]webhook.Endpoint{{}: {test, made}, acme: {made}, {Account: "acct_no", Mode: task.Live}: {}} {
		all, err := h.ListEndpoints(ctx, s)
		e.wantErr("ListEndpoints", err, nil)
		e.wantSame("endpoints", all, want)
	}
	changed, err := h.UpdateEndpoint(ctx, made.ID, func(w *webhook.Endpoint) error { w.Disabled = webhook.DisabledAsked; return nil })
	e.wantErr("UpdateEndpoint", err, nil)
	made.Disabled = webhook.DisabledAsked
	e.wantSame("a changed endpoint", changed, made)
	broken := errors.New("no")
	_, err = h.UpdateEndpoint(ctx, made.ID, func(w *webhook.Endpoint) error { w.URL = ""; return broken })
	e.wantErr("a change that fails", err, broken)
	_, err = h.UpdateEndpoint(ctx, made.ID, func(w *webhook.Endpoint) error { w.Scope = other; return nil })
	if err == nil {
		e.Error("an endpoint changed its scope")
	}
	_, err = h.UpdateEndpoint(ctx, "whe_no", func(*webhook.Endpoint) error { return nil })
	e.wantErr("an unknown one changed", err, store.ErrNotFound)
	e.wantErr("an unknown one deleted", h.DeleteEndpoint(ctx, "whe_no"), store.ErrNotFound)
	e.wantErr("DeleteEndpoint", h.DeleteEndpoint(ctx, test.ID), nil)
	e.again()
	all, err := e.hooks().ListEndpoints(ctx, task.Scope{})
	e.wantErr("ListEndpoints", err, nil)
	e.wantSame("what is left", all, []webhook.Endpoint{made})
}

// testDeliveries: each end of a task has a delivery for each endpoint that wants it, whichever way it ended, through a
// reopening and a crash.
func testDeliveries(e *env) {
	e.putOwner(acme)
	e.endpoint("all", nil)
	e.endpoint("failed", func(w *webhook.Endpoint) { w.States = []task.State{task.Failed} })
	e.endpoint("images", func(w *webhook.Endpoint) { w.Capabilities = []string{"image.*"} })
	e.endpoint("off", func(w *webhook.Endpoint) { w.Disabled = webhook.DisabledAsked })
	e.endpoint("test", func(w *webhook.Endpoint) { w.Scope.Mode = task.Test })
	n := e.request("a")
	n.RequestID, n.Metadata = "req_1", task.Metadata{"team": "search"}
	e.create(n)
	e.wantSame("before an end", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
	e.begin(e.claimOne(chat), plan("s", 0))
	ended := e.advance(e.expire(), failed(task.Rejected))
	e.again()
	got := e.claimDeliveries(store.DeliveryClaim{})
	e.wantSame("a failure", named(got), []string{"whe_all " + n.ID + ".0", "whe_failed " + n.ID + ".0"})
	e.wantSame("its event", got[0].Delivery.Event, webhook.Event{
		ID: n.ID + ".0", TaskID: n.ID, Capability: chat, State: task.Failed, Code: ended.Failure.Code, RequestID: "req_1",
		Metadata: n.Metadata, At: *ended.FinishedAt,
	})
	e.wantSame("its endpoint", got[0].Endpoint.URL, "https://example.com/all")

	for _, c := range got {
		done := store.DeliveryOutcome{State: webhook.Delivered}
		e.wantErr("EndDelivery", e.hooks().EndDelivery(e.Context(), c.Ref, done), nil)
	}
	e.show(ended)
	again := e.request("a")
	again.RequestID = "req_2"
	e.wantSame("reopened", e.create(again).Admit, store.AdmitReopened)
	e.begin(e.claimOne(chat), plan("s", 0))
	e.advance(e.expire(), succeeded(task.Usage{}))
	canceled := e.request("b")
	canceled.Capability = image
	e.create(canceled)
	if _, err := e.Store.RequestCancel(e.Context(), acme, canceled.ID); err != nil {
		e.Fatal(err)
	}
	e.again()
	names := named(e.claimDeliveries(store.DeliveryClaim{}))
	slices.Sort(names)
	e.wantSame("an end after a reopening, and a cancellation", names, []string{
		"whe_all " + n.ID + ".1", "whe_all " + canceled.ID + ".0", "whe_images " + canceled.ID + ".0",
	})
	all := e.deliveries("whe_all")
	e.wantSame("all there are", len(all), 3)
	e.wantSame("the newest task first", all[0].Event.ID, canceled.ID+".0")
	e.wantSame("the last request", all[1].Event.RequestID, "req_2")
	if page, err := e.hooks().ListDeliveries(e.Context(), store.DeliveryQuery{Scope: task.Scope{Account: "acct_no", Mode: task.Live}, Endpoint: "whe_all"}); err != nil || len(page.Deliveries) != 0 {
		e.Errorf("deliveries of another account: %+v, %v", page, err)
	}
	page, err := e.hooks().ListDeliveries(e.Context(), store.DeliveryQuery{Scope: acme, Endpoint: "whe_all", Limit: 2})
	e.wantErr("ListDeliveries", err, nil)
	e.wantSame("a page", page, store.DeliveryPage{Deliveries: all[:2], Next: all[1].Event.ID})
	page, err = e.hooks().ListDeliveries(e.Context(), store.DeliveryQuery{Scope: acme, Endpoint: "whe_all", Limit: 2, Cursor: page.Next})
	e.wantErr("ListDeliveries", err, nil)
	e.wantSame("the next page", page, store.DeliveryPage{Deliveries: all[2:]})
}

// ended makes a task that ends at once, and returns its event.
func (e *env) ended(key string) string {
	e.Helper()
	n := e.request(key)
	e.create(n)
	if _, err := e.Store.RequestCancel(e.Context(), acme, n.ID); err != nil {
		e.Fatal(err)
	}
	return n.ID + ".0"
}

// testDeliveryLife: a delivery is claimed, fails, waits, is claimed again after its pause or its lease, ends, and can be
// replayed.
func testDeliveryLife(e *env) {
	e.putOwner(acme)
	e.endpoint("1", nil)
	h, ctx := e.hooks(), e.Context()
	event := e.ended("a")
	first := e.claimDeliveries(store.DeliveryClaim{})
	e.wantSame("claimed", named(first), []string{"whe_1 " + event})
	e.wantSame("claimed by another", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
	attempt := webhook.Attempt{At: e.clock.Now().UTC(), Took: time.Second, Status: 500}
	out := store.DeliveryOutcome{Attempt: attempt, State: webhook.Waiting, Pause: 10 * time.Minute}
	e.wantErr("EndDelivery", h.EndDelivery(ctx, first[0].Ref, out), nil)
	e.wantErr("EndDelivery once more", h.EndDelivery(ctx, first[0].Ref, out), store.ErrFenced)
	e.lapse(9 * time.Minute)
	e.wantSame("within its pause", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
	e.again()
	h = e.hooks()
	e.lapse(2 * time.Minute)
	second := e.claimDeliveries(store.DeliveryClaim{Lease: time.Minute})
	e.wantSame("after its pause", named(second), []string{"whe_1 " + event})
	e.wantSame("its attempts", second[0].Delivery.Attempts, []webhook.Attempt{attempt})
	e.lapse(2 * time.Minute)
	third := e.claimDeliveries(store.DeliveryClaim{})
	e.wantSame("after its lease", named(third), []string{"whe_1 " + event})
	done := store.DeliveryOutcome{Attempt: attempt, State: webhook.Delivered}
	e.wantErr("EndDelivery under a lease that was lost", h.EndDelivery(ctx, second[0].Ref, done), store.ErrFenced)
	e.wantErr("EndDelivery", h.EndDelivery(ctx, third[0].Ref, done), nil)
	unknown := third[0].Ref
	unknown.Event = task.NewID(task.PrefixTask, e.clock.Now()) + ".0"
	e.wantErr("EndDelivery of an unknown one", h.EndDelivery(ctx, unknown, done), store.ErrNotFound)
	e.lapse(time.Hour)
	e.wantSame("once delivered", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
	e.wantSame("its end", e.deliveries("whe_1")[0].State, webhook.Delivered)

	e.wantErr("Replay for another account", h.Replay(ctx, task.Scope{Account: "acct_no", Mode: task.Live}, "whe_1", event), store.ErrNotFound)
	e.wantErr("Replay of an unknown one", h.Replay(ctx, acme, "whe_1", unknown.Event), store.ErrNotFound)
	e.wantErr("Replay", h.Replay(ctx, acme, "whe_1", event), nil)
	e.again()
	h = e.hooks()
	replayed := e.claimDeliveries(store.DeliveryClaim{})
	e.wantSame("replayed", len(replayed[0].Delivery.Attempts), 2)
	e.wantSame("its tries", replayed[0].Delivery.Tries(), 0)
	e.wantErr("Replay of one under way", h.Replay(ctx, acme, "whe_1", event), nil)
	e.wantErr("EndDelivery after it was replayed", h.EndDelivery(ctx, replayed[0].Ref, done), store.ErrFenced)
	e.wantSame("due again", named(e.claimDeliveries(store.DeliveryClaim{})), []string{"whe_1 " + event})
	for range 25 {
		e.wantErr("Replay", h.Replay(ctx, acme, "whe_1", event), nil)
		e.wantErr("EndDelivery", h.EndDelivery(ctx, e.claimDeliveries(store.DeliveryClaim{})[0].Ref, done), nil)
	}
	e.wantSame("attempts that are remembered", len(e.deliveries("whe_1")[0].Attempts), 20)
	e.wantSame("tries of them", e.deliveries("whe_1")[0].Tries(), 1)
	e.wantErr("Replay", h.Replay(ctx, acme, "whe_1", event), nil)
	skipped := store.DeliveryOutcome{State: webhook.Canceled}
	e.wantErr("EndDelivery without an attempt", h.EndDelivery(ctx, e.claimDeliveries(store.DeliveryClaim{})[0].Ref, skipped), nil)
	e.wantSame("its state", e.deliveries("whe_1")[0].State, webhook.Canceled)
	e.wantErr("Replay", h.Replay(ctx, acme, "whe_1", event), nil)
	e.wantErr("DeleteEndpoint", h.DeleteEndpoint(ctx, "whe_1"), nil)
	e.lapse(time.Hour)
	e.wantSame("of an endpoint that was deleted", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
	e.wantSame("shown", len(e.deliveries("whe_1")), 0)
}

// testDeliveryTurns: endpoints take turns, one with many deliveries doesn't hold up another, and none has more of them at
// once than it may.
func testDeliveryTurns(e *env) {
	e.putOwner(acme)
	e.endpoint("a", nil)
	var events []string
	for i := range 6 {
		events = append(events, e.ended(fmt.Sprint("key-", i)))
		e.clock.Advance(time.Millisecond)
	}
	e.endpoint("b", nil)
	e.endpoint("listener", func(w *webhook.Endpoint) { w.URL = "" })
	events = append(events, e.ended("key-6"))
	e.wantSame("in turns", named(e.claimDeliveries(store.DeliveryClaim{Limit: 3})), []string{
		"whe_a " + events[0], "whe_b " + events[6], "whe_a " + events[1],
	})
	e.wantSame("with those under way", named(e.claimDeliveries(store.DeliveryClaim{Each: 4})), []string{"whe_a " + events[2], "whe_a " + events[3]})
	e.wantSame("at its most", named(e.claimDeliveries(store.DeliveryClaim{Each: 4})), []string(nil))
	e.wantSame("passed over", named(e.claimDeliveries(store.DeliveryClaim{Skip: []string{"whe_a"}})), []string(nil))
	e.wantSame("a listener's", named(e.claimDeliveries(store.DeliveryClaim{Endpoint: "whe_listener"})), []string{"whe_listener " + events[6]})
	disable := func(why webhook.Disabled) {
		_, err := e.hooks().UpdateEndpoint(e.Context(), "whe_a", func(w *webhook.Endpoint) error { w.Disabled = why; return nil })
		e.wantErr("UpdateEndpoint", err, nil)
	}
	disable(webhook.DisabledGone)
	e.wantSame("of a disabled one", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
	disable("")
	e.wantSame("once it is enabled", named(e.claimDeliveries(store.DeliveryClaim{})), []string{
		"whe_a " + events[4], "whe_a " + events[5], "whe_a " + events[6],
	})
	e.lapse(time.Hour)
	e.wantSame("leases that ran out, in their order", named(e.claimDeliveries(store.DeliveryClaim{Limit: 2, Skip: []string{"whe_b"}})), []string{
		"whe_a " + events[0], "whe_a " + events[1],
	})
	for _, topic := range store.TopicsOfDelivery("whe_b") {
		bell, stop := e.Store.Wake(topic)
		e.ended("key-7 " + topic)
		select {
		case <-bell:
		case <-time.After(10 * time.Second):
			e.Errorf("an end rang no bell for %q", topic)
		}
		stop()
	}
}

// testDeliverySweep: deliveries go a week after they ended or were to be sent, listeners with theirs when their time is over.
func testDeliverySweep(e *env) {
	e.putOwner(acme)
	e.endpoint("1", nil)
	e.endpoint("listener", func(w *webhook.Endpoint) { w.URL, w.ExpiresAt = "", new(w.CreatedAt.Add(time.Hour)) })
	for i := range 5 {
		e.ended(fmt.Sprint("key-", i))
		e.clock.Advance(time.Millisecond)
	}
	for i, c := range e.claimDeliveries(store.DeliveryClaim{Limit: 2}) {
		out := store.DeliveryOutcome{State: webhook.Delivered}
		if i == 1 {
			out = store.DeliveryOutcome{State: webhook.Waiting, Pause: 24 * time.Hour}
		}
		e.wantErr("EndDelivery", e.hooks().EndDelivery(e.Context(), c.Ref, out), nil)
	}
	e.sweep(0, 3)
	e.wantSame("at first", len(e.deliveries("whe_1")), 5)
	e.lapse(2 * time.Hour)
	e.sweep(0, 3)
	e.wantSame("a listener's, after its time", len(e.deliveries("whe_listener")), 0)
	_, err := e.hooks().GetEndpoint(e.Context(), acme, "whe_listener")
	e.wantErr("a listener after its time", err, store.ErrNotFound)
	e.wantSame("those with an address", len(e.deliveries("whe_1")), 5)
	e.lapse(store.DeliveryLife - time.Hour)
	e.sweep(0, 3)
	e.again()
	e.wantSame("a week later", len(e.deliveries("whe_1")), 1)
	e.lapse(25 * time.Hour)
	e.sweep(0, 3)
	e.wantSame("a day later", len(e.deliveries("whe_1")), 0)
	e.wantSame("to be claimed", named(e.claimDeliveries(store.DeliveryClaim{})), []string(nil))
}
