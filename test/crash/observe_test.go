package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// settle pursues every task to its end on the server that is left alone now.
func (b *book) settle(limit time.Duration) {
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
		if !r.done {
			left <- r
		}
	}
	close(left)
	all.Wait()
	for _, r := range b.records {
		if !r.done {
			b.t.Errorf("%s hasn't ended %s after the last kill", r.seen.Key, limit)
		}
	}
}

// observe reads every task as its caller and as the operator do.
func (b *book) observe() invariant.Observation {
	b.t.Helper()
	o := invariant.Observation{Listed: append(b.list(task.Live), b.list(task.Test)...)}
	for _, r := range b.records {
		b.look(r)
		o.Tasks = append(o.Tasks, r.seen)
	}
	return o
}

func (b *book) look(r *record) {
	b.t.Helper()
	if len(r.seen.Acknowledged) == 0 {
		return
	}
	ctx, id := b.t.Context(), r.seen.Acknowledged[0]
	status, raw, err := b.send(ctx, r.mode, http.MethodGet, api.PathTasks+"/"+id, r)
	if err != nil {
		b.t.Fatal(err)
	}
	if status != http.StatusOK {
		return
	}
	if err := json.Unmarshal(raw, &r.seen.Final); err != nil {
		b.t.Fatal(err)
	}
	ledger, err := b.admin(ctx, id)
	if err != nil {
		b.t.Errorf("%s: %v", r.seen.Key, err)
		return
	}
	r.seen.Found, r.seen.Ledger = true, ledger
	for _, a := range r.seen.Final.Output.Artifacts() {
		r.seen.Files = append(r.seen.Files, b.download(a))
	}
}

func (b *book) download(a api.Artifact) invariant.File {
	n, sum, err := b.server.Download(b.t.Context(), a.URL)
	if err != nil {
		return invariant.File{ID: a.ID}
	}
	return invariant.File{ID: a.ID, Bytes: n, SHA256: sum}
}

// list returns the ids of all tasks of a mode.
func (b *book) list(mode task.Mode) []string {
	b.t.Helper()
	ids, cursor := []string{}, ""
	for {
		status, raw, err := b.send(b.t.Context(), mode, http.MethodGet, fmt.Sprintf("%s?limit=%d%s", api.PathTasks, api.MaxListLimit, cursor), nil)
		if err != nil {
			b.t.Fatal(err)
		}
		var page api.TaskList
		if err := json.Unmarshal(raw, &page); err != nil || status != http.StatusOK {
			b.t.Fatalf("list: %d %s", status, raw)
		}
		for _, listed := range page.Data {
			ids = append(ids, listed.ID)
		}
		if page.NextCursor == nil {
			return ids
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// snapshot keeps the operator's view of a task at work; it is skipped while no server answers.
func (b *book) snapshot(ctx context.Context, r *record, id string) {
	if got, err := b.admin(ctx, id); err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen.Snapshots = append(r.seen.Snapshots, got)
	}
}

// admin asks the operator's socket for a task.
func (b *book) admin(ctx context.Context, id string) (api.AdminTask, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	return b.server.AdminTask(ctx, id)
}
