package storetest

import (
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// patience bounds the wait for something that has happened already.
const patience = 10 * time.Second

func testWake(e *env) {
	queue, stopQueue := e.Store.Wake(store.TopicQueue)
	defer stopQueue()
	n := e.request("key")
	topic, stop := e.Store.Wake(n.ID)
	other, stopOther := e.Store.Wake(e.request("other").ID)
	defer stopOther()
	rung := func(what string, ch <-chan struct{}) {
		e.Helper()
		select {
		case <-ch:
		case <-time.After(patience):
			e.Errorf("%s: not woken", what)
		}
	}

	e.create(n)
	rung("the queue at a creation", queue)
	rung("the task at its creation", topic)
	lease := e.claimOne(chat)
	e.begin(lease, plan("s", 1))
	rung("the task at its start", topic)
	e.advance(lease, store.Step{Release: new(time.Duration(0))})
	rung("the queue at a release", queue)
	lease = e.claimOne()
	e.create(e.request("waits"))
	rung("the queue at another creation", queue)
	e.advance(lease, failed(task.Rejected))
	rung("the task at its end", topic)
	rung("the queue when a route has a place again", queue)

	stop()
	stop()
	e.create(n)
	for what, ch := range map[string]<-chan struct{}{"after stop": topic, "another task": other} {
		select {
		case <-ch:
			e.Errorf("%s: woken", what)
		default:
		}
	}
}

func testStats(e *env) {
	stats := func() map[task.State]int64 {
		e.Helper()
		s, err := e.Store.Stats(e.Context())
		if err != nil {
			e.Fatalf("Stats: %v", err)
		}
		return s.ByState
	}
	counts := func(queued, running, transferring int64) map[task.State]int64 {
		return map[task.State]int64{task.Queued: queued, task.Running: running, task.Transferring: transferring}
	}
	e.wantSame("empty", stats(), counts(0, 0, 0))
	for _, key := range []string{"a", "b", "c"} {
		e.create(e.request(key))
	}
	leases := e.claim(2, chat)
	for _, l := range leases {
		e.begin(l, plan("s", 0))
	}
	e.advance(leases[0], store.Step{Moves: []task.Transition{task.Transfer()}})
	e.wantSame("one of each", stats(), counts(1, 1, 1))
	e.advance(leases[1], failed(task.Rejected))
	e.wantSame("one ended", stats(), counts(1, 0, 1))
}

func testClose(e *env) {
	n := e.request("key")
	e.create(n)
	e.wantErr("Close", e.Store.Close(), nil)
	e.wantErr("Close again", e.Store.Close(), nil)
	_, err := e.Store.CreateTask(e.Context(), e.request("after"))
	e.wantErr("CreateTask", err, store.ErrClosed)
	_, err = e.Store.GetTask(e.Context(), acme, n.ID)
	e.wantErr("GetTask", err, store.ErrClosed)
	_, err = e.Store.Claim(e.Context(), store.ClaimRequest{Limit: 1})
	e.wantErr("Claim", err, store.ErrClosed)
}
