package storetest

import (
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// testNodeSessions: a lease lives as long as its node's session, which is never revived.
func testNodeSessions(e *env) {
	id := e.create(e.request("key")).Task.ID
	first := e.claimOne(chat)
	name := e.node
	e.clock.Advance(term - time.Second)
	e.wantErr("Renew", e.Store.Renew(e.Context(), name, term), nil)
	e.clock.Advance(term - time.Second)
	e.wantSame("still held", leaseIDs(e.claim(1, chat)), []string(nil))
	late := e.request("late")
	late.First = e.first()
	second := *e.create(late).Lease
	e.clock.Advance(time.Second)
	for range 2 {
		e.wantErr("Renew of a session that has run out", e.Store.Renew(e.Context(), name, time.Hour), store.ErrFenced)
	}
	_, err := e.Store.Claim(e.Context(), store.ClaimRequest{Node: name, Lines: lines(chat), Limit: 1})
	e.wantErr("Claim by its node", err, store.ErrFenced)
	for what, ref := range map[string]store.LeaseRef{"an early lease": first.Ref, "a late one": second.Ref} {
		_, err = e.Store.BeginAttempt(e.Context(), ref, plan("s", 0))
		e.wantErr("BeginAttempt under "+what, err, store.ErrFenced)
	}

	e.session()
	leases := e.claim(10, chat)
	e.wantSame("claimed under another name", leaseIDs(leases), []string{id, late.ID})
	for i, old := range []store.Lease{first, second} {
		if leases[i].Ref.Epoch <= old.Ref.Epoch {
			e.Errorf("epoch %d after %d", leases[i].Ref.Epoch, old.Ref.Epoch)
		}
		_, err = e.Store.Advance(e.Context(), old.Ref, store.Step{Moves: []task.Transition{task.Start()}})
		e.wantErr("Advance under the old lease", err, store.ErrFenced)
		_, err = e.Store.BeginAttempt(e.Context(), old.Ref, plan("s", 0))
		e.wantErr("BeginAttempt under the old lease", err, store.ErrFenced)
		e.wantSame("nothing changed", e.get(old.Task.ID).Revision, int64(1))
		e.begin(leases[i], plan("s", 0))
	}
	_, err = e.Store.Advance(e.Context(), store.LeaseRef{TaskID: "task_unknown"}, store.Step{})
	e.wantErr("Advance of an unknown task", err, store.ErrFenced)
}

// testSeveralNodes: each node's session is its own.
func testSeveralNodes(e *env) {
	mine, theirs := e.create(e.request("mine")).Task, e.create(e.request("theirs")).Task
	e.claim(1, chat)
	first := e.node
	e.clock.Advance(term / 2)
	e.session()
	other := e.claimOne(chat)
	e.wantErr("Renew", e.Store.Renew(e.Context(), e.node, time.Hour), nil)
	e.wantErr("Renew for less", e.Store.Renew(e.Context(), e.node, term), nil)
	e.clock.Advance(term / 2)
	e.wantErr("Renew of the first", e.Store.Renew(e.Context(), first, term), store.ErrFenced)
	e.wantSame("the lapsed session's task", leaseIDs(e.claim(10, chat)), []string{mine.ID})
	e.begin(other, plan("s", 0))
	e.clock.Advance(term / 2)
	_, err := e.Store.Advance(e.Context(), other.Ref, store.Step{Progress: new(0.5)})
	e.wantErr("the last Renew counts", err, store.ErrFenced)
	e.session()
	e.wantSame("its open attempt", leaseIDs(e.claim(10)), []string{theirs.ID})
}

// testWithoutSession: a node without a session gets no lease.
func testWithoutSession(e *env) {
	_, err := e.Store.Claim(e.Context(), store.ClaimRequest{Node: "nobody", Limit: 1})
	e.wantErr("Claim", err, store.ErrFenced)
	_, err = e.Store.Claim(e.Context(), store.ClaimRequest{Limit: 1})
	e.wantErr("Claim without a name", err, store.ErrFenced)
	over := e.node
	e.lapse(term)
	var want []string
	for _, name := range []string{"nobody", over} {
		n := e.request(name)
		n.First = &store.First{Node: name, Plans: []task.Plan{plan("s", 0)}}
		t, err := n.Record(e.clock.Now())
		e.wantErr("Record", err, nil)
		e.wantSame("it waits in the queue", e.create(n), store.Created{Task: t, Admit: store.AdmitCreated})
		want = append(want, n.ID)
	}
	e.wantSame("claimable", leaseIDs(e.claim(10, chat)), want)
}

// testEndedSession: a node that stops gives its leases up at once.
func testEndedSession(e *env) {
	id := e.create(e.request("key")).Task.ID
	first := e.claimOne(chat)
	e.wantErr("Renew for no time", e.Store.Renew(e.Context(), e.node, 0), nil)
	e.wantErr("Renew of the ended session", e.Store.Renew(e.Context(), e.node, term), store.ErrFenced)
	_, err := e.Store.BeginAttempt(e.Context(), first.Ref, plan("s", 0))
	e.wantErr("BeginAttempt after it", err, store.ErrFenced)
	e.session()
	e.wantSame("claimed by another", leaseIDs(e.claim(10, chat)), []string{id})
}
