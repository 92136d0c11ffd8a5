package storetest

import (
	"encoding/json"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

func testReopen(e *env) {
	n := e.request("key")
	e.create(n)
	for i := 1; i <= task.MaxReopenings; i++ {
		e.begin(e.claimOne(chat), plan("s", 0))
		lease := e.expire()
		e.advance(lease, failed(task.Rejected))
		again := e.request("key")
		again.KeyID, again.Input, again.Deadline = "key_2", json.RawMessage(`{"prompt":"again"}`), 2*time.Hour
		before := e.get(n.ID)
		c := e.create(again)
		e.wantSame("admission", c.Admit, store.AdmitReopened)
		want, err := before.Apply(task.Reopen(), e.clock.Now())
		e.wantErr("Apply", err, nil)
		want.Revision, want.KeyID, want.Input, want.ReopenedBy = before.Revision+1, "key_2", again.Input, again.ID
		want.DeadlineAt = e.clock.Now().Add(2 * time.Hour)
		e.wantSame("reopened", c.Task, want)
		e.wantSame("reopenings", c.Task.Reopenings, i)
	}
	e.begin(e.claimOne(chat), plan("s", 0))
	e.advance(e.expire(), failed(task.Rejected))
	last := e.create(e.request("key"))
	e.wantSame("after the last reopening", last.Admit, store.AdmitReplayed)
	e.wantSame("retryable", last.Task.Failure.Retryable, false)

	final := e.request("final")
	e.create(final)
	e.advance(e.claimOne(chat), store.Step{Moves: []task.Transition{
		task.Fail(task.FailureOf(fault.New(fault.ContentPolicyViolation, "refused"))),
	}})
	e.wantSame("a definite failure", e.create(e.request("final")).Admit, store.AdmitReplayed)
}

// expire lets every lease run out and claims the one task again, as a takeover does.
func (e *env) expire() store.Lease {
	e.Helper()
	e.lapse(term)
	return e.claimOne()
}

// show records the failure of the task as it is now as shown.
func (e *env) show(t task.Task) {
	e.Helper()
	e.wantErr("MarkShown", e.Store.MarkShown(e.Context(), []task.Task{t}), nil)
}

func testReopenUnknown(e *env) {
	n := e.request("key")
	n.First = e.first(plan("s", 1))
	first := e.create(n)
	e.show(e.advance(*first.Lease, failed(task.UnknownOutcome)))
	again := e.request("key")
	again.First = n.First
	c := e.create(again)
	if c.Lease == nil || c.Admit != store.AdmitReopened {
		e.Fatalf("reopened with First: got %v, lease %v", c.Admit, c.Lease)
	}
	e.wantSame("attempts after an unknown outcome", len(c.Task.Attempts), 1)
	e.wantSame("state", c.Task.State, task.Queued)
	if c.Lease.Ref.Epoch <= first.Lease.Ref.Epoch {
		e.Errorf("epoch %d after %d", c.Lease.Ref.Epoch, first.Lease.Ref.Epoch)
	}

	e.advance(*c.Lease, store.Step{Readopt: true, Moves: []task.Transition{task.Start()}})
	e.advance(*c.Lease, failed(task.Rejected))
	again = e.request("key")
	again.First = n.First
	c = e.create(again)
	e.wantSame("attempts after a rejection", len(c.Task.Attempts), 2)
	e.wantSame("state", c.Task.State, task.Running)
	e.wantSame("revision", c.Task.Revision, e.get(n.ID).Revision)
}

// testMarkShown: a failure after work that may have been paid for is replayed until it was shown.
func testMarkShown(e *env) {
	n := e.request("key")
	n.First = e.first(plan("s", 0))
	lease := *e.create(n).Lease
	e.show(lease.Task)
	e.wantSame("an open task", e.get(n.ID), lease.Task)
	once := e.advance(lease, failed(task.UnknownOutcome))
	for range 2 {
		c := e.create(e.request("key"))
		e.wantSame("before it was shown", c.Admit, store.AdmitReplayed)
		e.wantSame("the task as it is", c.Task, once)
	}

	foreign := once
	foreign.Scope.Mode = task.Test
	gone := once
	gone.ID = task.NewID(task.PrefixTask, e.clock.Now())
	for what, other := range map[string]task.Task{"of another scope": foreign, "that is unknown": gone} {
		e.show(other)
		e.wantSame("after a task "+what+" was shown", e.create(e.request("key")).Admit, store.AdmitReplayed)
	}

	e.wantErr("MarkShown", e.Store.MarkShown(e.Context(), []task.Task{gone, once}), nil)
	e.wantSame("shown", e.get(n.ID), once.Show())
	if e.Crash != nil {
		e.crash()
		e.wantSame("shown, after a crash", e.get(n.ID), once.Show())
	}
	again := e.request("key")
	again.First = e.first(plan("s", 0))
	c := e.create(again)
	e.wantSame("after it was shown", c.Admit, store.AdmitReopened)

	e.begin(*c.Lease, plan("s", 0))
	twice := e.advance(*c.Lease, failed(task.UnknownOutcome))
	e.show(once)
	e.wantSame("the failure before was shown late", e.create(e.request("key")).Admit, store.AdmitReplayed)
	e.show(twice)
	e.wantSame("this one too", e.create(e.request("key")).Admit, store.AdmitReopened)
}
