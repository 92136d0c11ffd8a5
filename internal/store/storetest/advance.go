package storetest

import (
	"encoding/json"
	"math"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

func testLife(e *env) {
	n := e.request("key")
	n.Price, n.Reserved = task.Price{Unit: task.PerMillionTokens, Input: 1_000_000, Output: 2_000_000}, 1000
	want := e.create(n).Task
	lease := e.claimOne(chat)
	apply := func(moves ...task.Transition) {
		for _, m := range moves {
			var err error
			if want, err = want.Apply(m, e.clock.Now()); err != nil {
				e.Fatal(err)
			}
		}
	}
	step := func(name string, got task.Task) {
		want.Revision++
		want.UpdatedAt = e.clock.Now()
		e.wantSame(name, got, want)
		e.wantSame(name+", as stored", e.get(n.ID), want)
		e.clock.Advance(time.Second)
	}

	apply(task.Start())
	want = want.BeginAttempt(plan("s", 2), e.clock.Now())
	step("begin", e.begin(lease, plan("s", 2)))

	want, _ = want.MarkSubmitted(json.RawMessage(`{"id":"<1>"}`), e.clock.Now())
	step("submitted", e.advance(lease, store.Step{Submitted: json.RawMessage(`{"id": "<1>"}`)}))

	want.Progress = new(0.5)
	step("progress", e.advance(lease, store.Step{Progress: new(0.5)}))

	apply(task.Transfer())
	step("transfer", e.advance(lease, store.Step{Moves: []task.Transition{task.Transfer()}}))

	usage := task.Usage{InputTokens: 10, OutputTokens: 20}
	want, _ = want.CloseAttempt(task.Closing{State: task.OK, Usage: &usage, Cost: 12}, e.clock.Now())
	apply(task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"hi","embeddings":[[0.25]]}`)}, usage))
	step("succeed", e.advance(lease, store.Step{
		Close: &task.Closing{State: task.OK, Usage: &usage, Cost: 12},
		Moves: []task.Transition{task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"hi","embeddings":[[0.25]]}`)}, usage)},
	}))
	e.wantSame("cost", want.Cost, task.Money(50))
	e.wantSame("input erased", want.Input, json.RawMessage(nil))

	_, err := e.Store.Advance(e.Context(), lease.Ref, store.Step{})
	e.wantErr("Advance after the end", err, store.ErrFenced)
	e.wantSame("claimable after the end", leaseIDs(e.claim(10, chat)), []string(nil))
}

func testAdvanceRefuses(e *env) {
	id := e.create(e.request("key")).Task.ID
	lease := e.claimOne(chat)
	queued := []struct {
		name string
		step store.Step
	}{
		{"transfer before the start", store.Step{Moves: []task.Transition{task.Transfer()}}},
		{"start twice", store.Step{Moves: []task.Transition{task.Start(), task.Start()}}},
		{"close without an attempt", store.Step{Close: closing(task.OK)}},
		{"readopt without an attempt", store.Step{Readopt: true}},
		{"reopen", store.Step{Moves: []task.Transition{failed(task.Rejected).Moves[0], task.Reopen()}}},
		{"a move after the end", store.Step{Moves: []task.Transition{task.Cancel(nil), task.Start()}}},
		{"progress beyond 1", store.Step{Progress: new(1.5)}},
		{"no progress at all", store.Step{Progress: new(math.NaN())}},
	}
	for _, c := range queued {
		_, err := e.Store.Advance(e.Context(), lease.Ref, c.step)
		e.wantErr(c.name, err, store.ErrState)
	}
	e.wantSame("nothing recorded", e.get(id).Revision, int64(1))

	e.begin(lease, plan("s", 0))
	for _, c := range []struct {
		name string
		step store.Step
	}{
		{"the end with an open attempt", store.Step{Moves: failed(task.Rejected).Moves}},
		{"closing with an open state", store.Step{Close: &task.Closing{State: task.Intent}}},
		{"readopt an open attempt", store.Step{Readopt: true}},
	} {
		_, err := e.Store.Advance(e.Context(), lease.Ref, c.step)
		e.wantErr(c.name, err, store.ErrState)
	}
	if _, err := e.Store.Advance(e.Context(), lease.Ref, store.Step{Submitted: json.RawMessage(`{`)}); err == nil {
		e.Error("a job that isn't JSON: no error")
	}
	e.wantSame("nothing recorded", e.get(id).Revision, int64(2))
}

func testRelease(e *env) {
	id := e.create(e.request("key")).Task.ID
	lease := e.claimOne(chat)
	e.wantSame("an empty step", e.advance(lease, store.Step{}).Revision, int64(1))
	e.advance(lease, store.Step{Release: new(3 * time.Second)})
	e.wantSame("revision after a release", e.get(id).Revision, int64(1))
	_, err := e.Store.Advance(e.Context(), lease.Ref, store.Step{})
	e.wantErr("Advance after the release", err, store.ErrFenced)

	e.wantSame("within the pause", leaseIDs(e.claim(1, chat)), []string(nil))
	e.clock.Advance(3 * time.Second)
	lease = e.claimOne(chat)
	e.begin(lease, plan("s", 0))
	e.advance(lease, store.Step{Submitted: json.RawMessage(`1`), Release: new(2 * time.Second)})
	e.wantSame("an open attempt within its pause", leaseIDs(e.claim(1, chat)), []string(nil))
	e.clock.Advance(2 * time.Second)
	e.wantSame("its job", string(e.claimOne().Task.OpenAttempt().Job), `1`)
}
