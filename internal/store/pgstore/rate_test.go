package pgstore_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
)

func TestRate(t *testing.T) {
	callers, _ := strconv.Atoi(os.Getenv("CALLERS"))
	nodes, _ := strconv.Atoi(os.Getenv("NODES"))
	if callers == 0 {
		t.Skip("CALLERS")
	}
	s := pgtest.Start(t, pgtest.Config{Sync: true})
	ctx := context.Background()
	var done, groups atomic.Int64
	var lat sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	start := time.Now()
	for node := range nodes {
		lanes, _ := strconv.Atoi(os.Getenv("LANES"))
		db, err := pgstore.Open(ctx, pgstore.Config{URL: s.URL(), Lanes: lanes, OnCommit: func(int, time.Duration) { groups.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		name := "n" + strconv.Itoa(node)
		if err := db.Renew(ctx, name, time.Hour); err != nil {
			t.Fatal(err)
		}
		for c := range callers / nodes {
			wg.Go(func() {
				for time.Since(start) < 6*time.Second {
					at := time.Now()
					id := task.NewID(task.PrefixTask, time.Now())
					var h task.Hash
					copy(h[:], id)
					acct := "acct" + strconv.Itoa(c%16)
					n := store.NewTask{ID: id, Scope: task.Scope{Account: acct, Mode: task.Live}, KeyID: "key_1", Capability: "text.chat", IdempotencyHash: h,
						Input: json.RawMessage(`{"messages":[{"role":"user","content":"hello, how are you today?"}]}`), Deadline: time.Hour,
						Price: task.Price{Unit: task.PerMillionTokens, Input: 1000, Output: 1000}, Reserved: 100,
						Holds: []task.Hold{{Scope: "key:" + acct, Kind: task.HoldOpen, Amount: 1, Limit: 100000}, {Scope: "key:" + acct, Kind: task.HoldBudget, Amount: 100, Limit: 1e15}, {Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100000}},
						First: &store.First{Node: name, Plans: []task.Plan{{Supplier: "s", Model: "m", Caps: []task.Cap{{Key: "supplier:s", Limit: 10000}}}}}}
					c, err := db.CreateTask(ctx, n)
					if err != nil {
						t.Error(err)
						return
					}
					if _, err = db.Advance(ctx, c.Lease.Ref, store.Step{Close: &task.Closing{State: task.OK, Cost: 3}, Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{Text: new("I am fine, thank you.")}, task.Usage{InputTokens: 30, OutputTokens: 20})}}); err != nil {
						t.Error(err)
						return
					}
					done.Add(1)
					d := time.Since(at)
					lat.Lock()
					all = append(all, d)
					lat.Unlock()
				}
			})
		}
	}
	wg.Wait()
	slices.Sort(all)
	t.Logf("%d callers %d nodes: %.0f tasks/s, %d groups (%.1f ops each), p50 %v p99 %v", callers, nodes, float64(done.Load())/time.Since(start).Seconds(), groups.Load(), 2*float64(done.Load())/float64(groups.Load()), all[len(all)/2], all[len(all)*99/100])
}
