// Package losstest finds out whether a store loses acknowledged writes. Writers create, advance, find and list tasks
// in a process that is to die, and acknowledge each write on a stream once the store has; a Record reads the stream and
// holds the store that is opened afterwards to it. An endpoint hears of all ends: each has exactly one delivery.
//
// The record takes everything that reached the stream for acknowledged, so the stream is read to its
// end, after the death too. A write that wasn't acknowledged may be there or not.
package losstest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Writers work on a store at once, each on tasks of its own.
type Writers struct {
	Store store.Store
	Out   io.Writer // takes whole lines from several goroutines
	Count int
	Early bool // the planted fault: acknowledge a task before it is recorded
}

// Run writes until the first error, which it returns; the other writers go on.
func (w Writers) Run(ctx context.Context) error {
	if err := w.Store.Renew(ctx, node, time.Hour); err != nil {
		return err
	}
	h, hears, err := w.listen(ctx)
	if err != nil {
		return err
	}
	failed := make(chan error, w.Count+1)
	if hears {
		go func() { failed <- deliver(ctx, h) }()
	}
	for range w.Count {
		go func() {
			for n := 0; ; n++ {
				if err := w.live(ctx, n); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

var scope = task.Scope{Account: "acct_loss", Mode: task.Live}

const node = "node"

func keyOf(id string) task.Hash { return sha256.Sum256([]byte(id)) }

// live leads one task through its life: every third waits in the queue for ever, the others are started
// at once, and half of these end.
func (w Writers) live(ctx context.Context, n int) error {
	id := task.NewID(task.PrefixTask, time.Now())
	request := store.NewTask{
		ID: id, Scope: scope, Capability: "text.chat", IdempotencyHash: keyOf(id), Deadline: time.Hour,
		Input: json.RawMessage(`{"prompt":"hello"}`),
		Holds: []task.Hold{{Scope: "key:1", Kind: task.HoldOpen, Amount: 1}},
	}
	state := task.Queued
	if n%3 != 0 {
		request.First = &store.First{Node: node, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
		state = task.Running
	}
	if w.Early {
		if err := acknowledge(w.Out, id, 1, state); err != nil {
			return err
		}
	}
	created, err := w.Store.CreateTask(ctx, request)
	if err != nil {
		return err
	}
	if err := acknowledge(w.Out, id, created.Task.Revision, created.Task.State); err != nil {
		return err
	}
	if created.Lease == nil {
		return w.read(ctx, id)
	}
	return w.work(ctx, created.Lease.Ref, n%2 == 0)
}

// work makes the steps of a worker, the last one only if the task is to end.
func (w Writers) work(ctx context.Context, ref store.LeaseRef, ends bool) error {
	answer := "hello"
	steps := []store.Step{
		{Submitted: json.RawMessage(`{"id":"job"}`)},
		{Moves: []task.Transition{task.Transfer()}},
		{Close: &task.Closing{State: task.OK}, Moves: []task.Transition{task.Succeed(task.Output{JSON: fmt.Appendf(nil, `{"text":%q}`, answer)}, task.Usage{})}},
	}
	if !ends {
		steps = steps[:len(steps)-1]
	}
	for _, step := range steps {
		t, err := w.Store.Advance(ctx, ref, step)
		if err != nil {
			return err
		}
		if err := acknowledge(w.Out, t.ID, t.Revision, t.State); err != nil {
			return err
		}
	}
	return nil
}

// read finds the task under its key and lists the newest.
func (w Writers) read(ctx context.Context, id string) error {
	found, err := w.Store.FindTask(ctx, scope, keyOf(id))
	if err != nil {
		return err
	}
	page, err := w.Store.ListTasks(ctx, store.ListQuery{Scope: scope, Limit: 10})
	if err != nil {
		return err
	}
	if found.ID != id || len(page.Tasks) == 0 {
		return fmt.Errorf("losstest: %s is found as %s, in a list of %d", id, found.ID, len(page.Tasks))
	}
	return nil
}
