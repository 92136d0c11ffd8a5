package storetest

import (
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// testTell: a notice is a delivery, once for each mark and endpoint, whoever tells it how often, and also after a crash; a
// disabled endpoint isn't told, until it is enabled.
func testTell(e *env) {
	e.putOwner(acme)
	e.endpoint("a", nil)
	e.endpoint("b", func(w *webhook.Endpoint) { w.Disabled = webhook.DisabledAsked })
	number := 0
	var mu sync.Mutex
	tell := func(endpoint, mark string) error {
		mu.Lock()
		number++
		id := task.NewID(webhook.PrefixBudget, e.clock.Now().Add(time.Duration(number)*time.Millisecond)) + ".0"
		mu.Unlock()
		return e.hooks().Tell(e.Context(), store.Notice{
			Endpoint: endpoint, Mark: mark, Lasts: time.Hour,
			Event: webhook.Event{ID: id, Budget: &webhook.Budget{Account: acme.Account, Amount: 5, Spent: 4, Percent: 80, Period: "day", Ends: e.clock.Now().UTC()}},
		})
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { e.wantErr("Tell", tell("whe_a", "key:1:2026-11-21:80"), nil) })
	}
	all.Wait()
	e.wantErr("another mark", tell("whe_a", "key:1:2026-11-21:100"), nil)
	e.wantErr("a disabled endpoint", tell("whe_b", "key:1:2026-11-21:80"), nil)
	e.wantErr("an unknown endpoint", tell("whe_c", "key:1:2026-11-21:80"), store.ErrNotFound)
	told := e.deliveries("whe_a")
	e.wantSame("deliveries", len(told), 2)
	e.wantSame("deliveries to a disabled endpoint", len(e.deliveries("whe_b")), 0)
	e.wantSame("the event", *told[0].Event.Budget, webhook.Budget{Account: acme.Account, Amount: 5, Spent: 4, Percent: 80, Period: "day", Ends: e.clock.Now().UTC()})
	if now := e.clock.Now(); told[0].Event.At.Sub(now).Abs() > time.Minute {
		e.Errorf("told at %s, now is %s", told[0].Event.At, now)
	}

	if e.Crash != nil {
		e.crash()
	}
	marks := []store.Counter{
		store.Notice{Endpoint: "whe_a", Mark: "key:1:2026-11-21:80"}.Told(), store.Notice{Endpoint: "whe_b", Mark: "key:1:2026-11-21:80"}.Told(),
	}
	held, err := e.Registry.Held(e.Context(), marks)
	e.wantErr("Held", err, nil)
	e.wantSame("marks", held, []int64{1, 0})
	e.wantErr("told again", tell("whe_a", "key:1:2026-11-21:80"), nil)
	e.wantSame("deliveries after it was told again", len(e.deliveries("whe_a")), 2)
	_, err = e.hooks().UpdateEndpoint(e.Context(), "whe_b", func(w *webhook.Endpoint) error {
		w.Disabled = ""
		return nil
	})
	e.wantErr("UpdateEndpoint", err, nil)
	e.wantErr("an enabled endpoint", tell("whe_b", "key:1:2026-11-21:80"), nil)
	e.wantSame("claimed", len(e.claimDeliveries(store.DeliveryClaim{Node: "n"})), 3)
}
