package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestSubmissionUnderWayOutlivesAShutdown stops the node while a supplier works on a paid request.
func TestSubmissionUnderWayOutlivesAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{takes: 3 * time.Second, submitFn: painted(t)}
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
		w.start()
		id := w.create("under-way1", paint, 0).Task.ID
		time.Sleep(time.Second)
		start := time.Now()
		w.stop()
		w.expect(w.get(id), outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}})
		w.expectSent(s, id+"/1")
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the shutdown took %s, the work 2s", took)
		}
	})
}

// TestLeaseIsKeptThroughTheGrace has work that outlasts its lease's term while the node stops.
func TestLeaseIsKeptThroughTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{takes: 45 * time.Second, submitFn: answer("hi")}
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)})
		w.limits.Grace = time.Minute
		w.start()
		id := w.create("the-grace1", chat, 0).Task.ID
		time.Sleep(2 * time.Second)
		w.stop()
		w.expect(w.get(id), outcome{task.Succeeded, "", 30_000, []attemptOutcome{{"a", task.OK, "", 30_000, false}}})
	})
}

// TestTaskAcceptedAcrossAShutdownIsRun stops the node between a request and its record.
func TestTaskAcceptedAcrossAShutdownIsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{submitFn: answer("hi")}
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)})
		w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
			time.Sleep(time.Second)
			return create()
		}}
		w.start()
		stopped := make(chan struct{})
		time.AfterFunc(500*time.Millisecond, func() {
			defer close(stopped)
			w.stop()
		})
		got := w.create("across-001", chat, 5*time.Second).Task
		<-stopped
		w.expect(got, outcome{task.Succeeded, "", 30_000, []attemptOutcome{{"a", task.OK, "", 30_000, false}}})
		w.expectSent(s, got.ID+"/1")
	})
}

// TestDefiniteVerdictIsRecordedWhileStopping has a supplier refuse a moment after the stop: the next worker sees that
// no money is owed, and takes the next route.
func TestDefiniteVerdictIsRecordedWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &script{takes: 3 * time.Second, submitFn: refuse(supplier.Refused, fault.ProviderUnavailable)}
		b := &script{submitFn: painted(t)}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, a), route("image.generate", "b", 2, b)})
		w.start()
		id := w.create("verdict-01", paint, 0).Task.ID
		time.Sleep(time.Second)
		w.stop()
		refused := attemptOutcome{"a", task.Rejected, fault.ProviderUnavailable, 0, false}
		w.expect(w.get(id), outcome{task.Running, "", 0, []attemptOutcome{refused}})
		w.start()
		defer w.stop()
		w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{refused, {"b", task.OK, "", 2, false}}})
		w.expectSent(a, id+"/1")
		w.expectSent(b, id+"/2")
	})
}

// TestIntentNeverSentIsTakenBack stops the node between an intent and its submission.
func TestIntentNeverSentIsTakenBack(t *testing.T) {
	for name, slow := range map[string]func(*world){
		"before the input is read": func(w *world) {
			w.engine = &tampered{Store: w.store, beginFunc: func(begin call) (task.Task, error) {
				got, err := begin()
				time.Sleep(3 * time.Second)
				return got, err
			}}
		},
		"while the input is fetched": func(w *world) { w.fetcher = &fetcher{takes: time.Hour} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{submitFn: painted(t)}
				w := newWorld(t, []routing.Route{route("image.edit", "a", 1, s)})
				slow(w)
				w.start()
				id := w.create("taken-back", editByURL, 0).Task.ID
				time.Sleep(time.Second)
				w.stop()
				unsent := attemptOutcome{"a", task.Rejected, "", 0, false}
				w.expect(w.get(id), outcome{task.Running, "", 0, []attemptOutcome{unsent}})
				w.expectSent(s)
				w.engine, w.fetcher = w.store, &fetcher{data: mustPNG(t)}
				w.start()
				defer w.stop()
				start := time.Now()
				w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{unsent, {"a", task.OK, "", 1, false}}})
				w.expectSent(s, id+"/2")
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("the lease was given back only after %s", took)
				}
			})
		})
	}
}

// TestShutdownWaitsForAClaimUnderWay has tasks arrive at a node that stops: no goroutine goes on after Shutdown has
// returned.
func TestShutdownWaitsForAClaimUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{submitFn: painted(t)}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.engine = &tampered{Store: w.store, claimFunc: func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
			time.Sleep(time.Second)
			return claim()
		}}
		w.start()
		id := w.create("claimed-01", paint, 0).Task.ID
		time.Sleep(500 * time.Millisecond)
		w.stop()
		before := w.get(id)
		time.Sleep(time.Hour)
		w.expect(w.get(id), outcomeOf(before))
		w.expectSent(s)
	})
}
