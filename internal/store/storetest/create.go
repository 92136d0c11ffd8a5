package storetest

import (
	"encoding/json"
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

func testCreate(e *env) {
	n := e.request("key")
	n.Input = json.RawMessage(`{ "prompt": "<a & b>" }`)
	n.Parameters, n.Sync = json.RawMessage(`{}`), true
	n.Authorization = &task.Authorization{Person: "none"}
	n.Price, n.Reserved = task.Price{Unit: task.PerImage, Output: 5}, 7
	n.Holds = []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1, Limit: 3}}
	now := e.clock.Now()
	want := task.Task{
		ID: n.ID, Scope: acme, KeyID: "key_1", Capability: chat, Sync: true,
		State: task.Queued, Revision: 1, Timeline: []task.Move{{State: task.Queued, At: now}},
		CreatedAt: now, UpdatedAt: now, DeadlineAt: now.Add(time.Hour),
		IdempotencyHash: n.IdempotencyHash, Fingerprint: n.Fingerprint,
		Input: json.RawMessage(`{"prompt":"<a & b>"}`), Parameters: n.Parameters, Authorization: n.Authorization,
		Price: n.Price, Reserved: 7, Holds: []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1}},
	}
	e.wantSame("Created", e.create(n), store.Created{Task: want, Admit: store.AdmitCreated})
	e.wantSame("GetTask", e.get(n.ID), want)

	again := e.request("another key")
	again.ID = n.ID
	_, err := e.Store.CreateTask(e.Context(), again)
	e.wantErr("CreateTask under a taken id", err, store.ErrExists)

	broken := e.request("broken")
	broken.Input = json.RawMessage(`{"prompt":`)
	if _, err := e.Store.CreateTask(e.Context(), broken); err == nil {
		e.Error("CreateTask with an input that isn't JSON: no error")
	}
	for _, s := range []task.Scope{{Account: acme.Account, Mode: task.Test}, {Account: "acct_other", Mode: task.Live}} {
		_, err := e.Store.GetTask(e.Context(), s, n.ID)
		e.wantErr("GetTask from another scope", err, store.ErrNotFound)
	}
	for _, id := range []string{"", "task_", "task_x", broken.ID, "task_zzzzzzzzzzzzzzzzzzzzzzzzzz", n.ID + "0"} {
		_, err := e.Store.GetTask(e.Context(), acme, id)
		e.wantErr("GetTask of "+id, err, store.ErrNotFound)
	}
}

func testFirst(e *env) {
	begin := func(key string, plans ...task.Plan) (store.Created, store.NewTask) {
		n := e.request(key)
		n.First = e.first(plans...)
		return e.create(n), n
	}
	got, n := begin("first", plan("full", 1))
	now := e.clock.Now()
	running, err := n.Record(now)
	if err != nil {
		e.Fatal(err)
	}
	if running, err = running.Apply(task.Start(), now); err != nil {
		e.Fatal(err)
	}
	running = running.BeginAttempt(plan("full", 1), now)
	if got.Lease == nil {
		e.Fatal("CreateTask with First: no lease")
	}
	e.wantSame("started at once", got, store.Created{
		Task: running, Admit: store.AdmitCreated, Lease: &store.Lease{Ref: got.Lease.Ref, Task: running, Left: n.Deadline},
	})
	e.wantSame("as stored", e.get(n.ID), running)

	second, _ := begin("second", plan("full", 1), plan("roomy", 0))
	e.wantSame("the first plan with room", second.Task.OpenAttempt().Supplier, "roomy")
	third, n := begin("third", plan("full", 1))
	e.wantSame("no room", third.Task.State, task.Queued)
	e.wantSame("leased", len(e.claim(10, chat)), 0)
	e.begin(*third.Lease, plan("roomy", 0))
	n.ID = e.request("third").ID
	replayed := e.create(n)
	if replayed.Lease != nil || replayed.Admit != store.AdmitReplayed {
		e.Errorf("a replay: got %v with lease %v, want no lease", replayed.Admit, replayed.Lease)
	}
}

func testIdempotency(e *env) {
	n := e.request("key")
	created := e.create(n)
	again := e.request("key")
	again.Holds = []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1}}
	e.wantSame("replay", e.create(again), store.Created{Task: created.Task, Admit: store.AdmitReplayed})
	e.wantSame("a replay's holds", e.held("key:1", task.HoldOpen), int64(0))
	found, err := e.Store.FindTask(e.Context(), acme, n.IdempotencyHash)
	e.wantErr("FindTask", err, nil)
	e.wantSame("FindTask", found, created.Task)
	_, err = e.Store.FindTask(e.Context(), acme, hashOf("unknown"))
	e.wantErr("FindTask of an unknown key", err, store.ErrNotFound)

	other := e.request("key")
	other.Fingerprint = hashOf("another request")
	_, err = e.Store.CreateTask(e.Context(), other)
	e.wantErr("another request under the key", err, store.ErrConflict)

	for _, s := range []task.Scope{{Account: acme.Account, Mode: task.Test}, {Account: "acct_other", Mode: task.Live}} {
		_, err := e.Store.FindTask(e.Context(), s, n.IdempotencyHash)
		e.wantErr("FindTask from another scope", err, store.ErrNotFound)
		elsewhere := e.request("key")
		elsewhere.Scope = s
		e.wantSame("the same key in another scope", e.create(elsewhere).Admit, store.AdmitCreated)
	}

	refused := e.request("refused")
	refused.Holds = []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 2, Limit: 1}}
	if _, err := e.Store.CreateTask(e.Context(), refused); err == nil {
		e.Error("a hold beyond its limit: no error")
	}
	corrected := e.request("refused")
	corrected.Fingerprint = hashOf("corrected request")
	e.wantSame("a refused key used again", e.create(corrected).Admit, store.AdmitCreated)
}

func testConcurrentCreate(e *env) {
	const keys, callers = 8, 16
	var mu sync.Mutex
	admits := map[store.Admit]int{}
	seen := map[task.Hash]map[string]bool{}
	var wg sync.WaitGroup
	for i := range keys * callers {
		n := e.request(string(rune('a' + i%keys)))
		wg.Go(func() {
			c, err := e.Store.CreateTask(background(), n)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				e.Errorf("CreateTask: %v", err)
				return
			}
			admits[c.Admit]++
			if seen[n.IdempotencyHash] == nil {
				seen[n.IdempotencyHash] = map[string]bool{}
			}
			seen[n.IdempotencyHash][c.Task.ID] = true
		})
	}
	wg.Wait()
	e.wantSame("admissions", admits, map[store.Admit]int{
		store.AdmitCreated: keys, store.AdmitReplayed: keys * (callers - 1),
	})
	for key, ids := range seen {
		if len(ids) != 1 {
			e.Errorf("key %s: %d tasks, want 1", key, len(ids))
		}
	}
}
