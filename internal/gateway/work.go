package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// The reasons why a worker's context ends early; a deadline is context.DeadlineExceeded.
var (
	errCancelRequested = errors.New("gateway: the caller canceled the task")
	// errDropped ends a worker without another write: its lease is gone or the node goes down.
	errDropped = errors.New("gateway: work dropped")
)

// work is one worker's hold on one task. It is used by one goroutine.
type work struct {
	g     *Gateway
	ref   store.LeaseRef
	t     task.Task
	fresh int // the attempt this worker itself began and hasn't submitted yet

	request *supplier.Request // prepared once: the input with its media
	size    task.Usage
	since   time.Time // when the work began to look for a free place
	inputs  []string  // what was kept for this work alone
}

// runSync works on a task whose caller waits, past the shutdown of asynchronous work.
func (g *Gateway) runSync(l store.Lease) task.Task { return g.run(g.abortCtx, l, true) }

// run works on a task until it is terminal, the node stops or the lease is lost, and returns the task
// as last seen.
func (g *Gateway) run(base context.Context, l store.Lease, fresh bool) task.Task {
	w := &work{g: g, ref: l.Ref, t: l.Task, since: g.now(), inputs: []string{l.Task.InputRef}}
	if a := l.Task.OpenAttempt(); a != nil && fresh {
		w.fresh = a.N
	}
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)
	g.register(l.Task.ID, cancel)
	defer g.unregister(l.Task.ID)
	ctx, stop := context.WithTimeout(ctx, l.Task.DeadlineAt.Sub(g.now()))
	defer stop()
	err := w.loop(ctx)
	if w.t.State.Terminal() {
		for _, ref := range w.inputs {
			g.dropInput(ctx, ref)
		}
	}
	if err != nil && !errors.Is(err, errDropped) {
		g.log.Error("task left to another try", slog.String("task_id", w.t.ID), slog.Any("error", err))
	}
	return w.t
}

func (w *work) loop(ctx context.Context) error {
	for !w.t.State.Terminal() {
		if err := w.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step does the next thing the task needs. Each branch ends in a commit or in a longer wait.
func (w *work) step(ctx context.Context) error {
	if err := w.interrupted(ctx); err != nil {
		return err
	}
	a := w.t.OpenAttempt()
	switch {
	case w.t.CancelRequested:
		return w.cancel(ctx, a)
	case ctx.Err() != nil || !w.g.now().Before(w.t.DeadlineAt):
		return w.expire(ctx, a)
	case a == nil:
		return w.begin(ctx)
	}
	route, ok := w.g.routes.Load().Find(w.t.Scope.Mode, catalog.Name(w.t.Capability), a.Supplier, a.Model)
	if !ok {
		return w.orphan(ctx, *a)
	}
	switch {
	case a.State == task.Submitted:
		return w.poll(ctx, route, *a)
	case a.N == w.fresh:
		w.fresh = 0
		return w.submit(ctx, route, *a)
	default:
		return w.reconcile(ctx, route, *a)
	}
}

// interrupted looks at why ctx ended: a stop of the node drops the work, a caller's cancellation is
// noted on the task, the deadline is left to the caller of this function.
func (w *work) interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCancelRequested):
		w.t.CancelRequested = true
		return nil
	case errors.Is(cause, context.DeadlineExceeded):
		return nil
	default:
		return errDropped
	}
}

// advance commits one step. It isn't cut short by the work's own end: a result in hand is kept.
func (w *work) advance(ctx context.Context, s store.Step) error {
	t, err := w.g.store.Advance(context.WithoutCancel(ctx), w.ref, s)
	switch {
	case err == nil:
		w.t = t
		return nil
	case errors.Is(err, store.ErrFenced):
		return errDropped
	default:
		return err
	}
}

// fail ends the task, closing the open attempt in the same commit where c is given.
func (w *work) fail(ctx context.Context, c *task.Closing, e *fault.Error) error {
	return w.advance(ctx, store.Step{Close: c, Moves: []task.Transition{task.Fail(task.FailureOf(e))}})
}

// expire ends a task whose deadline is past. A job that may still end well at the supplier stays
// known in the ledger, so that a retry adopts it.
func (w *work) expire(ctx context.Context, open *task.Attempt) error {
	if w.t.State == task.Queued && open == nil {
		return w.fail(ctx, nil, fault.New(fault.CapacityExhausted, "no place became free before the task's deadline").
			WithRetryAfter(retryCapacity))
	}
	e := fault.New(fault.ProviderTimeout, "the work did not end before the task's deadline").WithRetryAfter(retryTimeout)
	return w.fail(ctx, unknownIf(open, e.Code), e)
}

// cancelTimeout bounds the call that stops a job at its supplier.
const cancelTimeout = 10 * time.Second

// cancel ends the task at its caller's wish and stops the job where the supplier can. What the
// supplier charges for a stopped job is unknown, and the ledger says so.
func (w *work) cancel(ctx context.Context, open *task.Attempt) error {
	if open != nil && open.State == task.Submitted {
		w.stopJob(ctx, *open)
	}
	return w.advance(ctx, store.Step{Close: unknownIf(open, ""), Moves: []task.Transition{task.Cancel(nil)}})
}

func (w *work) stopJob(ctx context.Context, a task.Attempt) {
	route, ok := w.g.routes.Load().Find(w.t.Scope.Mode, catalog.Name(w.t.Capability), a.Supplier, a.Model)
	if !ok {
		return
	}
	canceler, ok := route.Adapter.(supplier.Canceler)
	job, err := decodeJob(a)
	if !ok || err != nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer stop()
	if err := canceler.Cancel(ctx, job); err != nil {
		w.g.log.Warn("the job of a canceled task goes on at its supplier",
			slog.String("task_id", w.t.ID), slog.String("supplier", route.Supplier), slog.Any("error", err))
	}
}

// orphan ends an attempt whose route was taken out of the configuration: nobody can say how it went.
func (w *work) orphan(ctx context.Context, a task.Attempt) error {
	e := fault.New(fault.ProviderTimeout, "the outcome of the work is unknown").WithRetryAfter(retryTimeout)
	return w.fail(ctx, unknownIf(&a, e.Code), e)
}

func unknownIf(open *task.Attempt, code fault.Code) *task.Closing {
	if open == nil {
		return nil
	}
	return &task.Closing{State: task.UnknownOutcome, Code: code, CostUnknown: true}
}

// tried returns the routes that had their turn since the task was last queued by its caller, with the
// codes they ended in.
func (w *work) tried() (ids []string, codes []fault.Code) {
	var since time.Time
	for _, m := range w.t.Timeline {
		if m.State == task.Queued {
			since = m.At
		}
	}
	for _, a := range w.t.Attempts {
		if !a.StartedAt.Before(since) && !a.State.Open() && a.Code != "" && a.State != task.UnknownOutcome {
			ids = append(ids, routing.Route{Supplier: a.Supplier, Model: a.Model}.ID())
			codes = append(codes, a.Code)
		}
	}
	return ids, codes
}

// pause waits, and reports false when the work ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g *Gateway) register(id string, cancel context.CancelCauseFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[id] = cancel
}

func (g *Gateway) unregister(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, id)
}

// interrupt tells the worker of a task on this node that its caller canceled it.
func (g *Gateway) interrupt(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cancel, ok := g.running[id]; ok {
		cancel(errCancelRequested)
	}
}
