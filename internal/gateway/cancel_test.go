package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestCancelingSpendsTheBudget has a caller submit and cancel one task after the other: its budget refuses
// them once it has no room for another reservation.
func TestCancelingSpendsTheBudget(t *testing.T) {
	const tasks, room = 12, 5
	for name, body := range map[string]string{"chat": chat, "image": paint} {
		t.Run(name, func(t *testing.T) {
			s := &script{takes: time.Minute, submitFn: answer("late")}
			routes := []routing.Route{route("text.chat", "a", task.USD, s), route("image.generate", "b", task.USD, s)}
			inWorld(t, routes, func(w *world) {
				first := w.create("measured-1", body, time.Second).Task.ID
				reserved := w.cancel(w.g, first).Cost
				if reserved == 0 {
					t.Fatal("a canceled task is free")
				}
				w.caller.Key.ID += "2" // whose budget is whole
				w.caller.Key.Limits = account.Limits{OpenTasks: -1, Budget: room*reserved + reserved/2, BudgetPeriod: account.Month}
				accepted := 0
				for i := range tasks {
					a, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{
						IdempotencyKey: fmt.Sprintf("attack-%04d", i), Body: []byte(body), Wait: new(150 * time.Millisecond),
					})
					if fault.CodeOf(err) == fault.RateLimitExceeded {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					accepted++
					w.expect(w.cancel(w.g, a.Task.ID), outcome{
						task.Canceled, "", reserved, []attemptOutcome{{a.Task.Attempts[0].Supplier, task.UnknownOutcome, "", 0, true}},
					})
				}
				if sent := len(s.keys()) - 1; accepted != room || sent != room {
					t.Errorf("%d of %d tasks accepted, %d sent to the supplier, want %d", accepted, tasks, sent, room)
				}
			})
		})
	}
}

// stoppedAs answers a poll as a supplier does of a job that it was asked to stop.
func stoppedAs(usage *supplier.Usage, charged *int64) func(int, supplier.Job) (supplier.Outcome, error) {
	return func(int, supplier.Job) (supplier.Outcome, error) {
		e := supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "stopped", nil)
		e.Usage, e.Charged = usage, charged
		return supplier.Outcome{}, e
	}
}

// pollsOnly is a script whose supplier can't stop a job.
type pollsOnly struct{ supplier.Poller }

func (p pollsOnly) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	return p.Poller.(jobs).Submit(ctx, r)
}

// TestCancelBetweenTwoPolls cancels a task whose job goes on at its supplier, which is stopped and asked after: its
// answer decides the charge.
func TestCancelBetweenTwoPolls(t *testing.T) {
	failed := func(int, supplier.Job) (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "failed", nil)
	}
	for name, tt := range map[string]struct {
		poll   func(int, supplier.Job) (supplier.Outcome, error) // after the cancellation
		keeps  bool                                              // the supplier can't stop it
		before bool                                              // it ended before the supplier was asked to stop it
		want   outcome
	}{
		"it goes on":          {goesOn, false, false, outcome{task.Canceled, "", 4 * task.USD, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}}},
		"it can't be stopped": {goesOn, true, false, outcome{task.Canceled, "", 4 * task.USD, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}}},
		"it can't be asked": {func(int, supplier.Job) (supplier.Outcome, error) {
			return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "no answer", nil)
		}, false, false, outcome{task.Canceled, "", 4 * task.USD, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}}},
		"it was stopped": {failed, false, false, outcome{task.Canceled, "", 4 * task.USD, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}}},
		"it was measured": {
			stoppedAs(&supplier.Usage{Images: 3}, nil), false, false,
			outcome{task.Canceled, "", 3 * task.USD, []attemptOutcome{{"a", task.FailedAttempt, "", 3 * task.USD, false}}},
		},
		"its charge is known": {
			stoppedAs(nil, new(int64(task.USD/2))), false, false,
			outcome{task.Canceled, "", 4 * task.USD, []attemptOutcome{{"a", task.FailedAttempt, "", task.USD / 2, false}}},
		},
		"it had not started": {
			stoppedAs(&supplier.Usage{}, new(int64)), false, false,
			outcome{task.Canceled, "", 0, []attemptOutcome{{"a", task.FailedAttempt, "", 0, false}}},
		},
		"it had failed by itself": {
			failed, true, true, outcome{task.Canceled, "", 0, []attemptOutcome{{"a", task.FailedAttempt, fault.ProviderUnavailable, 0, false}}},
		},
		"it had failed before it could be stopped": {
			failed, false, true, outcome{task.Canceled, "", 0, []attemptOutcome{{"a", task.FailedAttempt, fault.ProviderUnavailable, 0, false}}},
		},
		"it was done while it was stopped": {done(t), false, false, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}}},
		"it was done":                      {done(t), false, true, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var canceled atomic.Bool
			s := jobs{&script{submitFn: job("j")}}
			s.pollFn = func(n int, j supplier.Job) (supplier.Outcome, error) {
				if canceled.Load() && (tt.before || tt.keeps || s.canceled() > 0) {
					return tt.poll(n, j)
				}
				return running(j.ID), nil
			}
			var a supplier.Adapter = s
			if tt.keeps {
				a = pollsOnly{s}
			}
			inWorld(t, []routing.Route{route("image.generate", "a", task.USD, a)}, func(w *world) {
				four := `{"capability":"image.generate","input":{"prompt":"a fox"},"parameters":{"n":4}}`
				id := w.create("between-01", four, 0).Task.ID
				time.Sleep(2500 * time.Millisecond)
				canceled.Store(true)
				got := w.cancel(w.g, id)
				w.expect(got, tt.want)
				if (got.State == task.Succeeded) != (got.Output != nil) {
					t.Errorf("%s with the output %+v", got.State, got.Output)
				}
			})
		})
	}
}

