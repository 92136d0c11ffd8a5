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

// How a job is polled where its supplier gives no advice.
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

// poll asks after a known job until it ends or the work does. Failing to ask says nothing about the
// job: it is asked again until the deadline.
func (w *work) poll(ctx context.Context, route routing.Route, a task.Attempt) error {
	poller, ok := route.Adapter.(supplier.Poller)
	job, err := decodeJob(a)
	if !ok || err != nil {
		return w.orphan(ctx, a)
	}
	wait, shown := pollStart, w.g.now()
	for ctx.Err() == nil {
		out, err := poller.Poll(ctx, job)
		switch {
		case err != nil && supplier.AsError(err).Sent == supplier.Failed:
			return w.failed(ctx, route, err)
		case err != nil:
			w.pollFailed(ctx, route, err)
			wait = max(wait, min(supplier.AsError(err).RetryAfter, pollMost))
		case out.Result != nil:
			return w.transfer(ctx, route, *out.Result)
		case out.Job != nil:
			s, changed := w.seen(job, *out.Job, &shown)
			job = *out.Job
			if changed {
				if err := w.advance(ctx, s); err != nil {
					return err
				}
			}
			if w.t.CancelRequested {
				return nil
			}
			if job.PollAfter > 0 {
				wait = min(job.PollAfter, pollMost)
			}
		}
		pause(ctx, wait)
		if job.PollAfter == 0 {
			wait = min(time.Duration(float64(wait)*pollFactor), pollMost)
		}
	}
	return nil
}

// seen returns the step that records what a poll brought, if it is worth a commit.
func (w *work) seen(was, is supplier.Job, shown *time.Time) (store.Step, bool) {
	var s store.Step
	if was.ID != is.ID || string(was.State) != string(is.State) {
		if raw, err := json.Marshal(is); err == nil {
			s.Submitted = raw
		}
	}
	if is.Progress != nil && w.g.now().Sub(*shown) >= progressInterval {
		if before := w.t.Progress; before == nil || *is.Progress >= *before+progressStep {
			s.Progress, *shown = is.Progress, w.g.now()
		}
	}
	return s, s.Submitted != nil || s.Progress != nil
}

func (w *work) pollFailed(ctx context.Context, route routing.Route, err error) {
	if ctx.Err() != nil {
		return
	}
	w.g.log.Warn("asking after a job failed; it is asked again", slog.String("task_id", w.t.ID),
		slog.String("supplier", route.Supplier), slog.String("code", string(fault.CodeOf(err))))
}

func decodeJob(a task.Attempt) (supplier.Job, error) {
	var job supplier.Job
	if err := json.Unmarshal(a.Job, &job); err != nil {
		return job, fmt.Errorf("gateway: the stored job of attempt %d is unreadable: %w", a.N, err)
	}
	return job, nil
}
