package storetest

import (
	"encoding/json"
	"fmt"
	"sync"

	"unitask/internal/store"
	"unitask/internal/task"
)

func testCrash(e *env) {
	if e.Crash == nil {
		e.Skip("the engine isn't durable")
	}
	queued := e.create(e.request("queued")).Task
	n := e.request("working")
	n.First = e.first(plan("s", 1))
	n.Holds = []task.Hold{{Scope: "k", Kind: task.HoldOpen, Amount: 1}}
	lease := *e.create(n).Lease
	working := e.advance(lease, store.Step{Submitted: json.RawMessage(`{"job":7}`)})
	marked, err := e.Store.RequestCancel(e.Context(), acme, e.create(e.request("done")).Task.ID)
	e.wantErr("RequestCancel", err, nil)
	secret, err := e.Secrets.Secret(e.Context(), "signing", 32)
	e.wantErr("Secret", err, nil)

	e.crash()
	for _, want := range []task.Task{queued, working, marked} {
		e.wantSame("after the crash", e.get(want.ID), want)
		found, err := e.Store.FindTask(e.Context(), acme, want.IdempotencyHash)
		e.wantErr("FindTask", err, nil)
		e.wantSame("found by its key", found, want)
	}
	again, err := e.Secrets.Secret(e.Context(), "signing", 32)
	e.wantErr("Secret", err, nil)
	e.wantSame("the secret", again, secret)
	e.wantSame("the counter", e.held("k", task.HoldOpen), int64(1))

	_, err = e.Store.Advance(e.Context(), lease.Ref, store.Step{Progress: new(0.5)})
	e.wantErr("a lease from before", err, store.ErrFenced)
	other := e.create(e.request("other")).Task
	leases := e.claim(10, chat)
	e.wantSame("claimable", leaseIDs(leases), []string{queued.ID, working.ID, other.ID})
	if leases[1].Ref.Epoch <= lease.Ref.Epoch {
		e.Errorf("epoch %d after %d", leases[1].Ref.Epoch, lease.Ref.Epoch)
	}
	_, err = e.Store.BeginAttempt(e.Context(), leases[0].Ref, plan("s", 1))
	e.wantErr("the open attempt counts still", err, store.ErrRouteFull)
	e.advance(leases[1], failed(task.FailedAttempt))
	e.begin(leases[0], plan("s", 1))
}

// crash goes on with the engine's state after a crash, once no lease from before it stands, under another name.
func (e *env) crash() {
	e.Helper()
	if e.Lasting {
		e.clock.Advance(term)
	}
	e.Engine = e.Crash(e.T)
	e.session()
}

func testManyNodes(e *env) {
	if e.Attach == nil {
		e.Skip("the engine serves one node")
	}
	other := e.Attach(e.T)
	const tasks = 40
	want := map[string]int{}
	for i := range tasks {
		want[e.create(e.request(fmt.Sprint("key", i))).Task.ID] = 1
	}
	var mu sync.Mutex
	got := map[string]int{}
	var wg sync.WaitGroup
	for name, s := range map[string]store.Store{"a": e.Store, "b": other.Store} {
		e.wantErr("Renew", s.Renew(e.Context(), name, term), nil)
		wg.Go(func() {
			for {
				leases, err := s.Claim(background(), store.ClaimRequest{Node: name, Lines: lines(chat), Limit: 1})
				if err != nil {
					e.Errorf("Claim: %v", err)
				}
				if len(leases) == 0 {
					return
				}
				mu.Lock()
				got[leases[0].Task.ID]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	e.wantSame("each task once", got, want)
}
