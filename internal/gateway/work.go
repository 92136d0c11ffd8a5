package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
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
	fresh int    // the attempt this worker itself began and hasn't submitted yet
	node  string // the name that the lease is under

	request *supplier.Request // prepared once: the input, and its media once something is sent
	places  []mediaPlace      // of the request's media
	media   bool              // these are at hand
	loaded  int64             // of the room for large inputs: the share of the request and its media
	held    *heldInput        // the input, if it came with the acceptance and is large
	fetched []string          // the artifacts of media that this worker fetched
	size    task.Usage
	ends    time.Time     // the deadline, by time.Now: a step of the wall clock leaves it alone
	waited  time.Duration // for a free place, synchronous work in hand
	fetches int           // failed transfers of the job's result

	wake  time.Duration // the pause that a parked task asked for
	wait  time.Duration // between two polls
	shown time.Time     // when progress was last stored

	refused   string         // the route that has just refused for want of room
	route     *routing.Route // of attempt routed, which keeps it whatever is configured meanwhile
	routed    int
	grant     routing.Grant // the open attempt's share of its route, on this node
	inherited bool          // another worker left the open attempt, and it isn't counted yet
	suspect   bool          // this worker has the suspects' turn
	text      *textStream   // for the streams that follow the task; nil without one
	handle    cancelHandle  // of this turn
}

// handoff is what the accepting request passes to the worker; it is empty for a claimed task.
type handoff struct {
	fresh   bool              // the open attempt, if any, was started with the lease itself
	grant   routing.Grant     // that attempt's share of its route
	request *supplier.Request // without its media; nil if it is still to be read
	size    task.Usage        // of the request
	media   []mediaPlace      // of the request
	held    *heldInput        // its large input
	loaded  int64             // the room that it takes
}

// run works on a task until it is terminal, the node stops or the lease is lost, and returns the task
// as last seen.
//
// Its context ends with the deadline, the caller's cancellation or the end of the node's grace. A step that only
// waits ends as soon as the node begins to stop: see soft.
func (g *Gateway) run(l *store.Lease, node string, s handoff) *task.Task {
	w := &work{
		g: g, ref: l.Ref, t: l.Task, node: node, ends: time.Now().Add(l.Left),
		inherited: !s.fresh && l.Task.OpenAttempt() != nil, // another worker left it open
		grant:     s.grant, request: s.request, places: s.media, size: s.size, held: s.held, loaded: s.loaded,
	}
	if a := l.Task.OpenAttempt(); a != nil && s.fresh {
		w.fresh = a.N
	}
	w.work()
	return &w.t
}

// work is one turn of a worker: until the task ends, is parked or is dropped.
func (w *work) work() {
	before := w.t
	ctx, stop := context.WithDeadline(w.g.abortCtx, w.ends)
	defer stop()
	w.handle = cancelHandle{stop: stop}
	w.g.register(before.ID, &w.handle)
	defer w.g.unregister(before.ID, &w.handle)
	defer w.clear()
	defer w.endGrant()
	w.loop(ctx)
	w.giveRoom()
	if w.text != nil {
		w.g.texts.leave(w.text)
		w.text = nil
	}
	w.eraseInputs(ctx, before)
}

// loop takes steps until the task is terminal. A step that breaks is a fault of the service: the task fails with it
// or, if that can't be written, goes back to the queue.
func (w *work) loop(ctx context.Context) {
	for !w.t.State.Terminal() {
		err := w.guarded(ctx)
		if err == nil {
			continue
		}
		if errors.Is(err, errDropped) || (errors.Is(err, errParked) && w.park(ctx)) {
			return
		}
		if errors.Is(err, errParked) {
			continue
		}
		w.g.log.Error("a task met a fault of the service", nameOf(&w.t), slog.Any("error", err))
		if err = w.fail(ctx, w.unsettled(w.t.OpenAttempt(), fault.Internal), fault.From(err)); err == nil {
			continue
		}
		if !errors.Is(err, errDropped) {
			_ = w.advance(ctx, store.Step{Release: new(retryTimeout)})
		}
		return
	}
}

// guarded is step, with a panic of an adapter turned into an error: it ends the task it happened on,
// not the node and every other task.
func (w *work) guarded(ctx context.Context) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fault.Wrap(fault.Internal, fmt.Errorf("panic: %v\n%s", caught, debug.Stack()), "the work met a fault of the service")
		}
	}()
	return w.step(ctx)
}

