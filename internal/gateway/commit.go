package gateway

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

const (
	unknownPatience = 2 * time.Second // how long a caller waits for the outcome of its creation
	retryUnknown    = 2 * time.Second // the advised pause afterwards
)

// committed is a task that was recorded.
type committed struct {
	store.Created
	end    *waiter // for its worker; nil if it waits in the queue
	stream *Stream // if the caller wants one and the task is new
}

// commit records the task and starts its worker unless the task waits in the queue. ErrUnknown if it may have been
// recorded: the outcome is found out in the background then, because a task that was leased waits for its worker.
func (g *Gateway) commit(ctx context.Context, o *order, streams bool) (committed, error) {
	if !g.enter() {
		g.discard(ctx, o)
		return committed{}, errStopping
	}
	defer g.workers.Done()
	created, err := g.store.CreateTask(context.WithoutCancel(ctx), o.NewTask)
	again := errors.Is(err, store.ErrUnknown)
	if again {
		if o.held != nil {
			_ = o.held.keep(ctx) // another worker may have the task by now
		}
		created, err = g.createAgain(ctx, o, unknownPatience)
	}
	if errors.Is(err, store.ErrUnknown) {
		o.detach()
		g.workers.Go(func() { g.findOut(context.WithoutCancel(ctx), o) })
		return committed{}, err
	}
	return g.settle(ctx, o, created, err, streams, again)
}

// discard gives up an order whose task isn't recorded.
func (g *Gateway) discard(ctx context.Context, o *order) {
	g.health.Keep(o.choices, "", "")
	o.dropInput(ctx, g)
}

// createAgain makes the call whose answer was lost again until the engine answers, which is ErrUnknown if it doesn't
// in time.
func (g *Gateway) createAgain(ctx context.Context, o *order, most time.Duration) (store.Created, error) {
	end := time.Now().Add(most)
	for wait := commitPause; time.Until(end) > wait && sleep(g.abortCtx, wait); wait = min(2*wait, commitPauseMost) {
		created, err := g.store.CreateTask(context.WithoutCancel(ctx), o.NewTask)
		if err == nil || answers(err) {
			return created, err
		}
		g.log.Error("a creation's outcome is unknown and it is repeated", slog.String("task_id", o.ID), slog.Any("error", err))
	}
	return store.Created{}, store.ErrUnknown
}

// findOut goes on with a creation of unknown outcome until that is known or the node ends. After that, and if the
// lease was lost meanwhile, the task is claimed like any other.
func (g *Gateway) findOut(ctx context.Context, o *order) {
	for g.abortCtx.Err() == nil {
		created, err := g.createAgain(ctx, o, time.Minute)
		if !errors.Is(err, store.ErrUnknown) {
			_, _ = g.settle(ctx, o, created, err, false, true) // its caller has been answered
			return
		}
	}
	g.health.Keep(o.choices, "", "")
}

// settle begins the work on a task that was recorded, or clears up after a refusal. Of the choices the
// one that was started is kept. A stream is there before the worker, so that it misses no event; again: the call was
// repeated, so that a worker may have the task by now.
func (g *Gateway) settle(
	ctx context.Context, o *order, created store.Created, err error, streams, again bool,
) (b committed, _ error) {
	defer func() {
		if b.end == nil {
			g.health.Keep(o.choices, "", "")
			if o.held != nil {
				o.held.end(ctx, false)
			}
		}
	}()
	b.Created = created
	if refusedForSure(err) || b.Admit == store.AdmitReplayed {
		o.dropInput(ctx, g)
	}
	switch {
	case err != nil || b.Admit == store.AdmitReplayed:
		return b, err
	case streams && again && b.Lease == nil:
		b.stream = g.stream(b.Task, g.texts.follow(b.Task.ID))
	case streams:
		b.stream = g.stream(b.Task, g.texts.renew(b.Task.ID))
	}
	if b.Lease != nil {
		b.end = g.beginWork(o, b.Created)
	}
	g.keepCopy(ctx, b.Created, o.copy) // beside the work
	return b, nil
}

// beginWork starts the worker of a task that was leased as it was recorded.
func (g *Gateway) beginWork(o *order, c store.Created) *waiter {
	var first task.Attempt
	if a := c.Task.OpenAttempt(); a != nil {
		first = *a
	}
	at := handoff{fresh: true, grant: g.health.Keep(o.choices, first.Supplier, first.Model), size: o.size}
	switch {
	case o.held != nil:
		at.request, at.media, at.held, at.loaded = &o.request, o.media, o.held, o.held.begin()
	case o.InputRef == "": // a stored input is read again: its memory was granted for the acceptance alone
		// As it was recorded: the sent form needn't stay beside it.
		o.request.Input, o.Input, o.request.Base64 = c.Task.Input, nil, nil
		at.request = &o.request
	}
	end, node := g.waiter(), o.First.Node
	g.workers.Go(func() {
		growStack()
		end.done <- g.run(c.Lease, node, at)
	})
	return end
}

// dropInput deletes the large input of a task that isn't recorded.
func (o *order) dropInput(ctx context.Context, g *Gateway) {
	if o.held != nil {
		o.held.end(ctx, true)
		return
	}
	g.dropInput(ctx, o.InputRef)
}

// refusedForSure reports whether the error means that no task was recorded; after any other error the record may
// stand.
func refusedForSure(err error) bool {
	_, held := errors.AsType[*store.HoldError](err)
	return held || errors.Is(err, store.ErrConflict) || unseen(err)
}

// unseen reports whether the store refused a call before it looked for the task.
func unseen(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrUnavailable)
}

// answers reports whether the error, of a call that was made before, means that no task was recorded then either.
func answers(err error) bool {
	return refusedForSure(err) && !unseen(err) || errors.Is(err, store.ErrExists)
}

// detach keeps what is in the memory of the request's body, which its owner takes back.
func (o *order) detach() {
	o.Input, o.Parameters = bytes.Clone(o.Input), bytes.Clone(o.Parameters)
	o.request.Input, o.request.Parameters, o.request.Base64 = o.Input, o.Parameters, nil
}
