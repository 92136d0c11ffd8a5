package storetest

import (
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

func testCancel(e *env) {
	cancel := func(id string) task.Task {
		e.Helper()
		t, err := e.Store.RequestCancel(e.Context(), acme, id)
		if err != nil {
			e.Fatalf("RequestCancel: %v", err)
		}
		return t
	}
	for _, id := range []string{"task_x", e.request("none").ID} {
		_, err := e.Store.RequestCancel(e.Context(), acme, id)
		e.wantErr("an unknown task", err, store.ErrNotFound)
	}

	resting := e.create(e.request("resting")).Task
	_, err := e.Store.RequestCancel(e.Context(), task.Scope{Account: acme.Account, Mode: task.Test}, resting.ID)
	e.wantErr("from another scope", err, store.ErrNotFound)
	want := resting
	want.CancelRequested = true
	want, err = want.Apply(task.Cancel(nil), e.clock.Now())
	e.wantErr("Apply", err, nil)
	want.Revision = 2
	e.wantSame("at rest", cancel(resting.ID), want)
	e.clock.Advance(time.Second)
	e.wantSame("again", cancel(resting.ID), want)
	e.wantSame("claimable", leaseIDs(e.claim(1, chat)), []string(nil))

	leased := e.create(e.request("leased")).Task
	lease := e.claimOne(chat)
	marked := cancel(leased.ID)
	e.wantSame("leased", [2]any{marked.State, marked.CancelRequested}, [2]any{task.Queued, true})
	e.wantSame("again", cancel(leased.ID).Revision, marked.Revision)
	started := e.begin(lease, plan("s", 0))
	e.wantSame("the mark in the worker's hands", started.CancelRequested, true)

	e.lapse(term)
	e.wantSame("nobody holds it, an attempt is open", cancel(leased.ID).State, task.Running)
	lease = e.claimOne()
	usage := task.Usage{OutputTokens: 5}
	done := e.advance(lease, store.Step{Close: closing(task.UnknownOutcome), Moves: []task.Transition{task.Cancel(&usage)}})
	e.wantSame("canceled by its worker", [2]any{done.State, *done.Usage}, [2]any{task.Canceled, usage})
	e.wantSame("afterwards", cancel(leased.ID), done)
}
