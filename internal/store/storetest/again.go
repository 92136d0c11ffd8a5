package storetest

import (
	"encoding/json"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// The tests of this file make calls again, as is done after ErrUnknown.

// testCreateAgain: a repeated creation is answered as it was at first, with the task as it is by now.
func testCreateAgain(e *env) {
	queued := e.request("queued")
	queued.Holds = []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1, Limit: 1}}
	first := e.create(queued)
	e.clock.Advance(time.Second)
	e.wantSame("queued", e.create(queued), first)
	e.wantSame("its hold", e.held("key:1", task.HoldOpen), int64(1))
	lease := e.claimOne(chat)
	started := e.begin(lease, plan("s", 0))
	e.wantSame("started meanwhile", e.create(queued), store.Created{Task: started, Admit: store.AdmitCreated})
	e.advance(lease, failed(task.Rejected))

	again := e.request("queued")
	again.Holds = queued.Holds
	reopened := e.create(again)
	e.wantSame("reopened", e.create(again), reopened)
	e.wantSame("its hold", e.held("key:1", task.HoldOpen), int64(1))
	e.wantSame("admission", reopened.Admit, store.AdmitReopened)
	e.wantSame("the creation from before", e.create(queued).Admit, store.AdmitReplayed)

	n := e.request("first")
	n.First = e.first(plan("s", 1))
	first = e.create(n)
	e.clock.Advance(time.Second)
	first.Lease.Left -= time.Second
	e.wantSame("leased and started", e.create(n), first)
	progressed := e.advance(*first.Lease, store.Step{Progress: new(0.5)})
	first.Task, first.Lease.Task = progressed, progressed
	e.wantSame("as it is by now", e.create(n), first)
	full := e.request("full")
	full.First = n.First
	e.wantSame("leased alone", e.create(full), e.create(full))
	other := n
	other.First = nil
	e.wantSame("without asking for the lease", e.create(other), store.Created{Task: progressed, Admit: store.AdmitCreated})
	failure := e.advance(*first.Lease, failed(task.Rejected))
	e.wantSame("ended meanwhile", e.create(n), store.Created{Task: failure, Admit: store.AdmitCreated})

	twice := e.request("first")
	twice.First = n.First
	second := e.create(twice)
	e.wantSame("reopened and started", e.create(twice), second)
	e.lapse(term)
	e.wantSame("its session is over", e.create(twice), store.Created{Task: second.Task, Admit: store.AdmitReopened})
	e.claim(10)
	e.wantSame("somebody else has it", e.create(twice), store.Created{Task: second.Task, Admit: store.AdmitReopened})
}

// write names the n-th write under the lease.
func write(l store.Lease, n int64) store.LeaseRef {
	ref := l.Ref
	ref.Write = n
	return ref
}

// testWriteAgain: a repeated write of a worker changes nothing, and is answered with the task.
func testWriteAgain(e *env) {
	id := e.create(e.request("key")).Task.ID
	lease := e.claimOne(chat)
	advance := func(what string, number int64, s store.Step) (done task.Task) {
		e.Helper()
		for range 2 {
			var err error
			done, err = e.Store.Advance(e.Context(), write(lease, number), s)
			e.wantErr(what, err, nil)
			e.wantSame(what, done, e.get(id))
			e.clock.Advance(time.Second)
		}
		return done
	}
	for range 2 {
		started, err := e.Store.BeginAttempt(e.Context(), write(lease, 1), plan("s", 1))
		e.wantErr("BeginAttempt", err, nil)
		e.wantSame("started", started, e.get(id))
		e.wantSame("attempts", len(started.Attempts), 1)
	}
	_, err := e.Store.BeginAttempt(e.Context(), write(lease, 2), plan("s", 1))
	e.wantErr("a new intent", err, store.ErrState)
	submitted := advance("a job", 2, store.Step{Submitted: json.RawMessage(`{"job":1}`)})
	e.wantSame("revision", submitted.Revision, int64(3))
	rejected := advance("a refusal", 3, store.Step{Close: closing(task.Rejected)})
	e.wantSame("revision", rejected.Revision, int64(4))
	marked, err := e.Store.RequestCancel(e.Context(), acme, id)
	e.wantErr("RequestCancel", err, nil)
	e.wantSame("with what came in between", advance("a refusal", 3, store.Step{Close: closing(task.Rejected)}), marked)
	ended := advance("the end", 4, store.Step{Moves: []task.Transition{task.Cancel(nil)}})
	_, err = e.Store.Advance(e.Context(), write(lease, 5), store.Step{Progress: new(0.5)})
	e.wantErr("a new write after the end", err, store.ErrFenced)
	e.wantSame("ended once", e.get(id), ended)
}

