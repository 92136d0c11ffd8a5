package gateway_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestFullRouteBesideATrippedOneIsWaitedFor has the cheap route need its operator and the other one
// full: the task stays in the queue.
func TestFullRouteBesideATrippedOneIsWaitedFor(t *testing.T) {
	broke := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		e := supplier.NewError(supplier.Refused, fault.ProviderUnavailable, "no balance", nil)
		e.Operator = true
		return supplier.Outcome{}, e
	}}
	full := route("image.generate", "b", 2, jobs{&script{submitFn: job("j"), pollFn: goesOn}})
	full.Cap = 1
	inWorld(t, []routing.Route{route("image.generate", "a", 1, broke), full}, func(w *world) {
		first := w.create("tripped-01", paint, 0).Task.ID
		time.Sleep(time.Second)
		second := w.create("tripped-02", paint, 0).Task.ID
		time.Sleep(10 * time.Second)
		w.expect(w.get(second), outcome{State: task.Queued})
		w.cancel(w.g, first)
		time.Sleep(2 * time.Second)
		w.expect(w.get(second), outcome{task.Running, "", 0, []attemptOutcome{{"b", task.Submitted, "", 0, false}}})
		w.expectSent(broke, first+"/1")
	})
}

// TestRouteThatKeepsFailingIsLeftAlone sends a task a second and writes down who had it: five failures
// trip the cheap route for ten seconds, one more failure for another ten, until it works again.
func TestRouteThatKeepsFailingIsLeftAlone(t *testing.T) {
	const (
		failing = "aaaaabbbbbbbbb" + "abbbbbbbbb"
		working = "aaaa"
		again   = "aaaaabbbbbbbbb" + "a"
	)
	works := false
	a, b := &script{}, &script{submitFn: answer("b")}
	a.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
		if works {
			return text("a"), nil
		}
		return refuse(supplier.Unknown, fault.ProviderTimeout)(n, r)
	}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, a), route("text.chat", "b", 2, b)}, func(w *world) {
		var got strings.Builder
		for i := range len(failing + working + again) {
			works = i >= len(failing) && i < len(failing+working)
			end := w.create("left-alone-"+strconv.Itoa(i), chat, time.Minute).Task
			at := end.Attempts[0].Supplier
			got.WriteString(at)
			if want := at == "b" || works; (end.State == task.Succeeded) != want {
				t.Errorf("task %d at %s ended %s", i, at, end.State)
			}
			time.Sleep(time.Second)
		}
		if diff := cmp.Diff(failing+working+again, got.String()); diff != "" {
			t.Errorf("suppliers (-want +got):\n%s", diff)
		}
	})
}

// TestRouteWhoseJobsKeepFailingIsLeftAlone has a supplier that accepts every request and finishes no job.
func TestRouteWhoseJobsKeepFailingIsLeftAlone(t *testing.T) {
	a := jobs{&script{submitFn: job("a"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "failed", nil)
	}}}
	b := &script{submitFn: painted(t)}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, a), route("image.generate", "b", 2, b)}, func(w *world) {
		failed := attemptOutcome{"a", task.FailedAttempt, fault.ProviderUnavailable, 0, false}
		worked := attemptOutcome{"b", task.OK, "", 2, false}
		for i := range 6 {
			want := outcome{task.Succeeded, "", 1, []attemptOutcome{failed, worked}}
			if i == 5 {
				want.Ledger = []attemptOutcome{worked}
			}
			w.expect(w.end(w.create("jobs-fail-"+strconv.Itoa(i), paint, 0).Task.ID), want)
		}
	})
}

// TestOneAccountsRequestsCloseNoRoute has one account send requests that its supplier refuses or fails at, twelve
// times and with advice to wait. Another account's request goes to the same route right after each.
func TestOneAccountsRequestsCloseNoRoute(t *testing.T) {
	for name, e := range map[string]supplier.Error{
		"400":                {Sent: supplier.Refused, Fault: fault.New(fault.InvalidRequest, "refused"), Request: true},
		"409":                {Sent: supplier.Refused, Fault: fault.New(fault.ProviderUnavailable, "refused"), Request: true},
		"403 of a guard":     {Sent: supplier.Refused, Fault: fault.New(fault.ProviderUnavailable, "refused")},
		"500":                {Sent: supplier.Refused, Fault: fault.New(fault.ProviderUnavailable, "failed")},
		"a timeout":          {Sent: supplier.Unknown, Fault: fault.New(fault.ProviderTimeout, "late")},
		"a review's refusal": {Sent: supplier.Refused, Fault: fault.New(fault.ContentPolicyViolation, "refused")},
	} {
		t.Run(name, func(t *testing.T) {
			e.RetryAfter = time.Minute
			hostile, s := true, &script{}
			s.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
				if hostile {
					return supplier.Outcome{}, &e
				}
				return text("hi"), nil
			}
			inWorld(t, []routing.Route{route("text.chat", "a", 1, s)}, func(w *world) {
				other := w.other()
				for i := range 12 {
					hostile = true
					if end := w.create(fmt.Sprintf("hostile-%04d", i), chat, time.Minute).Task; end.State != task.Failed {
						t.Fatalf("the hostile request %d is %s", i, end.State)
					}
					hostile = false
					got, err := w.g.Create(w.t.Context(), other, gateway.Submission{
						IdempotencyKey: fmt.Sprintf("harmless-%d", i), Body: []byte(chat), Wait: new(time.Minute),
					})
					if err != nil {
						t.Fatal(err)
					}
					w.expect(got.Task, outcome{task.Succeeded, "", 2, []attemptOutcome{{"a", task.OK, "", 2, false}}})
				}
			})
		})
	}
}

// TestQueuedTaskEndsWhileEveryWorkerIsBusy has submissions that outlast everything hold all workers.
func TestQueuedTaskEndsWhileEveryWorkerIsBusy(t *testing.T) {
	long := &script{takes: 2 * time.Hour, submitFn: painted(t)}
	s := &script{submitFn: painted(t)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("video.generate", "v", 1, long), route("image.generate", "a", 1, s)})
		w.limits.Workers = 2
		w.start()
		defer w.stop()
		for i := range 2 {
			w.create("all-busy-"+strconv.Itoa(i), `{"capability":"video.generate","input":{"prompt":"x"}}`, 0)
		}
		time.Sleep(time.Second)
		canceled := w.create("all-busy-3", paint, 0).Task.ID
		expired := w.create("all-busy-4", paint, 0).Task
		w.expect(w.cancel(w.g, canceled), outcome{State: task.Canceled})
		end := w.end(expired.ID)
		w.expect(end, outcome{State: task.Failed, Code: fault.CapacityExhausted})
		if late := end.FinishedAt.Sub(expired.DeadlineAt); late < 0 || late > time.Second {
			t.Errorf("ended %s after its deadline", late)
		}
		w.expectSent(s)
	})
}