// TestCancelInFlight cancels a synchronous task while its one exchange is under way.
func TestCancelInFlight(t *testing.T) {
	s := &script{takes: time.Minute, submitFn: answer("late")}
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		id := w.create("in-flight-1", chat, time.Second).Task.ID
		got := w.cancel(w.g, id)
		w.expect(got, outcome{task.Canceled, "", got.Reserved, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}})
		if got.Reserved == 0 || got.Usage != nil {
			t.Errorf("it reserved %s and measured %+v", got.Reserved, got.Usage)
		}
	})
}

// TestResultInHandOutlivesACancellation cancels tasks whose result is there when the cancellation
// arrives: it is kept, and charged.
func TestResultInHandOutlivesACancellation(t *testing.T) {
	paid := outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}}
	for name, tt := range map[string]struct {
		adapter supplier.Adapter
		files   func(artifact.Store) artifact.Store
		want    outcome
	}{
		"while it is kept": {
			&script{takes: time.Second, submitFn: painted(t)},
			func(s artifact.Store) artifact.Store { return slowFiles{Store: s, keep: 30 * time.Second} }, paid,
		},
		"of a job, while it is kept": {
			jobs{&script{submitFn: job("j"), pollFn: done(t)}},
			func(s artifact.Store) artifact.Store { return slowFiles{Store: s, keep: 30 * time.Second} }, paid,
		},
		"that never arrives": {
			&script{takes: time.Second, submitFn: painted(t)},
			func(s artifact.Store) artifact.Store { return slowFiles{Store: s, keep: 100 * time.Hour} },
			outcome{task.Canceled, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}},
		},
		"while it waits for room": {
			&script{takes: time.Second, submitFn: painted(t)},
			func(s artifact.Store) artifact.Store {
				return badFiles{Store: s, until: time.Now().Add(time.Hour), err: fault.New(fault.CapacityExhausted, "no room")}
			},
			outcome{task.Canceled, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, tt.adapter)})
				w.artifacts = tt.files(w.artifacts)
				w.start()
				defer w.stop()
				id := w.create("in-hand-02", paint, 0).Task.ID
				time.Sleep(2 * time.Second)
				start := time.Now()
				w.cancel(w.g, id)
				end := w.end(id)
				w.expect(end, tt.want)
				if took := time.Since(start); took > time.Minute {
					t.Errorf("it ended %s after the cancellation", took)
				}
				if tt.want.State == task.Succeeded && len(end.Output.Artifacts()) != 1 {
					t.Errorf("succeeded with %+v", end.Output)
				}
			})
		})
	}
}

