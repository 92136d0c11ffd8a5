package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
	"unitask/test/crash/invariant"
)

// untold is the rule that an endpoint hears of each end that it wants, once for each.
const untold invariant.Rule = "untold"

// addEndpoints lets each account hear of its tasks' ends, every second one of those that aren't successes alone.
func (w *world) addEndpoints() {
	seen := map[task.Scope]bool{}
	for _, c := range w.customers {
		if seen[c.scope] {
			continue
		}
		e := webhook.Endpoint{ID: "whe_" + strconv.Itoa(len(seen)), Scope: c.scope, URL: "https://example.com/", Generation: 1, CreatedAt: time.Now().UTC()}
		if len(seen)%2 == 1 {
			e.States = []task.State{task.Failed, task.Canceled}
		}
		if err := w.db.PutEndpoint(context.Background(), e); err != nil {
			w.t.Fatal(err)
		}
		seen[c.scope] = true
	}
}

// checkDeliveries checks the run against untold: a task has as many ends as its timeline.
func (w *world) checkDeliveries() (broken []invariant.Violation) {
	endpoints, err := w.db.ListEndpoints(context.Background(), task.Scope{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range endpoints {
		got := w.deliveriesTo(e)
		for _, r := range w.records {
			if !r.seen.Found || r.customer.scope != e.Scope {
				continue
			}
			for _, event := range w.endsOf(e, r.seen.Final.ID) {
				if got[event] != 1 {
					broken = append(broken, invariant.Violation{Rule: untold, Key: r.seen.Key, Detail: fmt.Sprintf("%d deliveries of %s", got[event], event)})
				}
				delete(got, event)
			}
		}
		for event := range got {
			broken = append(broken, invariant.Violation{Rule: untold, Key: e.ID, Detail: "a delivery of no end: " + event})
		}
	}
	return broken
}

// endsOf returns the events of a task's ends that the endpoint wants, with their states.
func (w *world) endsOf(e webhook.Endpoint, id string) (events []string) {
	t, err := w.db.GetTask(context.Background(), e.Scope, id)
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, m := range t.Timeline {
		if !m.State.Terminal() {
			continue
		}
		if len(e.States) == 0 || slices.Contains(e.States, m.State) {
			events = append(events, fmt.Sprintf("%s.%d %s", id, n, m.State))
		}
		n++
	}
	return events
}

// deliveriesTo counts the deliveries of each event.
func (w *world) deliveriesTo(e webhook.Endpoint) map[string]int {
	got := map[string]int{}
	for q := (store.DeliveryQuery{Scope: e.Scope, Endpoint: e.ID}); ; {
		page, err := w.db.ListDeliveries(context.Background(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range page.Deliveries {
			got[d.Event.ID+" "+string(d.Event.State)]++
		}
		if page.Next == "" {
			return got
		}
		q.Cursor = page.Next
	}
}
