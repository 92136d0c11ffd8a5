package storetest

import (
	"strings"
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

// fleet returns the engine's optional part.
func (e *env) fleet() store.Fleet {
	e.Helper()
	f, ok := e.Store.(store.Fleet)
	if !ok {
		e.Skip("the engine is for one node")
	}
	return f
}

// notes exchanges a node's note and returns those of others.
func (e *env) notes(f store.Fleet, node, note string) map[string]string {
	e.Helper()
	others, err := f.Exchange(e.Context(), node, []byte(note))
	e.wantErr("Exchange", err, nil)
	got := map[string]string{}
	for name, n := range others {
		got[name] = string(n)
	}
	return got
}

// testWorker: a task's worker is the node that has its lease.
func testWorker(e *env) {
	f := e.fleet()
	leased, waits, ended := e.request("leased"), e.request("waits"), e.request("ended")
	leased.First, ended.First = e.first(), e.first()
	e.create(leased)
	e.create(waits)
	e.advance(*e.create(ended).Lease, store.Step{Moves: []task.Transition{task.Cancel(nil)}})
	for id, want := range map[string]string{leased.ID: e.node, waits.ID: "", ended.ID: "", "task_unknown": ""} {
		got, err := f.Worker(e.Context(), id)
		e.wantErr("Worker", err, nil)
		e.wantSame("the worker of "+id, got, want)
	}
}

// testNotes: a node has the others' last notes as long as they have a session.
func testNotes(e *env) {
	f := e.fleet()
	first := e.node
	e.wantSame("alone", e.notes(f, first, "a"), map[string]string{})
	e.session()
	second := e.node
	e.wantSame("the second's first", e.notes(f, second, ""), map[string]string{first: "a"})
	e.wantSame("one without a note", e.notes(f, first, "b"), map[string]string{second: ""})
	e.session()
	e.wantSame("the third's first", e.notes(f, e.node, "\x00\xff"), map[string]string{first: "b", second: ""})
	e.wantSame("each has the last", e.notes(f, second, "c"), map[string]string{first: "b", e.node: "\x00\xff"})
	e.wantSame("the same again", e.notes(f, second, "c"), map[string]string{first: "b", e.node: "\x00\xff"})

	long := strings.Repeat("n", store.MaxNote)
	e.notes(f, second, long)
	_, err := f.Exchange(e.Context(), second, []byte(long+"n"))
	if err == nil {
		e.Error("a note that is too long is taken")
	}
	if got := e.notes(f, first, "b"); got[second] != long {
		e.Errorf("the longest note: %d bytes, want %d", len(got[second]), len(long))
	}

	e.wantErr("the third ends", e.Store.Renew(e.Context(), e.node, 0), nil)
	_, err = f.Exchange(e.Context(), e.node, []byte("d"))
	e.wantErr("Exchange of a node that has ended", err, store.ErrFenced)
	_, err = f.Exchange(e.Context(), "nobody", []byte("d"))
	e.wantErr("Exchange without a session", err, store.ErrFenced)
	e.wantSame("two are left", e.notes(f, first, "b"), map[string]string{second: long})
	e.wantErr("Renew", e.Store.Renew(e.Context(), "nobody", term/4), nil)
	e.wantSame("its note wasn't kept", e.notes(f, first, "b"), map[string]string{second: long, "nobody": ""})
	e.clock.Advance(term / 2)
	e.wantErr("Renew", e.Store.Renew(e.Context(), first, term), nil)
	e.clock.Advance(term / 2)
	e.wantSame("one is left", e.notes(f, first, "b"), map[string]string{})
	_, err = f.Exchange(e.Context(), second, []byte("d"))
	e.wantErr("Exchange when the session has run out", err, store.ErrFenced)

	if e.Attach == nil {
		return
	}
	other, ok := e.Attach(e.T).Store.(store.Fleet)
	if !ok {
		e.Fatal("the attached engine is for one node")
	}
	e.session()
	e.wantSame("through another engine", e.notes(other, e.node, "e"), map[string]string{first: "b"})
	e.wantSame("and back", e.notes(f, first, "f"), map[string]string{e.node: "e"})
}

// testListCanceled: a node hears of the cancellations of its own leases.
func testListCanceled(e *env) {
	f := e.fleet()
	mine, theirs := e.create(e.request("mine")).Task, e.create(e.request("theirs")).Task
	e.claim(1, chat)
	first := e.node
	e.session()
	e.claim(1, chat)
	for _, id := range []string{mine.ID, theirs.ID} {
		_, err := e.Store.RequestCancel(e.Context(), acme, id)
		e.wantErr("RequestCancel", err, nil)
	}
	for node, want := range map[string]string{first: mine.ID, e.node: theirs.ID} {
		got, err := f.ListCanceled(e.Context(), node)
		e.wantErr("ListCanceled", err, nil)
		e.wantSame("canceled at "+node, got, []string{want})
	}
}
