package gateway_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestNodeWhoseSessionBeginsLate fails the first renewals, of a session with and without an end: the node takes tasks
// meanwhile, and works on them once it has a session.
func TestNodeWhoseSessionBeginsLate(t *testing.T) {
	for name, term := range map[string]time.Duration{"half a minute": 30 * time.Second, "without an end": 100 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{submitFn: answer("hello")}
				w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
				w.limits.LeaseTerm = term
				var tries atomic.Int64
				w.engine = &tampered{Store: w.store, renewFunc: func(_ context.Context, renew func() error) error {
					if tries.Add(1) <= 5 {
						return errors.New("no connection")
					}
					return renew()
				}}
				w.start()
				defer w.stop()
				got := w.create("late-start", chat, 0).Task
				if got.State != task.Queued {
					t.Errorf("without a session the task is %s", got.State)
				}
				time.Sleep(10 * time.Second)
				w.expect(w.get(got.ID), outcome{task.Succeeded, "", 2, []attemptOutcome{{"a", task.OK, "", 2, false}}})
				w.expectSent(s, got.ID+"/1")
			})
		})
	}
}

// TestNodeWhoseSessionIsOverGoesOn ends the session behind the node's back: at its next beat it takes another name,
// and new work begins at once.
func TestNodeWhoseSessionIsOverGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := findable{jobs{&script{submitFn: job("j"), pollFn: goesOn}}, true}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s), route("text.chat", "b", 1, &script{submitFn: answer("hello")})})
		var short atomic.Bool
		w.engine = &shortened{tampered{Store: w.store}, &short}
		short.Store(true)
		w.start()
		defer w.stop()
		id := w.create("goes-on-01", paint, 0).Task.ID
		time.Sleep(2 * time.Second)
		short.Store(false)
		time.Sleep(9 * time.Second) // the beat at 10 s finds the session over
		if got := w.create("goes-on-02", chat, time.Second).Task; got.State != task.Succeeded {
			t.Errorf("work under the new name is %s", got.State)
		}
		polls := s.polled()
		time.Sleep(5 * time.Second)
		if s.polled() == polls {
			t.Error("the dropped job isn't polled under the new name")
		}
		w.expectSent(s.script, id+"/1")
	})
}

// shortened is an engine whose sessions end early.
type shortened struct {
	tampered
	short *atomic.Bool
}

func (e *shortened) Renew(ctx context.Context, node string, term time.Duration) error {
	if e.short.Load() {
		term = 5 * time.Second
	}
	return e.tampered.Renew(ctx, node, term)
}

// TestWorkIsDroppedInTime cuts a node off from its store, which refuses it or doesn't answer: its work ends while no
// other node can have it, a sixth of the term before the lease does.
func TestWorkIsDroppedInTime(t *testing.T) {
	for name, renew := range lossOfLeases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := endless{&script{}, make(chan time.Time, 1)}
				w := newWorld(t, []routing.Route{route("text.chat", "a", 1, a)})
				w.engine = &tampered{Store: w.store, renewFunc: renew()}
				start := time.Now()
				w.start()
				defer mustStop(t, w.g)
				w.create("in-time-01", chat, 0)
				if took := (<-a.cut).Sub(start); took < 24*time.Second || took > 26*time.Second {
					t.Errorf("the work was dropped %s after the last renewal of a lease of 30 s, want 25 s", took)
				}
			})
		})
	}
}

// endless is an adapter whose work lasts as long as it may.
type endless struct {
	*script
	cut chan time.Time // when its work was cut short
}

func (e endless) Submit(ctx context.Context, _ supplier.Request) (supplier.Outcome, error) {
	<-ctx.Done()
	e.cut <- time.Now()
	return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "cut short", ctx.Err())
}
