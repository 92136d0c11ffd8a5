package gateway_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestWriteThatFailedIsRepeated refuses each kind of a worker's write for a while, as a full disk does: paid work
// isn't lost or paid for again, and every hold is given back.
func TestWriteThatFailedIsRepeated(t *testing.T) {
	writes := map[string]func(*tampered, *refusals){
		"intent": func(e *tampered, r *refusals) { e.beginFunc = r.or },
		"job": func(e *tampered, r *refusals) {
			e.advanceFunc = on(func(s store.Step) bool { return s.Submitted != nil }, r)
		},
		"move": func(e *tampered, r *refusals) {
			e.advanceFunc = on(func(s store.Step) bool { return s.Close == nil && len(s.Moves) > 0 }, r)
		},
		"end": func(e *tampered, r *refusals) {
			e.advanceFunc = on(func(s store.Step) bool { return s.Close != nil }, r)
		},
	}
	for name, refuse := range writes {
		for _, r := range []*refusals{
			{err: store.ErrFull, left: 1},
			{err: errors.New("a passing fault"), left: 1},
			{err: store.ErrFull, left: 20}, // longer than a lease's term
		} {
			t.Run(name, func(t *testing.T) {
				s := jobs{&script{submitFn: job("j"), pollFn: done(t)}}
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
					w.caller.Key.Limits.OpenTasks = 1
					e := &tampered{Store: w.store}
					refuse(e, r)
					w.engine = e
					w.start()
					defer w.stop()
					end := w.end(w.create("repeated-1", paint, 0).Task.ID)
					w.expect(end, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}})
					w.expectSent(s.script, end.ID+"/1")
					if diff := cmp.Diff(map[store.Counter]int64{}, w.store.Counters()); diff != "" || r.unused() != 0 {
						t.Errorf("%d refusals unused, holds (-want +got):\n%s", r.unused(), diff)
					}
				})
			})
		}
	}
}

// on lets refusals loose on the steps that match.
func on(match func(store.Step) bool, r *refusals) func(store.Step, call) (task.Task, error) {
	return func(s store.Step, advance call) (task.Task, error) {
		if match(s) {
			return r.or(advance)
		}
		return advance()
	}
}

func TestStepThatNeverFitsFailsItsTask(t *testing.T) {
	s := jobs{&script{submitFn: job("j"), pollFn: done(t)}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.engine = &tampered{Store: w.store, advanceFunc: on(
			func(s store.Step) bool { return s.Submitted != nil }, &refusals{err: store.ErrState, left: 1000},
		)}
		w.start()
		defer w.stop()
		end := w.end(w.create("never-fits", paint, 0).Task.ID)
		w.expect(end, outcome{task.Failed, fault.Internal, 0, []attemptOutcome{{"a", task.UnknownOutcome, fault.Internal, 0, true}}})
		w.expectSent(s.script, end.ID+"/1")
	})
}

// TestLeaseIsGivenBackWhereNotEvenAFailureFits looks that such a task isn't stuck with its worker.
func TestLeaseIsGivenBackWhereNotEvenAFailureFits(t *testing.T) {
	s := honest{jobs: jobs{&script{submitFn: job("j"), pollFn: done(t)}}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
		w.engine = &tampered{Store: w.store, advanceFunc: on(
			func(s store.Step) bool { return s.Release == nil }, &refusals{err: store.ErrState, left: 2},
		)}
		w.start()
		defer w.stop()
		start := time.Now()
		end := w.end(w.create("given-back", paint, 0).Task.ID)
		w.expect(end, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}})
		w.expectSent(s.script, end.ID+"/1")
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("another worker had the task after %s", took)
		}
	})
}

func TestProgressOutOfRangeIsLeftOut(t *testing.T) {
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(n int, _ supplier.Job) (supplier.Outcome, error) {
		if n > 10 {
			return picture(t), nil
		}
		out := running("j")
		out.Job.Progress = new([]float64{-1, 1.5, 0.5}[n%3])
		return out, nil
	}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, s)}, func(w *world) {
		id := w.create("progress-1", paint, 0).Task.ID
		time.Sleep(9 * time.Second)
		if diff := cmp.Diff(new(0.5), w.get(id).Progress); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
	})
}

// TestPanicEndsOneTask has an adapter break while another task is at work on the same node.
func TestPanicEndsOneTask(t *testing.T) {
	breakSubmit := func(int, supplier.Request) (supplier.Outcome, error) { panic("a bug in the adapter") }
	breakPoll := func(int, supplier.Job) (supplier.Outcome, error) { panic("a bug in the adapter") }
	for name, tt := range map[string]struct {
		capability catalog.Name
		body       string
		adapter    jobs
	}{
		"synchronous submission":  {"text.chat", chat, jobs{&script{submitFn: breakSubmit}}},
		"asynchronous submission": {"image.generate", paint, jobs{&script{submitFn: breakSubmit}}},
		"poll":                    {"image.generate", paint, jobs{&script{submitFn: job("j"), pollFn: breakPoll}}},
	} {
		t.Run(name, func(t *testing.T) {
			other := jobs{&script{submitFn: job("j")}}
			other.pollFn = func(n int, j supplier.Job) (supplier.Outcome, error) {
				if n < 10 {
					return running(j.ID), nil
				}
				return picture(t), nil
			}
			inWorld(t, []routing.Route{
				route(tt.capability, "a", 1, tt.adapter), route("image.edit", "b", 1, other),
			}, func(w *world) {
				bystander := w.create("bystander1", edit(t), 0).Task.ID
				time.Sleep(2 * time.Second)
				end := w.end(w.create("panics-001", tt.body, time.Minute).Task.ID)
				w.expect(end, outcome{task.Failed, fault.Internal, 0, []attemptOutcome{{"a", task.UnknownOutcome, fault.Internal, 0, true}}})
				want := &task.Failure{Code: fault.Internal, Message: "the work met a fault of the service", Retryable: true}
				if diff := cmp.Diff(want, end.Failure); diff != "" {
					t.Errorf("failure (-want +got):\n%s", diff)
				}
				w.expect(w.end(bystander), outcome{task.Succeeded, "", 1, []attemptOutcome{{"b", task.OK, "", 1, false}}})
			})
		})
	}
}

// TestPoisonedJobEndsAfterARestart takes over a job that no worker can go on with.
func TestPoisonedJobEndsAfterARestart(t *testing.T) {
	for name, tt := range map[string]struct {
		job   string
		code  fault.Code
		polls int
	}{
		"breaks its adapter": {`{"id":"j"}`, fault.Internal, 1},
		"can't be read":      {`"scrap"`, fault.ProviderTimeout, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := jobs{&script{submitFn: job("j"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) { panic("a bug in the adapter") }}}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
				lease := w.leave("image.generate", `{"prompt":"a fox"}`)
				if _, err := w.store.Advance(w.t.Context(), lease.Ref, store.Step{Submitted: []byte(tt.job)}); err != nil {
					t.Fatal(err)
				}
				w.store.Restart()
				w.start()
				defer w.stop()
				w.expect(w.end(lease.Task.ID), outcome{task.Failed, tt.code, 0, []attemptOutcome{{"a", task.UnknownOutcome, tt.code, 0, true}}})
				time.Sleep(time.Hour)
				if n := s.polled(); n != tt.polls || len(s.keys()) != 0 {
					t.Errorf("%d polls, %d submissions; want %d and 0", n, len(s.keys()), tt.polls)
				}
			})
		})
	}
}
