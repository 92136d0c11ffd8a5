package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

func testHolds(e *env) {
	budget := task.Hold{Scope: "key:1:2026-11", Kind: task.HoldBudget, Amount: 40, Limit: 100}
	open := task.Hold{Scope: "key:1", Kind: task.HoldOpen, Amount: 1, Limit: 2}
	uncounted := task.Hold{Scope: "account:1", Kind: task.HoldOpen, Amount: 1}
	with := func(key string, holds ...task.Hold) store.NewTask {
		n := e.request(key)
		n.Holds = holds
		return n
	}
	e.create(with("a", budget, open, uncounted))
	e.create(with("b", budget, open, uncounted))

	for _, c := range []struct {
		name  string
		holds []task.Hold
		want  store.HoldError
	}{
		{"the second", []task.Hold{uncounted, open}, store.HoldError{Hold: open, Held: 2}},
		{"the first", []task.Hold{budget, uncounted}, store.HoldError{Hold: budget, Held: 80}},
		{
			"two of one counter",
			[]task.Hold{{Scope: "x", Kind: task.HoldOpen, Amount: 1, Limit: 1}, {Scope: "x", Kind: task.HoldOpen, Amount: 1, Limit: 1}},
			store.HoldError{Hold: task.Hold{Scope: "x", Kind: task.HoldOpen, Amount: 1, Limit: 1}, Held: 1},
		},
	} {
		_, err := e.Store.CreateTask(e.Context(), with("refused", c.holds...))
		he, ok := errors.AsType[*store.HoldError](err)
		if !ok {
			e.Errorf("%s: got %v, want a *HoldError", c.name, err)
			continue
		}
		e.wantSame(c.name, *he, c.want)
	}
	e.wantSame("nothing taken", e.held("account:1", task.HoldOpen), int64(2))
	_, err := e.Store.FindTask(e.Context(), acme, hashOf("refused"))
	e.wantErr("FindTask of a refused one", err, store.ErrNotFound)
	if _, err := e.Store.CreateTask(e.Context(), with("negative", task.Hold{Scope: "x", Kind: task.HoldOpen, Amount: -1})); err == nil {
		e.Error("a negative amount: no error")
	}
	exact := budget
	exact.Amount = 20
	e.create(with("c", exact))
	e.wantSame("up to the limit", e.held(budget.Scope, task.HoldBudget), int64(100))
}

func testHoldsSettle(e *env) {
	held := func() [3]int64 {
		return [3]int64{e.held("k", task.HoldBudget), e.held("k", task.HoldOpen), e.held("q", task.HoldQueue)}
	}
	request := func(key string) store.NewTask {
		n := e.request(key)
		n.Price, n.Reserved = task.Price{Unit: task.PerImage, Output: 10}, 40
		n.Holds = []task.Hold{
			{Scope: "k", Kind: task.HoldBudget, Amount: 40, Limit: 200},
			{Scope: "k", Kind: task.HoldOpen, Amount: 1, Limit: 2},
			{Scope: "q", Kind: task.HoldQueue, Amount: 1, Limit: 2},
		}
		return n
	}
	e.create(request("a"))
	e.wantSame("created", held(), [3]int64{40, 1, 1})
	lease := e.claimOne(chat)
	started := e.begin(lease, plan("s", 0))
	e.wantSame("started", held(), [3]int64{40, 1, 0})
	e.wantSame("still held", started.Holds, []task.Hold{
		{Scope: "k", Kind: task.HoldBudget, Amount: 40}, {Scope: "k", Kind: task.HoldOpen, Amount: 1},
	})
	done := e.advance(lease, succeeded(task.Usage{Images: 3}))
	e.wantSame("cost", done.Cost, task.Money(30))
	e.wantSame("settled to the cost", held(), [3]int64{30, 0, 0})
	e.wantSame("holds of an ended task", len(done.Holds), 0)

	e.create(request("b"))
	lease = e.claimOne(chat)
	e.begin(lease, plan("s", 0))
	e.advance(lease, failed(task.Rejected))
	e.wantSame("a failure is free", held(), [3]int64{30, 0, 0})
	e.wantSame("reopened", e.create(request("b")).Admit, store.AdmitReopened)
	e.wantSame("taken anew", held(), [3]int64{70, 1, 1})
	if _, err := e.Store.RequestCancel(e.Context(), acme, e.letGo()); err != nil {
		e.Fatal(err)
	}
	e.wantSame("canceled", held(), [3]int64{30, 0, 0})

	unmetered := request("d")
	unmetered.First = e.first(plan("s", 0))
	canceled := e.advance(*e.create(unmetered).Lease, store.Step{Close: closing(task.UnknownOutcome), Moves: []task.Transition{task.CancelUnmetered()}})
	e.wantSame("canceled without a measure", [2]any{canceled.Cost, canceled.Usage}, [2]any{task.Money(40), (*task.Usage)(nil)})
	e.wantSame("charged as reserved", held(), [3]int64{70, 0, 0})

	first := request("c")
	first.First = e.first(plan("s", 0))
	c := e.create(first)
	e.wantSame("started within its creation", held(), [3]int64{110, 1, 0})
	e.advance(*c.Lease, succeeded(task.Usage{Images: 99}))
	e.wantSame("never beyond what was reserved", held(), [3]int64{110, 0, 0})
}

