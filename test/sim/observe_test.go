package sim_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// settleTime is longer than any task may take after the last fault: the longest deadline and more.
const settleTime = 2 * time.Hour

// live lets the run happen: callers call, incidents occur, and then every task ends.
func (w *world) live() {
	ctx, stop := context.WithCancel(context.Background())
	var incidents, callers sync.WaitGroup
	incidents.Go(func() { w.disrupt(ctx) })
	for i := range w.shape.callers {
		callers.Go(func() { w.call(i, w.shape.callers) })
	}
	callers.Wait()
	stop()
	incidents.Wait()
	w.calm.Store(true)
	for range int(settleTime / time.Minute) {
		if w.unsettled() == 0 {
			break
		}
		time.Sleep(time.Minute)
	}
}

func (w *world) unsettled() (n int64) {
	stats, err := w.db.Stats(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, count := range stats.ByState {
		n += count
	}
	return n
}

// observe reads every task as its caller and as the operator do.
func (w *world) observe() invariant.Observation {
	w.t.Helper()
	o := invariant.Observation{Listed: []string{}, Submissions: w.up.submissions(), Counted: map[string]bool{}}
	for _, f := range w.suppliers {
		o.Counted[f.name] = true
	}
	slices.SortFunc(w.records, func(a, b *record) int { return strings.Compare(a.seen.Key, b.seen.Key) })
	for _, r := range w.records {
		w.look(r)
		o.Tasks = append(o.Tasks, r.seen)
	}
	seen := map[task.Scope]bool{}
	for _, c := range w.customers {
		if !seen[c.scope] { // two keys of an account see the same
			seen[c.scope] = true
			o.Listed = append(o.Listed, w.list(c)...)
		}
	}
	slices.Sort(o.Listed)
	return o
}

func (w *world) look(r *record) {
	id := ""
	if len(r.seen.Acknowledged) > 0 {
		id = r.seen.Acknowledged[0]
	} else if found, err := w.db.FindTask(context.Background(), r.customer.scope, sha256.Sum256([]byte(r.plainKey))); err == nil {
		id = found.ID // its caller got no answer
	}
	if id == "" {
		return
	}
	_, err := w.ask(r.customer, func(n *node, who gate.Caller) error {
		t, err := n.g.Get(context.Background(), who, id)
		if err != nil {
			return err
		}
		r.seen.Found, r.seen.Final, r.seen.Ledger = true, w.public(t), api.AdminTaskOf(t, "")
		return nil
	})
	if err != nil {
		return
	}
	for _, a := range r.seen.Final.Output.Artifacts() {
		r.seen.Files = append(r.seen.Files, w.download(a.ID))
	}
}

func (w *world) download(id string) invariant.File {
	_, body, err := w.artifacts.Open(context.Background(), id)
	if err != nil {
		return invariant.File{ID: id}
	}
	raw, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return invariant.File{ID: id}
	}
	sum := sha256.Sum256(raw)
	return invariant.File{ID: id, Bytes: int64(len(raw)), SHA256: hex.EncodeToString(sum[:])}
}

func (w *world) list(c customer) (ids []string) {
	q := gateway.ListQuery{Limit: store.MaxPage}
	for {
		var page store.Page
		_, err := w.ask(c, func(n *node, who gate.Caller) (err error) {
			page, err = n.g.List(context.Background(), who, q)
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, t := range page.Tasks {
			ids = append(ids, t.ID)
		}
		if q.Cursor = page.Next; page.Next == "" {
			return ids
		}
	}
}

// expectFree checks that every hold was given back, by holds beyond the limits, whose refusals report the held amount.
func (w *world) expectFree() {
	scopes := map[string]task.HoldKind{"queue": task.HoldQueue}
	for _, c := range w.customers {
		scopes["key:"+c.keyID] = task.HoldOpen
	}
	for scope, kind := range scopes {
		_, err := w.db.CreateTask(context.Background(), store.NewTask{
			ID: task.NewID(task.PrefixTask, time.Now()), IdempotencyHash: task.Hash{1},
			Holds: []task.Hold{{Scope: scope, Kind: kind, Amount: math.MaxInt64, Limit: 1}},
		})
		if held, ok := errors.AsType[*store.HoldError](err); !ok || held.Held != 0 {
			w.surprise("hold %s of %s: %v", kind, scope, err)
		}
	}
}

// end stops the service, and if the seed says so starts it again after the longest retention: then every
// trace of every task is gone.
func (w *world) end() {
	w.stop()
	if w.shape.month {
		w.db = w.open(w.path())
		time.Sleep(retention + time.Hour)
		w.start()
		time.Sleep(20 * time.Minute) // a sweep begins a quarter of an hour after the start
		for _, r := range w.records {
			if _, err := w.db.FindTask(context.Background(), r.customer.scope, sha256.Sum256([]byte(r.plainKey))); !errors.Is(err, store.ErrNotFound) {
				w.surprise("%s is kept for longer than its retention: %v", r.seen.Key, err)
			}
			for _, f := range r.seen.Files {
				if _, err := w.artifacts.Stat(context.Background(), f.ID); err == nil {
					w.surprise("%s is kept for longer than its time", f.ID)
				}
			}
		}
		w.stop()
	}
	w.graves.Wait()
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Error(err)
	}
}

func (w *world) stop() {
	for _, n := range w.alive() {
		if err := n.g.Shutdown(context.Background()); err != nil {
			w.surprise("shutdown: %v", err)
		}
	}
	w.mu.Lock()
	w.nodes = nil
	w.mu.Unlock()
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
}