// step does the next thing the task needs. Each branch ends in a commit or in a wait.
func (w *work) step(ctx context.Context) error {
	if err := w.interrupted(ctx); err != nil {
		return err
	}
	if !w.t.Sync && w.g.haltCtx.Err() != nil {
		return w.leave(ctx) // no request is in flight between two steps
	}
	a := w.t.OpenAttempt()
	switch {
	case w.t.CancelRequested:
		return w.cancel(ctx, a)
	case ctx.Err() != nil:
		return w.expire(ctx, a)
	case a == nil:
		return w.begin(ctx)
	}
	route, ok := w.routeOf(*a)
	switch {
	case !ok && !a.Moderation:
		return w.handOn(ctx, *a)
	case w.inherited:
		return w.inherit(ctx)
	case a.Moderation:
		return w.moderate(ctx, *a)
	}
	switch {
	case a.State == task.Submitted:
		return w.poll(ctx, route, *a)
	case a.N == w.fresh:
		return w.submit(ctx, route, *a)
	default:
		return w.reconcile(ctx, route, *a)
	}
}

// interrupted looks at why ctx ended: the end of the node's grace drops the work, a caller's
// cancellation is noted on the task, the deadline is left to the caller of this function.
func (w *work) interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	switch cause := w.cause(ctx); {
	case errors.Is(cause, errCancelRequested):
		w.t.CancelRequested = true
		return nil
	case errors.Is(cause, context.DeadlineExceeded):
		return nil
	default:
		return w.leave(ctx)
	}
}

// leave drops the work of a node that stops or has given its leases up. An intent that was recorded
// but not sent is taken back, so that whoever goes on needn't wonder.
func (w *work) leave(ctx context.Context) error {
	w.handOver(ctx)
	if s := w.takeBack(); s.Close != nil {
		_, _ = w.g.store.Advance(context.WithoutCancel(ctx), w.nextWrite(), s)
	}
	return errDropped
}

// release drops the work of a node that goes on and may keep its leases yet: it must not keep this one, or no worker
// would ever have it.
func (w *work) release(ctx context.Context) error {
	if err := w.advance(ctx, w.takeBack()); err != nil {
		return err
	}
	return errDropped
}

// takeBack gives the lease back, and with it an intent that wasn't sent.
func (w *work) takeBack() store.Step {
	s := store.Step{Release: new(time.Duration(0))}
	if a := w.t.OpenAttempt(); a != nil && a.N == w.fresh {
		w.fresh = 0
		s.Close = &task.Closing{State: task.Rejected}
	}
	return s
}

