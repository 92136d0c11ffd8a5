package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// The advised pauses before the same request is sent again.
const (
	retryCapacity    = 5 * time.Second
	retryUnavailable = 5 * time.Second
	retryTimeout     = 2 * time.Second
)

// begin opens the next attempt: the adoption of one whose outcome stayed unknown, else a new one on
// the cheapest route that has room.
func (w *work) begin(ctx context.Context) error {
	if last, ok := w.adoptable(); ok {
		s := store.Step{Readopt: true}
		if w.t.State == task.Queued {
			s.Moves = []task.Transition{task.Start()}
		}
		w.g.log.Info("adopting an attempt of unknown outcome",
			nameOf(&w.t), slog.Int("attempt", last.N))
		return w.advance(ctx, s)
	}
	if err := w.readInput(ctx); err != nil {
		return w.unprepared(ctx, nil, err)
	}
	if m, texts := w.moderator(); m != nil {
		return w.beginModeration(ctx, m, texts)
	}
	had := w.routeHistory()
	w.refused = ""
	choices, passed := w.g.routes.Load().Choose(routing.Want{
		Mode: w.t.Scope.Mode, Account: w.t.Scope.Account, Capability: catalog.Name(w.t.Capability), Request: *w.request, Size: w.size,
		Tried: had.tried, Resting: had.resting,
	}, w.g.health)
	for _, choice := range choices {
		plan := choice.Plan(passed)
		plan.Reason += w.afterUnknown()
		err := w.beginAttempt(ctx, plan)
		if err == nil {
			w.fresh = len(w.t.Attempts)
			w.grant = w.g.health.Keep(choices, plan.Supplier, plan.Model)
			return nil
		}
		if !errors.Is(err, store.ErrRouteFull) {
			w.g.health.Keep(choices, "", "")
			return err
		}
		passed = append(passed, choice.Full())
	}
	w.g.health.Keep(choices, "", "")
	return w.noRoute(ctx, had, passed)
}

// adoptable returns the last attempt if its outcome is unknown and its supplier can tell it.
func (w *work) adoptable() (task.Attempt, bool) {
	if !w.t.LastUnknown() {
		return task.Attempt{}, false
	}
	last := w.t.Attempts[len(w.t.Attempts)-1]
	route, ok := w.routeOf(last)
	if !ok {
		return last, false
	}
	_, polls := route.Adapter.(supplier.Poller)
	_, finds := route.Adapter.(supplier.Finder)
	return last, (polls && last.Job != nil) || finds || honorsKey(route.Adapter)
}

// afterUnknown says in the ledger why a second submission is made although the first one's outcome
// is unknown: its caller asked for it.
func (w *work) afterUnknown() string {
	for _, a := range slices.Backward(w.t.Attempts) {
		if a.State == task.UnknownOutcome {
			return fmt.Sprintf("; attempt %d is of unknown outcome and the caller asked for this retry", a.N)
		}
		if !a.Moderation {
			break
		}
	}
	return ""
}

// submit sends the attempt's request, once. No request is sent on a lease that may have passed to another node.
func (w *work) submit(ctx context.Context, route routing.Route, a task.Attempt) error {
	if err := w.prepare(ctx); err != nil {
		return w.unprepared(ctx, w.unsettled(&a, fault.CodeOf(err)), err)
	}
	if !w.g.leaseValid(w.node) {
		w.g.log.Warn("work dropped: its lease may be over", nameOf(&w.t))
		return w.release(ctx)
	}
	again := a.N != w.fresh
	w.fresh = 0
	req := *w.request
	req.Model, req.SubmitKey, req.States = route.Model, a.SubmitKey, w.statesFor(route, req)
	out, err := w.send(ctx, route, req)
	w.unload() // its result may wait for a disk
	switch {
	case err != nil && again:
		return w.failedAgain(ctx, route, a, supplier.AsError(err))
	case err != nil:
		return w.failed(ctx, route, err)
	default:
		return w.proceed(ctx, route, out)
	}
}

// failedAgain weighs the failure of a submission that was repeated under its key. Whatever it says, the first one may
// have been taken: no other route may have the work. A fault that may pass is tried again.
func (w *work) failedAgain(ctx context.Context, route routing.Route, a task.Attempt, e *supplier.Error) error {
	switch {
	case e.Sent == supplier.Unknown || ctx.Err() != nil:
	case e.Fault.Code == fault.ContentPolicyViolation:
		return w.fail(ctx, w.unsettled(&a, e.Fault.Code), e.Fault)
	case e.Fault.Code.Retryable():
		w.learn(route, e)
		return w.pause(ctx, max(pollStart, min(e.RetryAfter, pollMost)))
	}
	unknown := *e
	unknown.Sent = supplier.Unknown
	return w.failed(ctx, route, &unknown)
}

// unprepared fails the task for an input that can't be read, unless the work itself was cut short or the input may be
// read later.
func (w *work) unprepared(ctx context.Context, c *task.Closing, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
	}
	f := fault.From(err)
	if ofDisk(err) {
		return w.waitForInput(ctx, f)
	}
	return w.fail(ctx, c, f)
}

