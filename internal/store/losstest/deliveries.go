package losstest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// endpoint hears of the ends of the writers' tasks.
const endpoint = "whe_loss"

// hooks is a store that keeps endpoints.
type hooks interface {
	store.Accounts
	store.Webhooks
}

// listen makes the endpoint, before the first task, if the store keeps any. false: it keeps none.
func (w Writers) listen(ctx context.Context) (hooks, bool, error) {
	h, ok := w.Store.(hooks)
	if !ok {
		return nil, false, nil
	}
	err := h.PutAccount(ctx, account.Account{ID: scope.Account, Name: scope.Account, CreatedAt: time.Now()})
	if err != nil && !errors.Is(err, store.ErrExists) {
		return nil, false, err
	}
	err = h.PutEndpoint(ctx, webhook.Endpoint{ID: endpoint, Scope: scope, URL: "https://example.com/", Generation: 1, CreatedAt: time.Now().UTC()})
	if errors.Is(err, store.ErrExists) {
		err = nil
	}
	return h, true, err
}

// deliver takes deliveries and ends half of them, until the first error: a death meets them in every state.
func deliver(ctx context.Context, h store.Webhooks) error {
	bell, stop := h.(store.Store).Wake(store.TopicDeliveries)
	defer stop()
	for {
		claimed, err := h.ClaimDeliveries(ctx, store.DeliveryClaim{Node: node, Lease: time.Minute, Limit: 8, Each: 1 << 20})
		if err != nil {
			return err
		}
		for i, c := range claimed {
			out := store.DeliveryOutcome{Attempt: webhook.Attempt{At: time.Now().UTC(), Status: 200}, State: webhook.Delivered}
			if i%4 == 1 {
				out.State, out.Pause = webhook.Waiting, time.Minute
			}
			if i%2 == 1 {
				continue // its lease runs out
			}
			if err := h.EndDelivery(ctx, c.Ref, out); err != nil {
				return err
			}
		}
		if len(claimed) > 0 {
			continue
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// deliveries returns an error for each task that ended without exactly one delivery, and each delivery of a task that
// didn't end.
func deliveries(ctx context.Context, db store.Store, listed map[string]task.State) error {
	h, ok := db.(store.Webhooks)
	if !ok {
		return nil
	}
	told := map[string]int{}
	for q := (store.DeliveryQuery{Scope: scope, Endpoint: endpoint, Limit: store.MaxPage}); ; {
		page, err := h.ListDeliveries(ctx, q)
		if err != nil {
			return err
		}
		for _, d := range page.Deliveries {
			told[d.Event.TaskID]++
			if state := listed[d.Event.TaskID]; state != d.Event.State {
				return fmt.Errorf("%s: its delivery says %s, the task %s", d.Event.TaskID, d.Event.State, state)
			}
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	var wrong []error
	for id, state := range listed {
		if state.Terminal() && told[id] != 1 {
			wrong = append(wrong, fmt.Errorf("%s ended and has %d deliveries", id, told[id]))
		}
	}
	return errors.Join(wrong...)
}
