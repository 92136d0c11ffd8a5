package gateway_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// apply replaces the gateway's settings.
func (w *world) apply(limits gateway.Limits, routes ...routing.Route) {
	w.t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		w.t.Fatal(err)
	}
	table, err := routing.NewTable(routes, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.g.Apply(gateway.Settings{Catalog: directory, Routes: table, Policy: w.policy, Limits: limits})
}

// TestWorkKeepsItsRoute changes the routes under a job, a submission and a job whose outcome became unknown: each is
// finished by the adapter that it was started with, and the new one gets no request.
func TestWorkKeepsItsRoute(t *testing.T) {
	elsewhere := jobs{&script{submitFn: painted(t), pollFn: done(t)}}
	for name, next := range map[string][]routing.Route{
		"gone":      nil,
		"elsewhere": {route("image.generate", "a", 1, elsewhere), route("text.chat", "a", 1, elsewhere)},
	} {
		t.Run(name, func(t *testing.T) {
			var ready atomic.Bool
			films := jobs{&script{submitFn: job("j")}}
			films.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
				if ready.Load() {
					return picture(t), nil
				}
				return running(j.ID), nil
			}
			talk := &script{submitFn: answer("hi"), takes: 10 * time.Second}
			inWorld(t, []routing.Route{route("image.generate", "a", 1, films), route("text.chat", "a", 1, talk)}, func(w *world) {
				polled := w.create("keeps-job-1", paint, 0).Task.ID
				submitted := w.create("keeps-chat-1", chat, 0).Task.ID
				time.Sleep(3 * time.Second)
				w.apply(gateway.Limits{}, next...)
				time.Sleep(3 * time.Second)
				ready.Store(true)
				w.expect(w.end(polled), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
				w.expect(w.end(submitted), outcome{task.Succeeded, "", 2, []attemptOutcome{{"a", task.OK, "", 2, false}}})
				if n := elsewhere.polled(); n != 0 {
					t.Errorf("another supplier was asked %d times after a job that it doesn't have", n)
				}
				w.expectSent(elsewhere.script)
			})
		})
	}
}

// TestUnknownOutcomeIsAskedAfterWhereItWasBegun has the route of a known job taken out before its
// caller retries.
func TestUnknownOutcomeIsAskedAfterWhereItWasBegun(t *testing.T) {
	var ready atomic.Bool
	films := jobs{&script{submitFn: job("j")}}
	films.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
		if ready.Load() {
			return picture(t), nil
		}
		return running(j.ID), nil
	}
	other := &script{submitFn: painted(t)}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, films)}, func(w *world) {
		id := w.create("asked-after-1", paint, 0).Task.ID
		if got := w.end(id); codeOf(got) != fault.ProviderTimeout {
			t.Fatalf("%+v", outcomeOf(got))
		}
		w.apply(gateway.Limits{}, route("image.generate", "b", 1, other))
		ready.Store(true)
		w.create("asked-after-1", paint, 0)
		if got := w.end(id); got.State != task.Succeeded {
			t.Errorf("%+v", outcomeOf(got))
		}
		w.expectSent(films.script, id+"/1")
		w.expectSent(other)
	})
}

// TestLimitsChange lets more workers begin, and another wait hold.
func TestLimitsChange(t *testing.T) {
	slow := &script{submitFn: painted(t), takes: time.Minute}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, slow)})
		w.limits.Workers = 1
		w.start()
		defer w.stop()
		for _, key := range []string{"limits-key-1", "limits-key-2", "limits-key-3"} {
			w.create(key, paint, 0)
		}
		time.Sleep(2 * time.Second)
		if n := len(slow.keys()); n != 1 {
			t.Fatalf("%d at work, want 1", n)
		}
		w.apply(gateway.Limits{Workers: 2}, w.routes...)
		time.Sleep(2 * time.Second)
		if n := len(slow.keys()); n != 2 {
			t.Errorf("%d at work after the change, want 2", n)
		}
	})
}
