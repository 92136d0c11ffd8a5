package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// errParked ends a worker's turn: the task goes on after a pause, under the lease it has.
var errParked = errors.New("gateway: work parked")

// parkRetry is when a parked task tries again that found every slot taken or the store failing.
const parkRetry = 250 * time.Millisecond

// parked is asynchronous work between two steps, above all a job that goes on at its supplier: a timer, and of the
// task no more than its name. It costs no goroutine, no worker's slot and no commit.
type parked struct {
	w     *work
	timer *time.Timer
}

// pause waits before the next step, for asynchronous work without its worker.
func (w *work) pause(ctx context.Context, d time.Duration) error {
	if !w.t.Sync {
		w.wake = d
		return errParked
	}
	if err := w.settled(ctx); err != nil {
		return err
	}
	w.clear() // a suspect has come through its step, and lets the next one try
	w.unload()
	sleep(ctx, d)
	// A cancellation may have come through any node.
	if t, err := w.g.store.GetTask(ctx, w.t.Scope, w.t.ID); err == nil && t.CancelRequested {
		w.t.CancelRequested = true
	}
	return nil
}

// park leaves the task to a timer; false if its context has ended meanwhile, which the worker handles.
func (w *work) park(ctx context.Context) bool {
	if w.settled(ctx) != nil {
		return true // dropped: the lease is gone
	}
	g := w.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaseDropped(w.node) {
		return true // before this turn could be seen
	}
	if ctx.Err() != nil || g.haltCtx.Err() != nil {
		return false
	}
	next := *w // this turn isn't over yet, and may look at its own while the next one begins
	next.t = task.Task{ID: w.t.ID, Scope: w.t.Scope}
	next.request, next.places, next.media, next.loaded, next.suspect, next.text = nil, nil, false, 0, false, nil
	w.grant = routing.Grant{} // the next turn has it
	g.parkLocked(&next, min(w.wake, time.Until(w.ends)))
	return true
}

func (g *Gateway) parkLocked(w *work, d time.Duration) {
	id := w.t.ID // another turn of the timer may find the task at work
	g.parked[id] = &parked{w: w, timer: time.AfterFunc(max(d, 0), func() { g.resume(id, w) })}
}

// resume takes a parked task's next step. Polls have as many slots as new work has, of their own, so that polls and
// new work don't delay each other.
func (g *Gateway) resume(id string, w *work) {
	if !g.enter() {
		return // a stopping node leaves it for the next start
	}
	defer g.workers.Done()
	if !g.unpark(id, w) {
		return
	}
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.polls--
	}()
	t, err := g.store.GetTask(g.abortCtx, w.t.Scope, w.t.ID)
	switch {
	case g.leaseDropped(w.node): // meanwhile, when this turn couldn't be seen
	case err == nil && !t.State.Terminal():
		w.t = t
		w.work()
	case err == nil, errors.Is(err, store.ErrNotFound): // somebody else ended it
	case g.abortCtx.Err() == nil:
		g.log.Error("reading a parked task failed", nameOf(&w.t), slog.Any("error", err))
		g.mu.Lock()
		defer g.mu.Unlock()
		g.parkLocked(w, parkRetry)
	}
}

// unpark takes the task off the list and a slot for it; false if the task isn't parked any more or has to wait for a
// slot.
func (g *Gateway) unpark(id string, w *work) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.parked[id]
	switch {
	case !ok || p.w != w:
		return false
	case g.polls >= g.limits.Load().Workers:
		p.timer.Reset(parkRetry)
		return false
	}
	delete(g.parked, id)
	g.polls++
	return true
}

// forgetParked drops the parked tasks: its leases may be gone, or the node stops.
func (g *Gateway) forgetParkedLocked() {
	for id, p := range g.parked {
		p.timer.Stop()
		delete(g.parked, id)
	}
}