// testWriteNotAgain: calls that aren't repeated ones are never taken for such.
func testWriteNotAgain(e *env) {
	e.create(e.request("key"))
	lease := e.claimOne(chat)
	e.begin(lease, plan("s", 0))
	_, err := e.Store.BeginAttempt(e.Context(), lease.Ref, plan("s", 0))
	e.wantErr("BeginAttempt without a number", err, store.ErrState)
	e.advance(lease, store.Step{Close: closing(task.Rejected)})
	_, err = e.Store.Advance(e.Context(), lease.Ref, store.Step{Close: closing(task.Rejected)})
	e.wantErr("Advance without a number", err, store.ErrState)

	s := store.Step{Progress: new(0.5), Release: new(time.Duration(0))}
	released, err := e.Store.Advance(e.Context(), write(lease, 1), s)
	e.wantErr("a step that gives the lease back", err, nil)
	again, err := e.Store.Advance(e.Context(), write(lease, 1), s)
	e.wantErr("repeated", err, nil)
	e.wantSame("repeated", again, released)
	other := e.claimOne(chat)
	_, err = e.Store.Advance(e.Context(), write(lease, 1), s)
	e.wantErr("repeated after somebody else's claim", err, store.ErrFenced)
	_, err = e.Store.Advance(e.Context(), write(other, 1), store.Step{Takeovers: new(1)})
	e.wantErr("another lease's first write", err, nil)
	e.wantSame("isn't the first lease's", e.get(released.ID).Takeovers, 1)

	pause := store.Step{Release: new(time.Duration(0))}
	_, err = e.Store.Advance(e.Context(), write(other, 2), pause)
	e.wantErr("only giving the lease back", err, nil)
	_, err = e.Store.Advance(e.Context(), write(other, 2), pause)
	e.wantErr("repeated", err, store.ErrFenced)
	last := e.claimOne(chat)
	ref := write(last, 1)
	_, err = e.Store.Advance(e.Context(), ref, failed(""))
	e.wantErr("a step that doesn't fit", err, store.ErrState)
	_, err = e.Store.Advance(e.Context(), ref, store.Step{Moves: failed("").Moves})
	e.wantErr("its number names another write", err, nil)
	reopened := e.create(e.request("key"))
	e.wantSame("reopened", reopened.Admit, store.AdmitReopened)
	_, err = e.Store.Advance(e.Context(), ref, store.Step{Moves: failed("").Moves})
	e.wantErr("repeated after the task was reopened", err, store.ErrFenced)
}

// testClaimAgain: a repeated claim returns those leases of the first that still stand.
func testClaimAgain(e *env) {
	var want []string
	for _, key := range []string{"a", "b", "c", "d"} {
		want = append(want, e.create(e.request(key)).Task.ID)
	}
	claim := func(node string, number int64) []store.Lease {
		e.Helper()
		leases, err := e.Store.Claim(e.Context(), store.ClaimRequest{Node: node, Lines: lines(chat), Limit: 2, Number: number})
		e.wantErr("Claim", err, nil)
		return leases
	}
	first := claim(e.node, 1)
	e.wantSame("claimed", leaseIDs(first), want[:2])
	e.wantSame("again", claim(e.node, 1), first)
	e.advance(first[0], store.Step{Moves: failed("").Moves})
	e.wantSame("one ended", claim(e.node, 1), first[1:])
	e.wantErr("Renew", e.Store.Renew(e.Context(), "other", term), nil)
	e.wantSame("the same number of another node", leaseIDs(claim("other", 1)), want[2:])
	e.create(e.request("e"))
	e.wantSame("the next number", len(claim(e.node, 2)), 1)
	for _, key := range []string{"f", "g"} {
		e.create(e.request(key))
		e.wantSame("without a number", len(claim(e.node, 0)), 1)
	}
	over := e.node
	e.lapse(term)
	_, err := e.Store.Claim(e.Context(), store.ClaimRequest{Node: over, Limit: 2, Number: 2})
	e.wantErr("after the session", err, store.ErrFenced)
}
