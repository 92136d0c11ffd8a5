package crash_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/test/crash/invariant"
)

// settle pursues every task to its end on the server that is left alone now.
func (b *observer) settle(limit time.Duration) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	left := make(chan *record)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(b.seed, uint64(i)+100))
			for r := range left {
				b.pursue(ctx, rng, r)
			}
		})
	}
	for _, r := range b.records {
		if !r.Done {
			left <- r
		}
	}
	close(left)
	all.Wait()
	for _, r := range b.records {
		if !r.Done {
			b.t.Errorf("%s hasn't ended %s after the last kill: %s", r.Seen.Key, limit, b.asOperator(r))
		}
	}
}

// asOperator tells what the operator sees of a record's task.
func (b *observer) asOperator(r *record) string {
	if len(r.Seen.Acknowledged) == 0 {
		return "no answer named a task"
	}
	got, err := b.admin(b.t.Context(), r.Seen.Acknowledged[0])
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// observe reads every task as its caller and as the operator do.
func (b *observer) observe() invariant.Observation {
	b.t.Helper()
	var o invariant.Observation
	for _, key := range b.keys {
		ids, err := b.server.List(b.t.Context(), key)
		if err != nil {
			b.t.Fatal(err)
		}
		o.Listed = append(o.Listed, ids...)
	}
	for _, r := range b.records {
		if err := b.server.Look(b.t.Context(), b.keys[r.mode], &r.Seen); err != nil {
			b.t.Errorf("%s: %v", r.Seen.Key, err)
		}
		o.Tasks = append(o.Tasks, r.Seen)
	}
	return o
}

// snapshot keeps the operator's view of a task at work; it is skipped while no server answers.
func (b *observer) snapshot(ctx context.Context, r *record, id string) {
	if got, err := b.admin(ctx, id); err == nil && !b.undone.Load() {
		r.Snapshot(got)
	}
}

// admin asks the operator's socket for a task.
func (b *observer) admin(ctx context.Context, id string) (api.AdminTask, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	return b.server.AdminTask(ctx, id)
}
