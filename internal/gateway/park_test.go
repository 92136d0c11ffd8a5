package gateway_test

import (
	"testing"
	"time"

	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestTurnsOverlap parks a task for so short that its next turn begins before the last one is over: the
// race detector sees whatever the two share. The time is real, because virtual time would wait.
func TestTurnsOverlap(t *testing.T) {
	const polls = 300
	at := supplier.Outcome{Job: &supplier.Job{ID: "j", PollAfter: time.Nanosecond}}
	s := jobs{&script{
		submitFn: func(int, supplier.Request) (supplier.Outcome, error) { return at, nil },
		pollFn: func(n int, j supplier.Job) (supplier.Outcome, error) {
			if n < polls {
				return at, nil
			}
			return done(t)(n, j)
		},
	}}
	w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
	w.start()
	defer w.stop()
	end := w.end(w.create("overlap-01", paint, 0).Task.ID)
	w.expect(end, outcome{State: task.Succeeded, Cost: task.USD, Ledger: []attemptOutcome{{"a", task.OK, "", task.USD, false}}})
	w.expectSent(s.script, end.ID+"/1")
}