// testHoldsSpend: the possible cost of an account's attempts at suppliers is held, and settled to their charges,
// however their task ends.
func testHoldsSpend(e *env) {
	held := func() int64 { return e.held("a", task.HoldSpend) }
	n := 0
	begin := func() (store.Lease, task.Plan) {
		e.Helper()
		n++
		r := e.request(fmt.Sprint("spends ", n))
		p := plan("s", 0)
		p.Estimate = 35
		r.Holds = []task.Hold{{Scope: "a", Kind: task.HoldSpend, Amount: 50, Limit: 200}}
		r.First = e.first(p)
		return *e.create(r).Lease, p
	}
	end := func(l store.Lease, c task.Closing, move task.Transition) task.Task {
		e.Helper()
		return e.advance(l, store.Step{Close: &c, Moves: []task.Transition{move}})
	}
	fail := task.Fail(task.FailureOf(fault.New(fault.ProviderTimeout, "no answer")))

	l, p := begin()
	e.wantSame("started", held(), int64(50))
	e.advance(l, store.Step{Close: &task.Closing{State: task.FailedAttempt, Cost: 3}})
	e.begin(l, p)
	e.wantSame("under way", held(), int64(50))
	failed := end(l, task.Closing{State: task.FailedAttempt, Cost: 35}, fail)
	e.wantSame("what both cost", held(), int64(38))
	e.show(failed)

	again := e.request("spends 1")
	again.Holds = []task.Hold{{Scope: "a", Kind: task.HoldSpend, Amount: 50, Limit: 200}}
	again.First = e.first()
	l = *e.create(again).Lease
	e.wantSame("reopened", held(), int64(88))
	e.begin(l, p)
	end(l, task.Closing{State: task.FailedAttempt, Cost: 20}, fail)
	e.wantSame("the last round alone is added", held(), int64(58))

	l, _ = begin()
	end(l, task.Closing{State: task.UnknownOutcome, CostUnknown: true}, fail)
	e.wantSame("the estimate of an unknown outcome", held(), int64(93))
	l, _ = begin()
	end(l, task.Closing{State: task.UnknownOutcome, CostUnknown: true}, task.CancelUnmetered())
	e.wantSame("canceled", held(), int64(128))
	l, _ = begin()
	end(l, task.Closing{State: task.Rejected}, fail)
	e.wantSame("refused", held(), int64(128))
	begin()
	r := e.request("too much")
	r.Holds = []task.Hold{{Scope: "a", Kind: task.HoldSpend, Amount: 23, Limit: 200}}
	_, err := e.Store.CreateTask(e.Context(), r)
	he, ok := errors.AsType[*store.HoldError](err)
	e.wantSame("refused at the limit", [2]any{ok, ok && he.Held == 178}, [2]any{true, true})
}

// testHoldsConcurrent: concurrent takers of one counter get all it has, and no more.
func testHoldsConcurrent(e *env) {
	const callers, limit = 64, 20
	var wg sync.WaitGroup
	var taken atomic.Int64
	for i := range callers {
		n := e.request(fmt.Sprint("caller ", i))
		n.Holds = []task.Hold{{Scope: "k", Kind: task.HoldBudget, Amount: 5, Limit: 5 * limit}}
		wg.Go(func() {
			_, err := e.Store.CreateTask(background(), n)
			if _, refused := errors.AsType[*store.HoldError](err); err == nil {
				taken.Add(1)
			} else if !refused {
				e.Errorf("CreateTask: %v", err)
			}
		})
	}
	wg.Wait()
	e.wantSame("tasks within the budget", taken.Load(), int64(limit))
	e.wantSame("held", e.held("k", task.HoldBudget), int64(5*limit))
}

// testHoldsEnd ends a counter's time while a task still holds some of it.
func testHoldsEnd(e *env) {
	const retention = 24 * time.Hour
	of := func(scope string, lasts time.Duration) task.Hold {
		return task.Hold{Scope: scope, Kind: task.HoldBudget, Amount: 40, Lasts: lasts}
	}
	held := func() [3]int64 {
		return [3]int64{e.held("day", task.HoldBudget), e.held("month", task.HoldBudget), e.held("ever", task.HoldBudget)}
	}
	for _, key := range []string{"a", "b"} {
		n := e.request(key)
		n.Price, n.Reserved = task.Price{Unit: task.PerImage, Output: 10}, 40
		n.Holds = []task.Hold{of("day", time.Hour), of("month", 72*time.Hour), of("ever", 0)}
		n.Deadline = 100 * 24 * time.Hour
		e.create(n)
	}
	sweep := func() int {
		s, err := e.Store.Sweep(e.Context(), store.SweepRequest{Retention: retention, Limit: 10})
		e.wantErr("Sweep", err, nil)
		return s.Removed
	}
	e.clock.Advance(retention + time.Minute)
	e.wantSame("nothing is over for long enough", sweep(), 0)
	e.lapse(time.Hour)
	e.wantSame("the day's counter", sweep(), 1)
	e.wantSame("without the day's", held(), [3]int64{0, 80, 80})
	for _, lease := range e.claim(2, chat) {
		e.begin(lease, plan("s", 0))
		e.advance(lease, succeeded(task.Usage{Images: 1}))
	}
	e.wantSame("settled to the cost", held(), [3]int64{0, 20, 20})
	e.clock.Advance(100 * 24 * time.Hour)
	want := 3
	if e.SweepsLate {
		want = 1
	}
	e.wantSame("two tasks, unless they leave late, and the month's counter", sweep(), want)
	e.wantSame("the one without an end is left", held(), [3]int64{0, 0, 20})
}

// letGo claims the one task that can be claimed, gives its lease back and returns its id.
func (e *env) letGo() string {
	e.Helper()
	lease := e.claimOne(chat)
	e.advance(lease, store.Step{Release: new(time.Duration(0))})
	return lease.Task.ID
}
