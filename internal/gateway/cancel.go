package gateway

import (
	"context"
	"log/slog"
	"time"

	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// cancelTimeout bounds the calls that stop a job at its supplier and ask after it.
const cancelTimeout = 10 * time.Second

// cancel ends the task at its caller's wish. A known job is stopped if the supplier can, and polled once: a result
// that is there already is kept and charged like any other.
func (w *work) cancel(ctx context.Context, open *task.Attempt) error {
	if open == nil || open.State != task.Submitted {
		return w.canceled(ctx, w.unsettled(open, ""))
	}
	route, ok := w.routeOf(*open)
	if !ok {
		return w.canceled(ctx, w.unsettled(open, ""))
	}
	out, stopped, err := w.stopJob(ctx, route, *open)
	e := supplier.AsError(err)
	switch {
	case out.Result != nil:
		return w.transfer(ctx, route, *out.Result)
	case e != nil && e.Sent == supplier.Failed && !stopped: // by itself
		return w.failed(ctx, route, e)
	case e != nil && (e.Usage != nil || e.Charged != nil):
		return w.canceled(ctx, w.stoppedJob(route, e))
	default:
		return w.canceled(ctx, w.unsettled(open, ""))
	}
}

// stopJob asks after the attempt's job and, unless it has ended by itself, stops it if the supplier can, and asks
// again. stopped reports whether the supplier was asked to stop it, perhaps by a worker before this one: a failure is
// no longer its own then.
func (w *work) stopJob(ctx context.Context, route routing.Route, a task.Attempt) (out supplier.Outcome, stopped bool, err error) {
	job, err := decodeJob(a)
	if err != nil {
		return out, false, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer stop()
	poller, asked := route.Adapter.(supplier.Poller)
	if asked {
		out, err = poller.Poll(ctx, job)
	}
	canceler, stops := route.Adapter.(supplier.Canceler)
	if e := supplier.AsError(err); !stops || out.Result != nil || e != nil && e.Sent == supplier.Failed {
		return out, stops && w.inherited, err
	}
	if err := canceler.Cancel(ctx, job); err != nil {
		w.g.log.Warn("the job of a canceled task goes on at its supplier",
			nameOf(&w.t), slog.String("supplier", route.Supplier), slog.Any("error", err))
	}
	if asked {
		out, err = poller.Poll(ctx, job)
	}
	return out, true, err
}

// canceled ends the task for its caller, closing the open attempt in the same commit if c is given.
func (w *work) canceled(ctx context.Context, c *task.Closing) error {
	return w.advance(ctx, store.Step{Close: c, Moves: []task.Transition{w.bill(c)}})
}

// bill returns the move that ends a canceled task, with its charge: zero if no work was submitted, else the cost that
// the supplier measured, else that of the delivered text, else the reservation. No more text is delivered.
func (w *work) bill(c *task.Closing) task.Transition {
	heard := w.deliveredText()
	switch open := w.t.OpenAttempt(); {
	case c == nil || c.State == task.Rejected || open.Moderation:
		return task.Cancel(nil)
	case c.Usage != nil && (c.State != task.OK || w.t.Price.Cost(*c.Usage) > 0): // a result may lack the quantity that prices it
		return task.Cancel(c.Usage)
	case heard != nil && (w.t.Price.Cost(*heard) > 0 || w.t.Reserved == 0): // priced by the token
		return task.Cancel(heard)
	default:
		return task.CancelUnmetered()
	}
}

// stoppedJob closes the attempt of a stopped job with the cost that the supplier states.
func (w *work) stoppedJob(route routing.Route, e *supplier.Error) *task.Closing {
	c := w.failedWork(route, e)
	c.Code, c.Note = "", "stopped for its caller"
	return c
}
