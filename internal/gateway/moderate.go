package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/policy"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// How often in a row a moderation supplier is asked about one task, and the first pause between.
const (
	moderationTries = 3
	moderationPause = 250 * time.Millisecond
)

// moderation returns who is to be asked about an input before its work begins, and the texts; nil if no moderation
// applies or the input has no text.
func (g *Gateway) moderation(mode task.Mode, entry catalog.Capability, input json.RawMessage) (*policy.Moderation, []catalog.Text) {
	m := g.policy.Load().ModerationFor(mode, entry)
	if m == nil {
		return nil, nil
	}
	texts := policy.Prose(entry.Texts(input))
	if len(texts) == 0 {
		return nil, nil
	}
	return m, texts
}

// moderator returns who is still to be asked since the task was last queued by its caller, with the request read; nil
// for no moderation.
func (w *work) moderator() (*policy.Moderation, []catalog.Text) {
	entry, _ := w.g.catalog.Load().Get(catalog.Name(w.t.Capability))
	m, texts := w.g.moderation(w.t.Scope.Mode, entry, w.request.Input)
	passed, failures := w.moderated()
	if m == nil || passed || m.AllowFailed && failures >= moderationTries {
		return nil, nil
	}
	return m, texts
}

// moderated returns from the ledger whether the content has passed, else the number of failed questions.
func (w *work) moderated() (passed bool, failures int) {
	for _, a := range w.t.Attempts[min(w.t.Round, len(w.t.Attempts)):] {
		switch {
		case a.Moderation && a.State == task.OK:
			return true, 0
		case a.Moderation && a.State == task.FailedAttempt:
			failures++
		}
	}
	return false, failures
}

// beginModeration records that the supplier is about to be asked. It counts against no cap: the question is short and
// doesn't delay other work.
func (w *work) beginModeration(ctx context.Context, m *policy.Moderation, texts []catalog.Text) error {
	plan := m.Plan(texts)
	err := w.beginAttempt(ctx, plan)
	if err == nil {
		w.fresh = len(w.t.Attempts)
	}
	return err
}

// moderate asks about the content. A question of unknown outcome is asked again: it has no effect but its price.
func (w *work) moderate(ctx context.Context, a task.Attempt) error {
	if err := w.readInput(ctx); err != nil {
		return w.unprepared(ctx, w.unsettled(&a, fault.CodeOf(err)), err)
	}
	m, texts := w.moderator()
	if m == nil || m.Supplier != a.Supplier || m.Model != a.Model {
		return w.advance(ctx, store.Step{Close: &task.Closing{State: task.Rejected, Note: "no longer configured"}})
	}
	if !w.g.leaseValid(w.node) {
		return w.release(ctx)
	}
	w.fresh = 0
	verdict, err := m.Ask(ctx, texts)
	if err != nil && ctx.Err() != nil {
		return nil //nolint:nilerr // the next step sees to why
	}
	if err != nil {
		return w.unmoderated(ctx, m, supplier.AsError(err))
	}
	closing := &task.Closing{State: task.OK, Usage: &verdict.Usage, Cost: verdict.Cost, Note: verdict.Note}
	if verdict.Fault != nil {
		return w.fail(ctx, closing, verdict.Fault)
	}
	return w.advance(ctx, store.Step{Close: closing})
}

// unmoderated records that the supplier could not say. After a few tries the task fails or goes on, as the
// operator chose.
func (w *work) unmoderated(ctx context.Context, m *policy.Moderation, e *supplier.Error) error {
	_, failures := w.moderated()
	failures++
	closing := &task.Closing{State: task.FailedAttempt, Code: e.Fault.Code, CostUnknown: e.Sent == supplier.Unknown}
	level := slog.LevelWarn
	if e.Operator {
		level = slog.LevelError
	}
	w.g.log.Log(ctx, level, "a moderation supplier could not be asked", nameOf(&w.t), slog.String("supplier", m.Supplier),
		slog.String("code", string(e.Fault.Code)), slog.Int("status", e.Status), slog.Int("try", failures), slog.Bool("allowed", m.AllowFailed))
	if failures < moderationTries {
		if err := w.advance(ctx, store.Step{Close: closing}); err != nil {
			return err
		}
		return w.pause(ctx, max(moderationPause<<(failures-1), min(e.RetryAfter, pollMost)))
	}
	if m.AllowFailed {
		closing.Note = "goes on all the same, as configured"
		return w.advance(ctx, store.Step{Close: closing})
	}
	return w.fail(ctx, closing, fault.New(fault.ProviderUnavailable, "the content could not be reviewed").WithRetryAfter(retryUnavailable))
}