// soft returns a context that also ends when the node begins to stop, for waiting and asking: ending those is safe.
// Synchronous work goes on through the grace.
func (w *work) soft(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.t.Sync {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(w.g.haltCtx, func() { cancel(errDropped) })
	return ctx, func() { unhook(); cancel(nil) }
}

// How a write is repeated that failed for want of room or for a passing fault of the engine.
const (
	commitPause     = 100 * time.Millisecond
	commitPauseMost = 5 * time.Second
)

// nextWrite names the worker's next write.
func (w *work) nextWrite() store.LeaseRef {
	ref := w.ref
	ref.Write++
	return ref
}

// commit makes one write of the worker. It isn't cut short by the work's own end, and it is repeated
// until the engine takes it or says why it never will: a result in hand is not lost to a full disk. Its number stays,
// so that a write whose answer was lost isn't made twice.
func (w *work) commit(ctx context.Context, write func(context.Context, store.LeaseRef) (task.Task, error)) error {
	ref := w.nextWrite()
	for wait := commitPause; ; wait = min(2*wait, commitPauseMost) {
		t, err := write(context.WithoutCancel(ctx), ref)
		switch {
		case err == nil:
			w.ref = ref
			before := w.t
			t.CancelRequested = t.CancelRequested || (w.t.CancelRequested && !t.State.Terminal())
			w.t = t
			w.g.observe(&before, &w.t)
			w.spend()
			return nil
		case errors.Is(err, store.ErrFenced):
			return errDropped
		case errors.Is(err, store.ErrState), errors.Is(err, store.ErrRouteFull), errors.Is(err, store.ErrNotFound):
			return err
		}
		w.g.log.Error("a write failed and is repeated", nameOf(&w.t), slog.Any("error", err))
		if !sleep(w.g.abortCtx, wait) {
			return errDropped
		}
	}
}

func (w *work) advance(ctx context.Context, s store.Step) error {
	if s.Release != nil {
		w.handOver(ctx)
	}
	return w.commit(ctx, func(ctx context.Context, ref store.LeaseRef) (task.Task, error) {
		return w.g.store.Advance(ctx, ref, s)
	})
}

func (w *work) beginAttempt(ctx context.Context, p task.Plan) error {
	return w.commit(ctx, func(ctx context.Context, ref store.LeaseRef) (task.Task, error) {
		return w.g.store.BeginAttempt(ctx, ref, p)
	})
}

// fail ends the task, closing the open attempt in the same commit if c is given.
func (w *work) fail(ctx context.Context, c *task.Closing, e *fault.Error) error {
	return w.advance(ctx, store.Step{Close: c, Moves: []task.Transition{task.Fail(task.FailureOf(e))}})
}

// expire ends a task whose deadline is past. A job that may still end well at the supplier stays
// known in the ledger, so that a retry adopts it.
func (w *work) expire(ctx context.Context, open *task.Attempt) error {
	if open == nil { // it waited for a place, after a refusal or before the first try
		return w.fail(ctx, nil, fault.New(fault.CapacityExhausted, "no place became free before the task's deadline").
			WithRetryAfter(retryCapacity))
	}
	e := fault.New(fault.ProviderTimeout, "the work did not end before the task's deadline").WithRetryAfter(retryTimeout)
	return w.fail(ctx, w.unsettled(open, e.Code), e)
}

// routeOf returns the route that the attempt was started on.
func (w *work) routeOf(a task.Attempt) (routing.Route, bool) {
	if w.route == nil || w.routed != a.N {
		w.routed = a.N
		w.route = w.g.routes.Load().Find(w.t.Scope.Mode, catalog.Name(w.t.Capability), a.Supplier, a.Model)
	}
	if w.route == nil {
		return routing.Route{}, false
	}
	return *w.route, true
}

// orphan ends an attempt whose route was taken out of the configuration: its outcome is unknown.
func (w *work) orphan(ctx context.Context, a task.Attempt) error {
	e := fault.New(fault.ProviderTimeout, "the outcome of the work is unknown").WithRetryAfter(retryTimeout)
	return w.fail(ctx, w.unsettled(&a, e.Code), e)
}

// unsettled closes an attempt of unknown outcome; one that was never sent was never started.
func (w *work) unsettled(open *task.Attempt, code fault.Code) *task.Closing {
	switch {
	case open == nil:
		return nil
	case open.N == w.fresh:
		return &task.Closing{State: task.Rejected, Code: code}
	case open.Moderation:
		return &task.Closing{State: task.FailedAttempt, Code: code, CostUnknown: true}
	default:
		return &task.Closing{State: task.UnknownOutcome, Code: code, CostUnknown: true}
	}
}

// sleep waits, and reports false when ctx ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cancelHandle are how a worker's context is ended from outside.
type cancelHandle struct {
	stop  context.CancelFunc
	cause error // why they were pulled first; guarded by Gateway.mu
}

func (r *cancelHandle) cancelLocked(cause error) {
	if r.cause == nil {
		r.cause = cause
	}
	r.stop()
}

// cause returns why the worker's context ended.
func (w *work) cause(ctx context.Context) error {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	if w.handle.cause != nil {
		return w.handle.cause
	}
	return context.Cause(ctx)
}

// register makes a worker known to Cancel until unregister.
func (g *Gateway) register(id string, r *cancelHandle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[id] = r
}

func (g *Gateway) unregister(id string, r *cancelHandle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[id] == r { // a retry may have put its own worker here
		delete(g.running, id)
	}
}

// interrupt tells the worker of a task on this node that its caller canceled it.
func (g *Gateway) interrupt(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := g.running[id]; ok {
		r.cancelLocked(errCancelRequested)
	}
	if p, ok := g.parked[id]; ok {
		p.timer.Reset(0)
	}
}
