package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// noRoomUntil refuses the first n submissions for want of room.
func noRoomUntil(n int, then func(int, supplier.Request) (supplier.Outcome, error)) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(i int, r supplier.Request) (supplier.Outcome, error) {
		if i <= n {
			return refuse(supplier.Refused, fault.CapacityExhausted)(i, r)
		}
		return then(i, r)
	}
}

const forEver = 1 << 30

var noRoom = attemptOutcome{Supplier: "a", State: task.Rejected, Code: fault.CapacityExhausted}

// TestNoRoomAtAnySupplier has every route refuse for want of room: asynchronous work waits until its
// deadline, synchronous work for two seconds, and both less and less often.
func TestNoRoomAtAnySupplier(t *testing.T) {
	for name, tt := range map[string]struct {
		capability catalog.Name
		body       string
		refusals   int
		then       func(int, supplier.Request) (supplier.Outcome, error)
		want       outcome
		took       time.Duration
	}{
		"asynchronous, then room": {
			"image.generate", paint, 3, painted(t),
			outcome{task.Succeeded, "", 1, []attemptOutcome{noRoom, noRoom, noRoom, {"a", task.OK, "", 1, false}}},
			7 * time.Second,
		},
		"asynchronous, never any": {
			"image.generate", paint, forEver, nil,
			outcome{task.Failed, fault.CapacityExhausted, 0, slices.Repeat([]attemptOutcome{noRoom}, 20)},
			15 * time.Minute,
		},
		"synchronous, then room": {
			"text.chat", chat, 2, answer("hi"),
			outcome{task.Succeeded, "", 2, []attemptOutcome{noRoom, noRoom, {"a", task.OK, "", 2, false}}},
			750 * time.Millisecond,
		},
		"synchronous, never any": {
			"text.chat", chat, forEver, nil,
			outcome{task.Failed, fault.CapacityExhausted, 0, slices.Repeat([]attemptOutcome{noRoom}, 4)},
			2 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: noRoomUntil(tt.refusals, tt.then)}
			inWorld(t, []routing.Route{route(tt.capability, "a", 1, s)}, func(w *world) {
				start := time.Now()
				got := w.end(w.create("no-room-01", tt.body, 0).Task.ID)
				w.expect(got, tt.want)
				if took := time.Since(start); took < tt.took || took > tt.took+time.Second {
					t.Errorf("took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// TestPauseThatASupplierAskedForIsKept has a 429 with Retry-After: no request is sent before it is over, and another
// task doesn't even try.
func TestPauseThatASupplierAskedForIsKept(t *testing.T) {
	var again atomic.Int64 // when the second submission went out, in nanoseconds since 1970
	s := &script{}
	s.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
		if n > 1 {
			again.CompareAndSwap(0, time.Now().UnixNano())
			return painted(t)(n, r)
		}
		e := supplier.NewError(supplier.Refused, fault.CapacityExhausted, "slow down", nil)
		e.RetryAfter = 30 * time.Second
		return supplier.Outcome{}, e
	}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, s)}, func(w *world) {
		start := time.Now()
		first := w.create("slow-down1", paint, 0).Task.ID
		time.Sleep(time.Second)
		second := w.create("slow-down2", paint, 0).Task.ID
		time.Sleep(10 * time.Second)
		w.expect(w.get(first), outcome{task.Running, "", 0, []attemptOutcome{noRoom}})
		w.expect(w.get(second), outcome{State: task.Queued})
		w.expect(w.end(first), outcome{task.Succeeded, "", 1, []attemptOutcome{noRoom, {"a", task.OK, "", 1, false}}})
		w.expect(w.end(second), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		if after := time.Unix(0, again.Load()).Sub(start); after < 30*time.Second || after > 33*time.Second {
			t.Errorf("the second submission went out after %s", after)
		}
	})
}

// TestFullLiveRouteHoldsUpNoTestTask has one capability's live route full for an hour: its test tasks,
// and other capabilities, go on.
func TestFullLiveRouteHoldsUpNoTestTask(t *testing.T) {
	full := route("image.generate", "a", 1, jobs{&script{submitFn: job("j"), pollFn: goesOn}})
	full.Cap = 1
	sandbox := route("image.generate", "s", 1, &script{submitFn: painted(t)})
	sandbox.Mode = task.Test
	film := route("video.generate", "v", 1, &script{submitFn: painted(t)})
	inWorld(t, []routing.Route{full, sandbox, film}, func(w *world) {
		w.create("holds-up-1", paint, 0)
		time.Sleep(time.Second)
		waits := w.create("holds-up-2", paint, 0).Task.ID
		testing := w.caller
		testing.Key.Mode = task.Test
		got, err := w.g.Create(w.t.Context(), testing, gateway.Submission{
			IdempotencyKey: "holds-up-3", Body: []byte(paint), Wait: new(2 * time.Second),
		})
		if err != nil || got.Task.State != task.Succeeded {
			t.Errorf("the test task is %s (%v)", got.Task.State, err)
		}
		if got := w.create("holds-up-4", `{"capability":"video.generate","input":{"prompt":"x"}}`, 2*time.Second).Task; !got.State.Terminal() {
			t.Errorf("the film is %s", got.State)
		}
		w.expect(w.get(waits), outcome{State: task.Queued})
	})
}

// TestFloodDelaysAnotherAccountByOneTurn has one account fill the queue of a route with a single place:
// another's task has the next turn but one at the latest, every time.
func TestFloodDelaysAnotherAccountByOneTurn(t *testing.T) {
	s := jobs{&script{submitFn: job("j")}}
	start := map[string]time.Time{}
	s.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
		if time.Since(start[j.ID]) < 5*time.Second {
			return running(j.ID), nil
		}
		return picture(t), nil
	}
	s.submitFn = func(_ int, r supplier.Request) (supplier.Outcome, error) {
		start[r.SubmitKey] = time.Now()
		return running(r.SubmitKey), nil
	}
	narrow := route("image.generate", "a", 1, s)
	narrow.Cap = 1
	inWorld(t, []routing.Route{narrow}, func(w *world) {
		for i := range 20 {
			w.create(fmt.Sprintf("flood-%04d", i), paint, 0)
		}
		other := w.other()
		for i := range 2 {
			time.Sleep(13 * time.Second)
			before := len(s.keys())
			got, err := w.g.Create(w.t.Context(), other, gateway.Submission{IdempotencyKey: fmt.Sprintf("single-%04d", i), Body: []byte(paint)})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(15 * time.Second)
			if at := slices.Index(s.keys(), got.Task.ID+"/1") - before; at < 0 || at > 1 {
				t.Errorf("the single task %d had turn %d after it came", i, at)
			}
		}
	})
}

// other returns a caller of a second account.
func (w *world) other() gate.Caller {
	w.t.Helper()
	c := w.caller
	c.Account = account.Account{ID: task.NewID(task.PrefixAccount, time.Now()), Name: "other", CreatedAt: time.Now()}
	c.Key.ID, c.Key.Account = task.NewID(task.PrefixKey, time.Now()), c.Account.ID
	if err := w.store.PutAccount(w.t.Context(), c.Account); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// TestUnhonouredFieldsAreNamed has routes that can't honour parts of a request, each others: the refusal has a row
// for each field, in the caller's words, and names no supplier. It's the same for both modes of work.
func TestUnhonouredFieldsAreNamed(t *testing.T) {
	refusing := func(names ...string) supplier.Kind {
		return supplier.Kind{Name: "zaphod", Refuses: func(r supplier.Request) string {
			for _, name := range names {
				if strings.Contains(string(r.Input)+string(r.Parameters), `"`+name+`":`) {
					return "zaphod's format has no " + name
				}
			}
			return ""
		}}
	}
	row := func(field string) fault.Detail {
		return fault.Detail{Field: field, Message: "can't be honoured with this value"}
	}
	for name, tt := range map[string]struct {
		capability catalog.Name
		body       string
		kinds      []supplier.Kind
		want       task.Failure
	}{
		"two parameters of one route": {
			"text.chat", `{"capability":"text.chat","input":{"prompt":"x"},"parameters":{"stop":["a"],"temperature":0.5,"top_p":1}}`,
			[]supplier.Kind{refusing("temperature", "stop")},
			task.Failure{
				Code: fault.InvalidRequest, Message: "no route can honour parameters.stop, parameters.temperature",
				Details: []fault.Detail{row("parameters.stop"), row("parameters.temperature")},
			},
		},
		"parts of the input and of two routes": {
			"image.generate", `{"capability":"image.generate","input":{"prompt":"x","negative_prompt":"y"},"parameters":{"n":2}}`,
			[]supplier.Kind{refusing("negative_prompt"), refusing("n", "negative_prompt")},
			task.Failure{
				Code: fault.InvalidRequest, Message: "no route can honour input.negative_prompt, parameters.n",
				Details: []fault.Detail{row("input.negative_prompt"), row("parameters.n")},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var routes []routing.Route
			for i, k := range tt.kinds {
				r := route(tt.capability, fmt.Sprint("zaphod-", i), 1, &script{})
				r.Kind = k
				routes = append(routes, r)
			}
			inWorld(t, routes, func(w *world) {
				end := w.end(w.create("unhonoured", tt.body, 0).Task.ID)
				if end.Failure == nil {
					t.Fatalf("the task is %s", end.State)
				}
				if diff := cmp.Diff(tt.want, *end.Failure); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestRequestsWaitForAProbe has the one route tripped: while a request tries it, others wait for its end, for two
// seconds.
func TestRequestsWaitForAProbe(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration // of the probe
		want  outcome
	}{
		"that works":      {time.Second, outcome{task.Succeeded, "", 2, []attemptOutcome{{"a", task.OK, "", 2, false}}}},
		"that takes long": {time.Minute, outcome{State: task.Failed, Code: fault.ProviderUnavailable}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: refuse(supplier.Refused, fault.ProviderUnavailable)}
			r := route("text.chat", "a", 1, s)
			inWorld(t, []routing.Route{r}, func(w *world) {
				for i := range 5 {
					w.create(fmt.Sprintf("waits-for-%d", i), chat, time.Minute)
				}
				time.Sleep(10 * time.Second)
				s.submitFn, s.takes = answer("hi"), tt.takes
				w.create("waits-for-probe", chat, 0)
				w.expect(w.create("waits-for-it", chat, time.Minute).Task, tt.want)
			})
		})
	}
}

// TestNextRouteComesFirst: a refusal that takes longer to record than its route rests doesn't get the same route again
// before the next one had its turn. Where there is no other one, it is tried again.
func TestNextRouteComesFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		capability catalog.Name
		body       string
		stalls     time.Duration
		then       supplier.Outcome
	}{
		"synchronous":  {"text.chat", chat, 300 * time.Millisecond, text("hi")},
		"asynchronous": {"image.generate", paint, 2 * time.Second, picture(t)},
	} {
		t.Run(name, func(t *testing.T) {
			a := &script{submitFn: noRoomUntil(forEver, nil)}
			b := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) { return tt.then, nil }}
			for _, both := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					routes := []routing.Route{route(tt.capability, "a", 1, a), route(tt.capability, "b", 2, b)}
					if !both {
						routes = routes[:1]
					}
					w := newWorld(t, routes)
					w.engine = &tampered{Store: w.store, advanceFunc: func(s store.Step, advance call) (task.Task, error) {
						if s.Close != nil && s.Close.State == task.Rejected {
							defer time.Sleep(tt.stalls)
						}
						return advance()
					}}
					w.start()
					defer w.stop()
					before := len(a.keys())
					end := w.end(w.create("next-first1", tt.body, 0).Task.ID)
					if tries := len(a.keys()) - before; both && (tries != 1 || end.State != task.Succeeded) || !both && tries < 2 {
						t.Errorf("another route %v: %d tries at the first one, %s %+v", both, tries, end.State, end.Failure)
					}
				})
			}
		})
	}
}
