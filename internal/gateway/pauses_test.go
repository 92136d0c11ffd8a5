package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
)

// TestPausedSupplier: a paused supplier gets no work, at this node at once, at another within two seconds and after a
// restart from the first request on; and gets it again once it is resumed. A chat without another route may be retried.
func TestPausedSupplier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cheap, dear := &script{submitFn: answer("cheap")}, &script{submitFn: answer("dear")}
		w := newWorld(t, []routing.Route{route("text.chat", "cheap", 1, cheap), route("text.chat", "dear", 2, dear)})
		w.engine = memstore.Shared{DB: w.store}
		w.start()
		first := w.g
		second := w.node()
		ctx := t.Context()
		goesTo := func(g *gateway.Gateway, key, want string) {
			t.Helper()
			w.g = g
			if got := w.create(key, chat, time.Minute).Task; len(got.Attempts) != 1 || got.Attempts[0].Supplier != want {
				t.Errorf("%s: %+v, want %s", key, got.Attempts, want)
			}
		}
		pause := func(supplier string) {
			t.Helper()
			if err := w.store.PutPause(ctx, store.Pause{Supplier: supplier, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			if err := first.ReadPauses(ctx); err != nil {
				t.Fatal(err)
			}
		}
		goesTo(first, "before-the-pause", "cheap")
		pause("cheap")
		goesTo(first, "paused-at-this-node", "dear")
		time.Sleep(2 * time.Second)
		goesTo(second, "paused-at-another", "dear")
		mustStop(t, second)
		second = w.node()
		goesTo(second, "after-a-restart", "dear")

		pause("dear")
		time.Sleep(2 * time.Second)
		w.g = first
		refused := w.create("all-are-paused", chat, time.Minute).Task
		if len(refused.Attempts) > 0 || refused.Failure == nil || refused.Failure.Code != fault.CapacityExhausted || !refused.Failure.Retryable {
			t.Errorf("with all paused: %+v after %+v", refused.Failure, refused.Attempts)
		}
		for _, name := range []string{"cheap", "dear"} {
			if err := w.store.DeletePause(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		goesTo(second, "resumed-at-another", "cheap")
		mustStop(t, first)
		mustStop(t, second)
	})
}

// TestResetSupplier: a reset has a tripped supplier tried at once.
func TestResetSupplier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		cheap, dear := &script{}, &script{submitFn: answer("dear")}
		cheap.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
			if fails {
				return refuse(supplier.NotSent, fault.ProviderUnavailable)(n, r)
			}
			return text("cheap"), nil
		}
		w := newWorld(t, []routing.Route{route("text.chat", "cheap", 1, cheap), route("text.chat", "dear", 2, dear)})
		w.start()
		defer w.stop()
		for i := range 5 {
			w.create("failing-"+string(rune('a'+i))+"-0001", chat, time.Minute)
		}
		fails = false
		if got := w.create("tripped-0001", chat, time.Minute).Task; got.Attempts[0].Supplier != "dear" {
			t.Fatalf("it isn't tripped: %+v", got.Attempts)
		}
		w.g.Reset("cheap")
		if got := w.create("reset-00001", chat, time.Minute).Task; got.Attempts[0].Supplier != "cheap" {
			t.Errorf("after the reset: %+v", got.Attempts)
		}
	})
}

// asked is a supplier that can be asked without cost, with the error that it answers.
type asked struct {
	*script

	refuses error
}

func (a asked) Probe(context.Context) (bool, error) { return true, a.refuses }

// TestReach: asking a supplier makes no submission and leaves its routes as they stand, whatever it answers: it does not
// trip a breaker, or close one.
func TestReach(t *testing.T) {
	refusal := &supplier.Error{Fault: fault.New(fault.ProviderUnavailable, "away"), Sent: supplier.Refused, Operator: true, Status: 401}
	refusing := func(int, supplier.Request) (supplier.Outcome, error) { return supplier.Outcome{}, refusal }
	open, tripped, mute := &script{}, &script{submitFn: refusing}, &script{}
	inWorld(t, []routing.Route{
		route("text.chat", "open", 1, asked{open, refusal}), route("text.embed", "tripped", 1, asked{tripped, nil}), route("image.generate", "mute", 1, mute),
	}, func(w *world) {
		w.create("trips-its-route", `{"capability":"text.embed","input":{"texts":["a"]}}`, time.Minute)
		before := w.g.Routes()
		if before[2].Reason == "" {
			t.Fatalf("it isn't tripped: %+v", before[2])
		}
		for range 10 {
			keyed, _, err := w.g.Reach(t.Context(), "open")
			if e := supplier.AsError(err); !keyed || e.Status != 401 {
				t.Errorf("keyed %v, %v", keyed, err)
			}
			if keyed, _, err := w.g.Reach(t.Context(), "tripped"); !keyed || err != nil {
				t.Errorf("keyed %v, %v", keyed, err)
			}
		}
		if _, _, err := w.g.Reach(t.Context(), "mute"); !errors.Is(err, errors.ErrUnsupported) {
			t.Error("without a way to ask:", err)
		}
		if diff := cmp.Diff(before, w.g.Routes()); diff != "" {
			t.Errorf("the routes stand otherwise (-before +after):\n%s", diff)
		}
		if n := len(open.submits) + len(tripped.submits) + len(mute.submits); n != 1 {
			t.Errorf("%d submissions, want that of the task alone", n)
		}
	})
}
