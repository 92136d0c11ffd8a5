package gateway_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestMixedFleet has an attempt taken over by a node without its route: while another node runs something else, the
// attempt is left to it; once all run the same, its outcome is unknown.
func TestMixedFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := findable{jobs{&script{submitFn: job("j"), pollFn: goesOn}}, true}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		e := memstore.Shared{DB: w.store}
		w.engine = e
		if err := e.Renew(t.Context(), "another", time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Exchange(t.Context(), "another", []byte(`{"runs":"other settings"}`)); err != nil {
			t.Fatal(err)
		}
		id := w.leave("image.generate", `{"prompt":"a fox"}`).Ref.TaskID
		w.routes = nil
		time.Sleep(59*time.Second + 500*time.Millisecond) // the session that left it runs out just after the start
		w.start()
		defer w.stop()
		time.Sleep(5 * time.Minute)
		if got := w.get(id); got.OpenAttempt() == nil || got.Takeovers != 0 {
			t.Errorf("while another node may have the route: %+v", outcomeOf(got))
		}
		if all := w.g.Fleet(); len(all) != 2 || all["other settings"] != 1 {
			t.Errorf("the fleet: %v", all)
		}
		if err := e.Renew(t.Context(), "another", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if got := w.get(id); got.State != task.Failed || codeOf(got) != fault.ProviderTimeout {
			t.Errorf("once all nodes run the same: %+v", outcomeOf(got))
		}
	})
}

// TestCancelThroughAnotherNode cancels in the store: the worker hears of it.
func TestCancelThroughAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &script{submitFn: answer("hi"), takes: time.Minute}
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, slow)})
		w.engine = memstore.Shared{DB: w.store}
		w.start()
		defer w.stop()
		id := w.create("canceled-elsewhere", chat, 0).Task.ID
		time.Sleep(2 * time.Second)
		if _, err := w.store.RequestCancel(t.Context(), w.caller.Scope(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := w.get(id); got.State != task.Canceled {
			t.Errorf("a second later it is %s", got.State)
		}
	})
}

// TestTrippedAtAnotherNode has all of one node's requests fail: after its next exchange the other sends its own elsewhere,
// without having failed itself, and once a probe worked both go back.
func TestTrippedAtAnotherNode(t *testing.T) {
	works := false
	cheap, dear := &script{}, &script{submitFn: answer("dear")}
	cheap.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
		if works {
			return text("cheap"), nil
		}
		return refuse(supplier.Unknown, fault.ProviderTimeout)(n, r)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "cheap", 1, cheap), route("text.chat", "dear", 2, dear)})
		w.engine = memstore.Shared{DB: w.store}
		w.start()
		first := w.g
		time.Sleep(700 * time.Millisecond)
		second := w.node() // its exchanges are 700 ms after those of the first
		defer mustStop(t, first)
		defer mustStop(t, second)
		time.Sleep(650 * time.Millisecond)
		supplierOf := func(g *gateway.Gateway, key string) string {
			w.g = g
			return w.create(key, chat, time.Minute).Task.Attempts[0].Supplier
		}
		for i := range 5 {
			if got := supplierOf(first, fmt.Sprintf("failing-%04d", i)); got != "cheap" {
				t.Fatalf("request %d goes to %s", i, got)
			}
		}
		time.Sleep(700 * time.Millisecond) // the first doesn't wait for its second to be over before it says so
		if got := supplierOf(second, "elsewhere"); got != "dear" {
			t.Errorf("the other node's request goes to %s", got)
		}
		works = true
		probes := 0
		for i := range 20 {
			for n, g := range []*gateway.Gateway{first, second} {
				if supplierOf(g, fmt.Sprintf("probing-%d-%04d", n, i)) == "cheap" {
					probes++
				}
			}
			if time.Sleep(time.Second); probes > 0 {
				break
			}
		}
		time.Sleep(2 * time.Second)
		for n, g := range []*gateway.Gateway{first, second} {
			if got := supplierOf(g, fmt.Sprintf("well-again-%d", n)); got != "cheap" {
				t.Errorf("after a probe that worked node %d's request goes to %s", n, got)
			}
		}
	})
}