// TestUnmeasuredResultIsCanceled cancels a task whose result is there and never arrives, without a known length: it
// was made all the same, and costs the reservation.
func TestUnmeasuredResultIsCanceled(t *testing.T) {
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{Data: []byte("a film"), ContentType: "video/mp4"}}}}, nil
	}}
	film := route("video.generate", "a", task.USD, s)
	film.Price = task.Price{Unit: task.PerSecond, Output: task.USD}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{film})
		w.artifacts = slowFiles{Store: w.artifacts, keep: 100 * time.Hour}
		w.start()
		defer w.stop()
		id := w.create("unmeasured-1", `{"capability":"video.generate","input":{"prompt":"a fox"}}`, 0).Task.ID
		time.Sleep(2 * time.Second)
		w.cancel(w.g, id)
		if end := w.end(id); end.State != task.Canceled || end.Reserved == 0 || end.Cost != end.Reserved {
			t.Errorf("it is %s and costs %s of %s reserved", end.State, end.Cost, end.Reserved)
		}
	})
}

// TestCancelAfterACrash cancels tasks whose node died: an intent that was left open may have been sent, and is
// paid for; a task that only waits is free.
func TestCancelAfterACrash(t *testing.T) {
	s := &script{takes: time.Hour, submitFn: painted(t)}
	first := route("image.generate", "a", task.USD, s)
	first.Cap = 1
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{first})
		w.start()
		sent := w.create("crashed-01", paint, 0).Task.ID
		time.Sleep(time.Second)
		waits := w.create("crashed-02", paint, 0).Task.ID
		w.stop()
		w.store.Restart()
		for _, id := range []string{sent, waits} {
			if _, err := w.store.RequestCancel(t.Context(), w.caller.Scope(), id); err != nil {
				t.Fatal(err)
			}
		}
		w.start()
		defer w.stop()
		w.expect(w.end(sent), outcome{task.Canceled, "", task.USD, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}})
		w.expect(w.end(waits), outcome{State: task.Canceled})
		w.expectSent(s, sent+"/1")
	})
}

// TestCancelWhileAnotherRouteIsAwaited cancels a task that its supplier refused and that waits for a route: no work
// is under way, and its caller owes no money.
func TestCancelWhileAnotherRouteIsAwaited(t *testing.T) {
	for name, tt := range map[string]struct {
		adapter supplier.Adapter
		want    attemptOutcome
	}{
		"refused":  {&script{submitFn: refuse(supplier.Refused, fault.CapacityExhausted)}, attemptOutcome{"a", task.Rejected, fault.CapacityExhausted, 0, false}},
		"not sent": {&script{submitFn: refuse(supplier.NotSent, fault.CapacityExhausted)}, attemptOutcome{"a", task.Rejected, fault.CapacityExhausted, 0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, []routing.Route{route("image.generate", "a", task.USD, tt.adapter)}, func(w *world) {
				id := w.create("refused-01", paint, 0).Task.ID
				time.Sleep(500 * time.Millisecond)
				w.expect(w.cancel(w.g, id), outcome{task.Canceled, "", 0, []attemptOutcome{tt.want}})
			})
		})
	}
}

// TestCancelBeforeTheSubmissionOwesNothing cancels a task between its intent and the submission.
func TestCancelBeforeTheSubmissionOwesNothing(t *testing.T) {
	s := &script{submitFn: painted(t)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
		w.engine = &tampered{Store: w.store, beginFunc: func(begin call) (task.Task, error) {
			got, err := begin()
			time.Sleep(time.Second)
			return got, err
		}}
		w.start()
		defer w.stop()
		id := w.create("unsent-001", paint, 0).Task.ID
		time.Sleep(500 * time.Millisecond)
		w.expect(w.cancel(w.g, id), outcome{task.Canceled, "", 0, []attemptOutcome{{"a", task.Rejected, "", 0, false}}})
		w.expectSent(s)
	})
}

