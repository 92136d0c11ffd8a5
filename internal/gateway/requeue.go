package gateway

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// How often synchronous work looks for room at a route, and how long a task without room is left in the queue: the
// longer it has waited, the longer.
const (
	placeInterval  = 25 * time.Millisecond
	queuePause     = 250 * time.Millisecond
	queuePauseMost = 5 * time.Second
)

// How long a task leaves a route alone that refused it for want of room, doubled at each refusal. The pause that a
// supplier asks for is kept beside it, for every task: see learn.
const (
	syncRest  = 250 * time.Millisecond
	asyncRest = time.Second
	restMost  = time.Minute
)

// routeHistory is the state of the routes by the ledger since the task was last queued by its caller.
type routeHistory struct {
	tried   []string      // routes that are out
	codes   []fault.Code  // how they ended
	resting []string      // routes to be left alone for a moment
	again   time.Duration // until the first of them may be tried again; 0: no route rests
}

// routeHistory reads the ledger. A route that had no room keeps its turn; every other end takes it. The one that has
// just refused rests, however long it took to record that: the next route comes first.
func (w *work) routeHistory() routeHistory {
	var had routeHistory
	refusals := map[string]int{}
	last := map[string]time.Time{}
	for _, a := range w.t.Attempts[min(w.t.Round, len(w.t.Attempts)):] {
		id := routing.Route{Supplier: a.Supplier, Model: a.Model}.ID()
		switch {
		case a.Moderation: // it concerns no route
		case a.State.Open() || a.Code == "" || a.State == task.UnknownOutcome:
		case a.State == task.Rejected && a.Code == fault.CapacityExhausted:
			refusals[id]++
			last[id] = *a.ClosedAt
		default:
			had.tried = append(had.tried, id)
			had.codes = append(had.codes, a.Code)
		}
	}
	for id, n := range refusals {
		rest := w.restFor(n)
		passed := w.g.now().Sub(last[id])
		left := rest - passed
		just := id == w.refused
		if just {
			left = min(max(left, placeInterval), rest)
		}
		if (just || passed >= 0) && left > 0 && !slices.Contains(had.tried, id) {
			had.resting = append(had.resting, id)
			if had.again == 0 || left < had.again {
				had.again = left
			}
		}
	}
	return had
}

// restFor returns how long a route is left alone after its n-th refusal for want of room.
func (w *work) restFor(n int) time.Duration {
	first := asyncRest
	if w.t.Sync {
		first = syncRest
	}
	return min(first<<min(n-1, 16), restMost)
}

// noRoute requeues or fails a task that no route accepts now. While one of them merely has no room (full, cooling
// down, or refusing for that reason) or is being probed, asynchronous work goes back to the queue until its deadline
// and synchronous work waits a moment.
func (w *work) noRoute(ctx context.Context, had routeHistory, passed []task.Passed) error {
	codes, wait, full := had.codes, false, false
	for _, p := range passed {
		if p.Code != "" {
			codes = append(codes, p.Code)
		}
		wait = wait || p.Code == fault.CapacityExhausted || p.Reason == routing.Probing
		full = full || p.Reason == routing.Full
	}
	switch {
	case wait && w.t.Sync && w.waited < w.g.limits.Load().PlaceWait:
		w.waited += placeInterval
		return w.pause(ctx, placeInterval)
	case wait && !w.t.Sync:
		return w.requeue(ctx, had.again, full)
	default:
		e := verdict(codes)
		if e.Code == fault.InvalidRequest {
			e = w.unhonoured()
		}
		if w.t.Scope.Mode == task.Live {
			w.g.log.Warn("no route took a task", nameOf(&w.t), slog.String("code", string(e.Code)), slog.Any("routes", passed))
		}
		return w.fail(ctx, nil, e)
	}
}

// unhonoured is the refusal of a request that no route can honour: it names the caller's fields, if they are known
// before a request is sent, and never the supplier.
func (w *work) unhonoured() *fault.Error {
	fields := w.g.routes.Load().Unhonoured(routing.Want{
		Mode: w.t.Scope.Mode, Capability: catalog.Name(w.t.Capability), Request: *w.request,
	})
	if len(fields) == 0 {
		return verdict([]fault.Code{fault.InvalidRequest})
	}
	e := fault.New(fault.InvalidRequest, "no route can honour "+strings.Join(fields, ", "))
	for _, f := range fields {
		e = e.WithDetails(fault.Detail{Field: f, Message: "can't be honoured with this value"})
	}
	return e
}

// requeue gives the task back until a route may have room. Its public state stays: one that was
// running while a supplier refused it doesn't become queued again.
func (w *work) requeue(ctx context.Context, again time.Duration, full bool) error {
	pause := again
	if pause == 0 || full {
		age := w.g.now().Sub(w.t.CreatedAt)
		pause = min(max(age/16, queuePause), queuePauseMost)
	}
	pause = min(pause, max(time.Until(w.ends), 0))
	if err := w.advance(ctx, store.Step{Release: &pause}); err != nil {
		return err
	}
	return errDropped
}

// verdict sums up why no route did the work. INVALID_REQUEST only when every route refused so.
func verdict(codes []fault.Code) *fault.Error {
	only := func(code fault.Code) bool {
		seen := false
		for _, c := range codes {
			if c != code && c != fault.InvalidRequest {
				return false
			}
			seen = seen || c == code
		}
		return seen
	}
	switch {
	case only(fault.InvalidRequest):
		return fault.New(fault.InvalidRequest, "the input or a parameter was refused; change it before submitting again")
	case only(fault.CapacityExhausted):
		return fault.New(fault.CapacityExhausted, "every route is full").WithRetryAfter(retryCapacity)
	case only(fault.ProviderTimeout):
		return fault.New(fault.ProviderTimeout, "no route answered in time").WithRetryAfter(retryTimeout)
	case only(fault.Internal):
		return fault.New(fault.Internal, "the work met a fault of the service")
	default:
		return fault.New(fault.ProviderUnavailable, "no route could do the work").WithRetryAfter(retryUnavailable)
	}
}
