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
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// lossOfLeases are the ways in which a node can't keep its leases, once its session has begun.
var lossOfLeases = map[string]func() func(context.Context, func() error) error{
	"the heartbeat fails": func() func(context.Context, func() error) error {
		return afterFirst(func(context.Context, func() error) error { return errors.New("no connection") })
	},
	"the heartbeat hangs": func() func(context.Context, func() error) error {
		return afterFirst(func(ctx context.Context, _ func() error) error { <-ctx.Done(); return ctx.Err() })
	},
}

func afterFirst(lost func(context.Context, func() error) error) func(context.Context, func() error) error {
	var begun atomic.Bool
	return func(ctx context.Context, renew func() error) error {
		if begun.Swap(true) {
			return lost(ctx, renew)
		}
		return renew()
	}
}

// claimOnce lets a node have one task only: it stands for one that is cut off.
func claimOnce() func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
	var done atomic.Bool
	return func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
		if done.Load() {
			return nil, nil
		}
		leases, err := claim()
		done.Store(len(leases) > 0)
		return leases, err
	}
}

// TestWorkerPastItsLeaseSubmitsNothing pauses a worker between its intent and the submission for
// longer than its lease lasts, while another node takes the task over.
func TestWorkerPastItsLeaseSubmitsNothing(t *testing.T) {
	for name, renew := range lossOfLeases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				late := honest{jobs: jobs{&script{submitFn: job("j"), pollFn: done(t)}}}
				w := newWorld(t, []routing.Route{route("image.generate", "a", 1, late)})
				w.engine = &tampered{Store: w.store, renewFunc: renew(), claimFunc: claimOnce(), beginFunc: func(begin call) (task.Task, error) {
					got, err := begin()
					time.Sleep(40 * time.Second)
					return got, err
				}}
				w.start()
				cutOff := w.g
				defer mustStop(t, cutOff)
				id := w.create("past-lease", paint, 0).Task.ID
				time.Sleep(2 * time.Second)
				s := honest{jobs: jobs{&script{submitFn: job("j"), pollFn: done(t)}}}
				w.engine, w.routes = w.store, []routing.Route{route("image.generate", "a", 1, s)}
				w.start()
				defer w.stop()
				w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.Rejected, "", 0, false}, {"a", task.OK, "", 1, false}}})
				time.Sleep(time.Minute)
				w.expectSent(late.script)
				w.expectSent(s.script, id+"/2")
			})
		})
	}
}

// TestNodeThatCannotKeepItsLeasesDropsItsWork cuts a node off while it polls, or while it submits.
func TestNodeThatCannotKeepItsLeasesDropsItsWork(t *testing.T) {
	for name, takes := range map[string]time.Duration{"polling": 0, "submitting": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := findable{jobs{&script{takes: takes, submitFn: job("j"), pollFn: goesOn}}, true}
				w := newWorld(t, []routing.Route{route("image.generate", "a", 1, a)})
				w.engine = &tampered{Store: w.store, renewFunc: lossOfLeases["the heartbeat fails"](), claimFunc: claimOnce()}
				w.start()
				cutOff := w.g
				defer mustStop(t, cutOff)
				id := w.create("cut-off-01", paint, 0).Task.ID
				time.Sleep(31 * time.Second)
				polls := a.polled()
				b := findable{jobs{&script{submitFn: job("j"), pollFn: done(t)}}, true}
				w.engine, w.routes = w.store, []routing.Route{route("image.generate", "a", 1, b)}
				w.start()
				defer w.stop()
				w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
				time.Sleep(time.Hour)
				w.expectSent(a.script, id+"/1")
				w.expectSent(b.script)
				if n := a.polled(); n != polls {
					t.Errorf("%d polls after the lease was lost", n-polls)
				}
			})
		})
	}
}

// TestTurnThatBeginsAsTheLeaseIsLost reads a parked task so slowly that its node gives all its work up meanwhile: the
// turn is over.
func TestTurnThatBeginsAsTheLeaseIsLost(t *testing.T) {
	const quiet = 20500 * time.Millisecond // between two polls, and before the lease is doubted
	synctest.Test(t, func(t *testing.T) {
		a := jobs{&script{submitFn: job("j"), pollFn: goesOn}}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, a)})
		start := time.Now()
		w.engine = &tampered{
			Store: w.store, renewFunc: lossOfLeases["the heartbeat fails"](), claimFunc: claimOnce(),
			getFunc: func() {
				if late := time.Since(start) - quiet; late > 0 && late < time.Minute {
					time.Sleep(20 * time.Second)
				}
			},
		}
		w.start()
		defer w.stop()
		w.create("slow-turn1", paint, 0)
		time.Sleep(quiet)
		polls := a.polled()
		time.Sleep(10 * time.Minute)
		if n := a.polled() - polls; polls == 0 || n != 0 {
			t.Errorf("%d polls, then %d after the lease was lost", polls, n)
		}
	})
}

