package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// budgetsEvery is how often a node looks which budgets are nearly spent.
const budgetsEvery = 20 * time.Second

// watchBudgets tells of them until ctx ends.
func (s *Sender) watchBudgets(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.tellBudgets(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			s.Logger.ErrorContext(ctx, "budgets can't be told of", slog.Any("error", err))
		}
		sleep(ctx, budgetsEvery)
	}
}

// tellBudgets has the endpoints that want it told of each part of a budget that is spent, once in its period for each
// amount. A crash in between leaves the rest to the next look.
func (s *Sender) tellBudgets(ctx context.Context) error {
	endpoints, err := s.Store.ListEndpoints(ctx, task.Scope{})
	if err != nil {
		return err
	}
	now := s.Now()
	by := map[string][]string{} // ids by account
	for _, e := range endpoints {
		if e.Budgets && e.Disabled == "" && e.Scope.Mode == task.Live && !e.Expired(now) {
			by[e.Scope.Account] = append(by[e.Scope.Account], e.ID)
		}
	}
	if len(by) == 0 {
		return nil
	}
	near, err := s.Budgets(ctx)
	if err != nil {
		return err
	}
	var notices []store.Notice
	var marks []store.Counter
	for _, b := range near {
		for _, n := range noticesOf(b, by[b.Account], now) {
			notices, marks = append(notices, n), append(marks, n.Told())
		}
	}
	told, err := s.Store.Held(ctx, marks)
	for i, n := range notices {
		if err == nil && told[i] == 0 {
			err = s.Store.Tell(ctx, n)
		}
		if errors.Is(err, store.ErrNotFound) { // the endpoint was deleted
			err = nil
		}
	}
	return err
}

// noticesOf returns what endpoints are told of a budget.
func noticesOf(b webhook.Budget, endpoints []string, now time.Time) (all []store.Notice) {
	for _, part := range webhook.BudgetParts() {
		if b.Percent < part {
			break
		}
		b.Part = part
		for _, id := range endpoints {
			of := b
			all = append(all, store.Notice{
				Endpoint: id, Mark: b.Mark(), Lasts: b.Ends.Sub(now),
				Event: webhook.Event{ID: task.NewID(webhook.PrefixBudget, now) + ".0", Budget: &of},
			})
		}
	}
	return all
}