// proceed records a job or keeps a result.
func (w *work) proceed(ctx context.Context, route routing.Route, out supplier.Outcome) error {
	switch {
	case out.Result != nil:
		return w.transfer(ctx, route, *out.Result)
	case out.Job != nil:
		raw, err := json.Marshal(out.Job)
		if err != nil {
			return err
		}
		w.g.health.Accepted(route.ID())
		if err := w.advance(ctx, store.Step{Submitted: raw}); err != nil {
			return err
		}
		return w.pause(ctx, out.Job.PollAfter)
	default:
		return w.failed(ctx, route, supplier.NewError(supplier.Unknown, fault.ProviderUnavailable, "the work brought no result", nil))
	}
}

// failed ends the open attempt by the adapter's verdict and leaves the task to the next route if that is safe. A
// definite verdict is recorded even while the node stops; without one the intent stays open, and whoever takes over
// reconciles it.
func (w *work) failed(ctx context.Context, route routing.Route, err error) error {
	e := supplier.AsError(err)
	definite := e.Sent != supplier.Unknown
	if stop := w.interrupted(ctx); !definite && (stop != nil || w.t.CancelRequested || ctx.Err() != nil) {
		return stop
	}
	w.learn(route, e)
	closing := &task.Closing{Code: e.Fault.Code}
	switch e.Sent {
	case supplier.NotSent, supplier.Refused:
		closing.State = task.Rejected
	case supplier.Failed:
		closing = w.failedWork(route, e)
	default:
		closing.State, closing.CostUnknown = task.UnknownOutcome, true
		f := e.Fault
		if !f.Code.Retryable() {
			f = fault.New(fault.ProviderUnavailable, "the outcome of the work is unknown")
		}
		return w.fail(ctx, closing, f.WithRetryAfter(max(f.RetryAfter, retryTimeout)))
	}
	if e.Fault.Code == fault.ContentPolicyViolation {
		return w.fail(ctx, closing, e.Fault)
	}
	if closing.State == task.Rejected && e.Fault.Code == fault.CapacityExhausted {
		w.refused = route.ID()
	}
	return w.advance(ctx, store.Step{Close: closing})
}

// failedWork closes the attempt of work that ended without a result, with the cost that the supplier states.
func (w *work) failedWork(route routing.Route, e *supplier.Error) *task.Closing {
	c := &task.Closing{State: task.FailedAttempt, Code: e.Fault.Code}
	if e.Usage != nil {
		c.Usage = new(task.Usage(*e.Usage))
		if *e.Usage != (supplier.Usage{}) {
			*c.Usage = w.requested(route, *c.Usage)
		}
		c.Cost = route.Price.Cost(*c.Usage)
	}
	if e.Charged != nil {
		c.Cost = task.Money(*e.Charged)
	}
	return c
}

// operatorPause is how long a route whose key, balance or permission is wrong is left alone.
const operatorPause = time.Minute

// learn reports an error to the router if it concerns the route. An answer about a request concerns that request
// alone: it mustn't keep the route from others. One about the service's own key, balance or permission concerns this
// node alone, because keys come from each node's environment. The sandbox fails on request, which doesn't concern its
// route.
func (w *work) learn(route routing.Route, e *supplier.Error) {
	if route.Mode == task.Test {
		return
	}
	attrs := []any{
		nameOf(&w.t), slog.String("supplier", route.Supplier), slog.String("model", route.Model),
		slog.String("code", string(e.Fault.Code)), slog.String("sent", string(e.Sent)), slog.Int("status", e.Status),
	}
	switch {
	case e.Operator:
		w.g.health.PauseHere(route.ID(), operatorPause, fault.ProviderUnavailable, needsOperator(e))
		w.g.log.Error("a supplier refused the service's own key, balance or model", attrs...)
	case e.Fault.Code == fault.CapacityExhausted && e.RetryAfter > 0:
		w.g.health.Pause(route.ID(), e.RetryAfter, fault.CapacityExhausted, "cooling down")
		w.g.log.Warn("a supplier asked for a pause", attrs...)
	case e.Request:
		w.g.log.Warn("a supplier refused a request", attrs...)
	case e.Fault.Code == fault.ProviderUnavailable || e.Fault.Code == fault.ProviderTimeout:
		w.g.health.Failed(route.ID(), w.t.Scope.Account)
		w.g.log.Warn("an attempt failed", attrs...)
	}
}

// needsOperator is the reason why a route waits for the operator, with what the supplier answered.
func needsOperator(e *supplier.Error) string {
	const tripped = "tripped: needs the operator"
	if why := e.Refusal(); why != "" {
		return tripped + ": " + why
	}
	return tripped
}

// reconcile settles an intent this worker inherited: it may or may not have been sent.
func (w *work) reconcile(ctx context.Context, route routing.Route, a task.Attempt) error {
	if honorsKey(route.Adapter) {
		if errors.Is(w.readInput(ctx), errInputGone) {
			return w.orphan(ctx, a)
		}
		return w.submit(ctx, route, a)
	}
	finder, ok := route.Adapter.(supplier.Finder)
	if !ok {
		return w.orphan(ctx, a)
	}
	job, found, err := finder.Find(ctx, a.SubmitKey)
	switch {
	case err != nil:
		return w.pause(ctx, w.pollPause(0))
	case found:
		return w.proceed(ctx, route, supplier.Outcome{Job: &job})
	default:
		// It never arrived, which doesn't concern the route: no code, so its turn is still to come.
		return w.advance(ctx, store.Step{Close: &task.Closing{State: task.Rejected}})
	}
}

func honorsKey(a supplier.Adapter) bool {
	k, ok := a.(supplier.KeyHonorer)
	return ok && k.HonorsSubmitKey()
}