// TestPausedNodeLeavesNothingBehind stops a whole node before a submission, the first one or one that is
// repeated under its key, until its leases are in doubt but not over. Its worker dares not submit any
// more; then the heartbeat keeps the leases after all. The task must go on.
func TestPausedNodeLeavesNothingBehind(t *testing.T) {
	const pausesAt, wakesAt = 15 * time.Second, 38 * time.Second // the session was renewed at 10 s, for 30 s
	for name, tt := range map[string]struct {
		pauses func(store.Step) bool // the write that the pause follows; nil: the task's creation
		sent   []string
		want   []attemptOutcome
	}{
		"first":    {nil, []string{"/2"}, []attemptOutcome{{"a", task.Rejected, "", 0, false}, {"a", task.OK, "", 2, false}}},
		"repeated": {func(s store.Step) bool { return s.Readopt }, []string{"/1", "/1"}, []attemptOutcome{{"a", task.OK, "", 2, false}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := keyed{jobs{&script{submitFn: func(n int, r supplier.Request) (supplier.Outcome, error) {
					if tt.pauses != nil && n == 1 {
						return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "no answer", nil)
					}
					return answer("hello")(n, r)
				}}}}
				w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
				start := time.Now()
				pause := func() { time.Sleep(time.Until(start.Add(wakesAt))) }
				paused := func() bool { return time.Since(start) > pausesAt && time.Since(start) < wakesAt }
				w.engine = &tampered{
					Store: w.store,
					renewFunc: func(_ context.Context, renew func() error) error {
						if paused() {
							pause()
							time.Sleep(time.Millisecond) // the worker is first
						}
						return renew()
					},
					claimFunc: func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
						if paused() {
							pause()
							time.Sleep(2 * time.Millisecond) // the heartbeat is first
						}
						return claim()
					},
					createFunc: func(create func() (store.Created, error)) (store.Created, error) {
						got, err := create()
						if tt.pauses == nil && got.Lease != nil {
							pause()
						}
						return got, err
					},
					advanceFunc: func(s store.Step, advance call) (task.Task, error) {
						got, err := advance()
						if tt.pauses != nil && tt.pauses(s) {
							pause()
						}
						return got, err
					},
				}
				w.start()
				defer w.stop()
				time.Sleep(pausesAt)
				id := w.create("closed-laptop", chat, time.Second).Task.ID
				w.create("closed-laptop", chat, 0)
				time.Sleep(wakesAt + 10*time.Second)
				w.expect(w.get(id), outcome{task.Succeeded, "", 2, tt.want})
				var sent []string
				for _, n := range tt.sent {
					sent = append(sent, id+n)
				}
				w.expectSent(s.script, sent...)
			})
		})
	}
}

// TestNodeThatKeepsItsLeasesTooLateGivesThemUp hangs a heartbeat until the session is over, and lets the node then
// claim under its name before it learns so. It goes on under another, while its first worker is still between two
// polls or before the submission; the task must end, and be submitted once.
func TestNodeThatKeepsItsLeasesTooLateGivesThemUp(t *testing.T) {
	for name, tt := range map[string]struct {
		begins time.Duration // when the first attempt can be sent
		sent   string
		want   []attemptOutcome
	}{
		"polling":    {0, "/1", []attemptOutcome{{"a", task.OK, "", 1, false}}},
		"submitting": {65 * time.Second, "/2", []attemptOutcome{{"a", task.Rejected, "", 0, false}, {"a", task.OK, "", 1, false}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := honest{jobs: jobs{&script{submitFn: job("j"), pollFn: func(n int, j supplier.Job) (supplier.Outcome, error) {
					if d := time.Since(start); d > 40*time.Second && d < 50*time.Second {
						time.Sleep(20 * time.Second) // the first worker comes back after the second
					}
					if time.Since(start) < 3*time.Minute {
						return running(j.ID), nil
					}
					return picture(t), nil
				}}}}
				w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
				hang := func(until time.Duration) {
					if d := time.Since(start); d > 15*time.Second && d < until {
						time.Sleep(until - d)
					}
				}
				var attempts atomic.Int64
				w.engine = &tampered{
					Store:     w.store,
					renewFunc: func(_ context.Context, renew func() error) error { hang(51 * time.Second); return renew() },
					claimFunc: func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
						hang(50 * time.Second)
						return claim()
					},
					beginFunc: func(begin call) (task.Task, error) {
						got, err := begin()
						if attempts.Add(1) == 1 {
							time.Sleep(tt.begins)
						}
						return got, err
					},
				}
				w.start()
				defer w.stop()
				id := w.create("late-beats", paint, 0).Task.ID
				time.Sleep(5 * time.Minute)
				w.expect(w.get(id), outcome{task.Succeeded, "", 1, tt.want})
				w.expectSent(s.script, id+tt.sent)
			})
		})
	}
}

