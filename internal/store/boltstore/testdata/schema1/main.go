// Command schema1 made the store of schema 1 that the tests upgrade. It is built against the code of
// that time, commit d03d063, never against today's:
//
//	git worktree add /tmp/schema1 d03d063
//	cp -r internal/store/boltstore/testdata/schema1 /tmp/schema1/cmd/schema1
//	cd /tmp/schema1 && go run ./cmd/schema1 DIR && gzip -9n DIR/unitask.db
//
// It writes DIR/unitask.db and DIR/content.json: the key that opens it, and each task as the code of
// that time reads it back.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// content is what the tests compare with.
type content struct {
	Key      string           `json:"key"`
	Tasks    []task.Task      `json:"tasks"`
	Counters map[string]int64 `json:"counters"` // of budgets, by scope
}

const keys = 20

var (
	ctx   = context.Background()
	now   = time.Date(2026, 10, 30, 9, 0, 0, 0, time.UTC)
	scope task.Scope
	db    *boltstore.DB
	out   = content{Counters: map[string]int64{}}
)

func main() {
	path := filepath.Join(os.Args[1], "unitask.db")
	var err error
	db, err = boltstore.Open(boltstore.Config{Path: path, Now: func() time.Time { return now }})
	must(err)
	owner := account.Account{ID: task.NewID(task.PrefixAccount, now), Name: "default", CreatedAt: now}
	must(db.PutAccount(ctx, owner))
	scope = task.Scope{Account: owner.ID, Mode: task.Test}
	var ids []string
	for n := range keys {
		k := putKey(owner.ID, n)
		for day := range 3 {
			at := now
			now = now.AddDate(0, 0, day)
			ids = append(ids, work(k, n, day))
			now = at
		}
		now = now.Add(time.Minute)
	}
	_, err = db.Secret(ctx, "artifact-urls", 32)
	must(err)
	for _, id := range ids {
		t, err := db.GetTask(ctx, scope, id)
		must(err)
		out.Tasks = append(out.Tasks, t)
		count(t)
	}
	must(db.Close())
	f, err := os.Create(filepath.Join(os.Args[1], "content.json"))
	must(err)
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false) // inputs are compared byte for byte
	must(e.Encode(out))
	must(f.Close())
}

// putKey makes a key with a budget a day or a month.
func putKey(owner string, n int) account.Key {
	secret := account.NewKeySecret("svc", task.Test)
	k := account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner, Name: fmt.Sprint("key ", n), Mode: task.Test,
		Hash: account.HashSecret(secret), Hint: account.Hint(secret), CreatedAt: now,
		Limits: account.Limits{Budget: 5_000_000_000, BudgetPeriod: account.Day},
	}
	if n%2 == 1 {
		k.Limits.BudgetPeriod = account.Month
	}
	if n == 0 {
		out.Key = secret
	}
	must(db.PutKey(ctx, k))
	return k
}

// work makes a task and leaves it in one of the ways that tasks are left.
func work(k account.Key, n, day int) string {
	now = now.Add(time.Second)
	name := fmt.Sprintf("schema1-%d-%d", n, day)
	var hash task.Hash
	copy(hash[:], name)
	made, err := db.CreateTask(ctx, store.NewTask{
		ID: task.NewID(task.PrefixTask, now), Scope: scope, KeyID: k.ID, Capability: "text.chat", Sync: true,
		IdempotencyHash: hash, Fingerprint: hash, Input: json.RawMessage(`{"prompt":"<a & b>"}`), Deadline: 5 * time.Minute,
		Price: task.Price{Unit: task.PerImage, Output: 1000}, Reserved: 4000,
		Holds: []task.Hold{
			{Scope: "key:" + k.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{Scope: "key:" + k.ID + ":" + k.Limits.BudgetPeriod.Stamp(now), Kind: task.HoldBudget, Amount: 4000, Limit: int64(k.Limits.Budget)},
		},
	})
	must(err)
	id := made.Task.ID
	if n%5 == 0 && day == 2 {
		return id // queued
	}
	leases, err := db.Claim(ctx, store.ClaimRequest{Node: "n", Capabilities: []string{"text.chat"}, Limit: 100, Term: time.Hour})
	must(err)
	for _, l := range leases {
		if l.Task.ID == id {
			finish(l, n, day)
		}
	}
	return id
}

func finish(l store.Lease, n, day int) {
	_, err := db.BeginAttempt(ctx, l.Ref, task.Plan{Supplier: "gone", Model: "m", Reason: "cheapest"})
	must(err)
	now = now.Add(time.Second)
	s := store.Step{
		Close: &task.Closing{State: task.OK, Cost: 10},
		Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{Text: new("hello")}, task.Usage{Images: int64(1 + day)})},
	}
	switch {
	case n%5 == 1 && day == 2:
		return // an intent
	case n%5 == 2 && day == 2:
		s = store.Step{Submitted: json.RawMessage(`{"id":"job-1"}`)}
	case n%5 == 3:
		s = store.Step{
			Close: &task.Closing{State: task.UnknownOutcome, Code: fault.ProviderTimeout, CostUnknown: true},
			Moves: []task.Transition{task.Fail(task.FailureOf(fault.New(fault.ProviderTimeout, "no answer in time")))},
		}
	}
	_, err = db.Advance(ctx, l.Ref, s)
	must(err)
}

// count adds what the task's key has spent or holds.
func count(t task.Task) {
	period := account.Day
	if k := t.KeyID; monthly(k) {
		period = account.Month
	}
	amount := int64(t.Cost)
	if !t.State.Terminal() {
		amount = int64(t.Reserved)
	}
	if amount > 0 {
		out.Counters["key:"+t.KeyID+":"+period.Stamp(t.CreatedAt)] += amount
	}
}

func monthly(id string) bool {
	all, err := db.ListKeys(ctx)
	must(err)
	for _, k := range all {
		if k.ID == id {
			return k.Limits.BudgetPeriod == account.Month
		}
	}
	return false
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
