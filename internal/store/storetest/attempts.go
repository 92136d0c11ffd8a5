package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

func testAttempts(e *env) {
	created := e.create(e.request("key")).Task
	lease := e.claimOne(chat)
	e.clock.Advance(time.Second)
	got := e.begin(lease, plan("s", 1))
	now := e.clock.Now()
	want, err := created.Apply(task.Start(), now)
	if err != nil {
		e.Fatal(err)
	}
	want = want.BeginAttempt(plan("s", 1), now)
	want.Revision = 2
	e.wantSame("started", got, want)
	e.wantSame("as stored", e.get(created.ID), want)
	_, err = e.Store.BeginAttempt(e.Context(), lease.Ref, plan("other", 0))
	e.wantErr("a second open attempt", err, store.ErrState)

	got = e.advance(lease, store.Step{Close: closing(task.Rejected)})
	e.wantSame("state after a rejection", got.State, task.Running)
	got = e.begin(lease, plan("other", 0))
	e.wantSame("attempts", len(got.Attempts), 2)
	e.wantSame("submit key", got.OpenAttempt().SubmitKey, task.SubmitKey(created.ID, 2))
	e.wantSame("timeline", len(got.Timeline), 2)
}

// testOwnMemory: a caller that changes a task which it was given changes it for no other caller, and no filter.
func testOwnMemory(e *env) {
	request, team := e.request("key"), task.Metadata{"team": "a"}
	request.Metadata = maps.Clone(team)
	made := e.create(request).Task
	list := func() []task.Task { return e.list(store.ListQuery{Scope: acme, Metadata: team}).Tasks }
	find := func() task.Task {
		found, err := e.Store.FindTask(e.Context(), acme, request.IdempotencyHash)
		e.wantErr("FindTask", err, nil)
		return found
	}
	spoil := func(way string, t task.Task) {
		e.Helper()
		t.Metadata["team"], t.Timeline[0].State = "b", task.Failed
		all := append(list(), e.get(made.ID), find())
		e.wantSame("how often it is there after a change of the task that was "+way, len(all), 3)
		for _, now := range all {
			e.wantSame("metadata after a change of the task that was "+way, now.Metadata, team)
			e.wantSame("first state after a change of the task that was "+way, now.Timeline[0].State, task.Queued)
		}
	}
	spoil("created", made)
	spoil("read", e.get(made.ID))
	spoil("listed", list()[0])
	spoil("found", find())
	spoil("claimed", e.claimOne(chat).Task)
}

func testCaps(e *env) {
	const tasks, limit = 12, 5
	for i := range tasks {
		e.create(e.request(fmt.Sprint("key", i)))
	}
	leases := e.claim(tasks, chat)
	var started, full atomic.Int32
	var mu sync.Mutex
	var held []store.Lease
	var wg sync.WaitGroup
	for _, l := range leases {
		wg.Go(func() {
			switch _, err := e.Store.BeginAttempt(background(), l.Ref, plan("s", limit)); {
			case err == nil:
				started.Add(1)
				mu.Lock()
				held = append(held, l)
				mu.Unlock()
			case errors.Is(err, store.ErrRouteFull):
				full.Add(1)
			default:
				e.Errorf("BeginAttempt: %v", err)
			}
		})
	}
	wg.Wait()
	e.wantSame("started and full", [2]int32{started.Load(), full.Load()}, [2]int32{limit, tasks - limit})
	page, err := e.Store.ListTasks(e.Context(), store.ListQuery{Scope: acme, State: task.Running})
	e.wantErr("ListTasks", err, nil)
	e.wantSame("running", len(page.Tasks), limit)

	e.advance(held[0], store.Step{Submitted: json.RawMessage(`{"job":1}`)})
	e.advance(held[0], store.Step{Close: closing(task.FailedAttempt)})
	e.begin(held[0], plan("s", limit))
	e.advance(held[0], failed(task.Rejected))
	waiting := e.request("waiting")
	waiting.First = e.first(plan("s", limit))
	e.wantSame("a free place", e.create(waiting).Task.State, task.Running)
	full2 := e.request("full")
	full2.First = waiting.First
	e.wantSame("none left", e.create(full2).Task.State, task.Queued)
}

func testReadopt(e *env) {
	n := e.request("key")
	n.First = e.first(plan("s", 1))
	lease := *e.create(n).Lease
	e.advance(lease, store.Step{Submitted: json.RawMessage(`{ "job": 1 }`)})
	e.advance(lease, store.Step{Close: closing(task.UnknownOutcome)})
	_, err := e.Store.Advance(e.Context(), lease.Ref, store.Step{Submitted: json.RawMessage(`1`)})
	e.wantErr("a job without an open attempt", err, store.ErrState)

	other := e.request("other")
	other.First = n.First
	e.wantSame("its place is free", e.create(other).Task.State, task.Running)
	got := e.advance(lease, store.Step{Readopt: true})
	e.wantSame("opened again", got.OpenAttempt().State, task.Submitted)
	e.wantSame("its job", string(got.OpenAttempt().Job), `{"job":1}`)
	e.advance(lease, store.Step{Close: &task.Closing{State: task.FailedAttempt, Code: fault.ProviderUnavailable, Cost: 3}})
	_, err = e.Store.BeginAttempt(e.Context(), lease.Ref, plan("s", 1))
	e.wantErr("the place is taken by the other", err, store.ErrRouteFull)
	e.wantSame("what it cost", e.get(n.ID).Attempts[0].Cost, task.Money(3))
}