// TestLeaseWithoutEndIsNeverDoubted has a term that outlasts any process, and no heartbeat.
func TestLeaseWithoutEndIsNeverDoubted(t *testing.T) {
	s := &script{submitFn: painted(t)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.limits.LeaseTerm = 100 * 365 * 24 * time.Hour
		w.engine = &tampered{Store: w.store, renewFunc: lossOfLeases["the heartbeat fails"](), beginFunc: func(begin call) (task.Task, error) {
			got, err := begin()
			time.Sleep(10 * time.Minute)
			return got, err
		}}
		w.start()
		defer w.stop()
		id := w.create("no-doubts1", paint, 0).Task.ID
		w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		w.expectSent(s, id+"/1")
	})
}

// TestCancelThroughAnotherNodeIsSeen cancels by a gateway that doesn't run the task.
func TestCancelThroughAnotherNodeIsSeen(t *testing.T) {
	unreachable := honest{jobs{&script{submitFn: job("j")}}, errors.New("no connection")}
	polled := jobs{&script{submitFn: job("j"), pollFn: goesOn}}
	for name, tt := range map[string]struct {
		adapter supplier.Adapter
		begin   func(w *world) (id string)
		cancels int
		cost    task.Money
	}{
		"by a worker that polls": {polled, func(w *world) string { return w.create("elsewhere1", paint, 0).Task.ID }, 1, 1},
		"by a worker that looks a submission up": {unreachable, func(w *world) string {
			id := w.leave("image.generate", `{"prompt":"a fox"}`).Task.ID
			w.store.Restart()
			return id
		}, 0, 0}, // its price is zero
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("image.generate", "a", 1, tt.adapter)})
				w.start()
				defer w.stop()
				id := tt.begin(w)
				time.Sleep(3 * time.Second)
				other := w.node()
				defer mustStop(t, other)
				w.expect(w.cancel(other, id), outcome{task.Canceled, "", tt.cost, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}})
				if n := polled.canceled(); n != tt.cancels {
					t.Errorf("%d cancelations at the supplier, want %d", n, tt.cancels)
				}
				polled.cancels = 0
			})
		})
	}
}

// TestClockThatStepsForwardEndsNothingEarly moves the clock by an hour while a job runs.
func TestClockThatStepsForwardEndsNothingEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var offset atomic.Int64
		s := jobs{&script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
			offset.Store(int64(time.Hour))
			return running("j"), nil
		}}}
		s.pollFn = func(n int, j supplier.Job) (supplier.Outcome, error) {
			if n < 100 {
				return running(j.ID), nil
			}
			return picture(t), nil
		}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.now = offsetClock(&offset)
		w.start()
		defer w.stop()
		w.expect(w.end(w.create("forward-01", paint, 0).Task.ID), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
	})
}

// TestRetryTriesEveryRouteAnewWhateverTheClockSays moves the clock back before a retry.
func TestRetryTriesEveryRouteAnewWhateverTheClockSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var offset atomic.Int64
		s := &script{}
		s.submitFn = func(n int, _ supplier.Request) (supplier.Outcome, error) {
			if n == 1 {
				return refuse(supplier.Refused, fault.ProviderUnavailable)(n, supplier.Request{})
			}
			return picture(t), nil
		}
		w := newWorldAt(t, []routing.Route{route("image.generate", "a", 1, s)}, offsetClock(&offset))
		w.start()
		defer w.stop()
		refused := attemptOutcome{"a", task.Rejected, fault.ProviderUnavailable, 0, false}
		first := w.end(w.create("backward-1", paint, 0).Task.ID)
		w.expect(first, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{refused}})
		offset.Store(-int64(time.Hour))
		again := w.end(w.create("backward-1", paint, 0).Task.ID)
		w.expect(again, outcome{task.Succeeded, "", 1, []attemptOutcome{refused, {"a", task.OK, "", 1, false}}})
		w.expectSent(s, first.ID+"/1", first.ID+"/2")
	})
}

// offsetClock returns a clock that is off by as much as the test says.
func offsetClock(offset *atomic.Int64) func() time.Time {
	return func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
}
