package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// How a job is polled if its supplier gives no advice.
const (
	pollStart  = 500 * time.Millisecond
	pollMost   = 5 * time.Second
	pollFactor = 1.5
)

// Progress is stored when it grew by this much and the last time is this long ago: each store is a
// commit.
const (
	progressStep     = 0.05
	progressInterval = 2 * time.Second
)

// poll asks once after a known job; while it goes on, the work pauses. A failed poll doesn't decide the job: it is
// asked again until the deadline.
func (w *work) poll(ctx context.Context, route routing.Route, a task.Attempt) error {
	poller, ok := route.Adapter.(supplier.Poller)
	job, err := decodeJob(a)
	if !ok || err != nil {
		return w.orphan(ctx, a)
	}
	soft, stop := w.soft(ctx)
	defer stop()
	out, err := poller.Poll(soft, job)
	var advised time.Duration
	switch {
	case err != nil && supplier.AsError(err).Sent == supplier.Failed:
		return w.failed(ctx, route, err)
	case err != nil:
		w.pollFailed(soft, route, err)
		w.wait = max(w.wait, min(supplier.AsError(err).RetryAfter, pollMost))
	case out.Result != nil:
		return w.transfer(ctx, route, *out.Result)
	case out.Job != nil:
		if err := w.pollSucceeded(ctx, job, *out.Job); err != nil {
			return err
		}
		advised = out.Job.PollAfter
	}
	return w.pause(ctx, w.pollPause(advised))
}

// pollPause returns how long to wait for the next poll: as the supplier advises, else longer each time.
func (w *work) pollPause(advised time.Duration) time.Duration {
	if advised > 0 {
		w.wait = min(advised, pollMost)
		return w.wait
	}
	wait := max(w.wait, pollStart)
	w.wait = min(time.Duration(float64(wait)*pollFactor), pollMost)
	return wait
}

// pollSucceeded records a poll's news, if it is worth a commit.
func (w *work) pollSucceeded(ctx context.Context, was, is supplier.Job) error {
	if w.shown.IsZero() {
		w.shown = w.g.now()
	}
	var s store.Step
	if was.ID != is.ID || string(was.State) != string(is.State) {
		raw, err := json.Marshal(is)
		if err != nil {
			return err
		}
		s.Submitted = raw
	}
	if p := is.Progress; p != nil && *p >= 0 && *p <= 1 && w.g.now().Sub(w.shown) >= progressInterval {
		if before := w.t.Progress; before == nil || *p >= *before+progressStep {
			s.Progress, w.shown = p, w.g.now()
		}
	}
	if s.Submitted == nil && s.Progress == nil {
		return nil
	}
	return w.advance(ctx, s)
}

func (w *work) pollFailed(ctx context.Context, route routing.Route, err error) {
	if ctx.Err() != nil {
		return
	}
	w.g.log.Warn("asking after a job failed; it is asked again", nameOf(&w.t),
		slog.String("supplier", route.Supplier), slog.String("code", string(fault.CodeOf(err))))
}

func decodeJob(a task.Attempt) (supplier.Job, error) {
	var job supplier.Job
	if err := json.Unmarshal(a.Job, &job); err != nil {
		return job, fmt.Errorf("gateway: the stored job of attempt %d is unreadable: %w", a.N, err)
	}
	return job, nil
}