// TestSupplierSpendBoundsWhatIsLost has every attempt of an account end with an unknown outcome, for which callers
// aren't charged. Suppliers' possible charges have a limit of their own: twice the account's budget.
func TestSupplierSpendBoundsWhatIsLost(t *testing.T) {
	for name, tt := range map[string]struct {
		limits account.Limits
		want   int // tasks accepted
	}{
		"twice the budget":       {account.Limits{Budget: 2 * task.USD, BudgetPeriod: account.Month}, 2},
		"the operator's own":     {account.Limits{Budget: 2 * task.USD, SupplierSpend: 6 * task.USD, BudgetPeriod: account.Day}, 3},
		"without a budget":       {account.Limits{SupplierSpend: 2 * task.USD, BudgetPeriod: account.Day}, 1},
		"no limit":               {account.Limits{Budget: 2 * task.USD, SupplierSpend: -1, BudgetPeriod: account.Month}, 5},
		"no limit and no budget": {account.Limits{}, 5},
		"room for the dearest":   {account.Limits{SupplierSpend: 4 * task.USD, BudgetPeriod: account.Day}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: refuse(supplier.Unknown, fault.ProviderTimeout)}
			routes := []routing.Route{route("image.generate", "a", 2*task.USD, s)}
			if name == "room for the dearest" { // a task may come to it
				routes = append(routes, route("image.generate", "b", 3*task.USD, s))
			}
			inWorld(t, routes, func(w *world) {
				w.caller.Account.Limits = tt.limits
				accepted := 0
				for i := range 5 {
					wait := time.Minute
					a, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{
						IdempotencyKey: fmt.Sprintf("lost-%08d", i), Body: []byte(paint), Wait: &wait,
					})
					if e := fault.From(err); err != nil {
						if e.Code != fault.RateLimitExceeded || e.RetryAfter <= 0 {
							t.Fatalf("%v after %s", err, e.RetryAfter)
						}
						continue
					}
					accepted++
					w.expect(a.Task, outcome{
						task.Failed, fault.ProviderTimeout, 0, []attemptOutcome{{"a", task.UnknownOutcome, fault.ProviderTimeout, 0, true}},
					})
				}
				if sent := len(s.keys()); accepted != tt.want || sent != tt.want {
					t.Errorf("%d tasks accepted, %d sent to the supplier, want %d", accepted, sent, tt.want)
				}
			})
		})
	}
}

// TestCancelQueued: a task that waits is canceled and its stored input erased, also if the first answer of the store is
// lost; one that has begun is left alone.
func TestCancelQueued(t *testing.T) {
	eitherWay(t, func(t *testing.T, made bool) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, &script{submitFn: painted(t)})})
		l := &loses{made: made, left: 1}
		w.engine = cancelLoser{w.store, l}
		w.start()
		w.stop() // no worker takes the tasks
		input := task.NewID(task.PrefixInput, time.Now())
		if _, err := w.artifacts.Put(t.Context(), artifact.PutRequest{
			ID: input, Owner: "x", Body: strings.NewReader("{}"), ContentType: "application/json", Limit: 2, ExpiresAt: time.Now().Add(time.Hour),
			Source: artifact.FromCaller("input"),
		}); err != nil {
			t.Fatal(err)
		}
		waits, err := w.store.CreateTask(t.Context(), store.NewTask{
			ID: task.NewID(task.PrefixTask, time.Now()), Scope: w.caller.Scope(), Capability: "image.generate", InputRef: input,
			IdempotencyHash: account.HashSecret("waits"), Price: task.Price{Unit: task.PerImage}, Deadline: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		began := w.leave("image.generate", `{"prompt":"a fox"}`).Task.ID
		for id, want := range map[string]bool{waits.Task.ID: true, began: false, task.NewID(task.PrefixTask, time.Now()): false} {
			if got, err := w.g.CancelQueued(t.Context(), w.caller.Scope(), id); got != want || err != nil {
				t.Errorf("canceled: %v %v, want %v", got, err, want)
			}
		}
		if got := w.get(waits.Task.ID); got.State != task.Canceled || len(w.inputs()) != 0 {
			t.Errorf("the task is %s, inputs %v", got.State, w.inputs())
		}
		if got := w.get(began); got.State != task.Running || got.CancelRequested {
			t.Errorf("the task that began: %s, to be canceled: %v", got.State, got.CancelRequested)
		}
	})
}

// cancelLoser loses answers to cancellations.
type cancelLoser struct {
	*memstore.DB
	l *loses
}

func (c cancelLoser) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	return lost(c.l, func() (task.Task, error) { return c.DB.RequestCancel(ctx, s, id) })
}
