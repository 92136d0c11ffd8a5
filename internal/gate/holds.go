package gate

import (
	"errors"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// queueScope is the counter of waiting tasks over all accounts.
const queueScope = "queue"

// Holds returns what a task of the caller takes in the commit that accepts it: an open task, room in
// the queue, and the reserved amount of every budget.
func (g *Gate) Holds(c Caller, reserved task.Money) []task.Hold {
	holds := []task.Hold{
		{
			Scope: "key:" + c.Key.ID, Kind: task.HoldOpen, Amount: 1,
			Limit: int64(effective(c.Key.Limits.OpenTasks, g.defaults.Load().OpenTasks)),
		},
		{Scope: queueScope, Kind: task.HoldQueue, Amount: 1, Limit: int64(g.defaults.Load().Queue)},
	}
	if b := c.Key.Limits.Budget; b > 0 {
		period, now := c.Key.Limits.BudgetPeriod, g.now()
		holds = append(holds, task.Hold{
			Scope: "key:" + c.Key.ID + ":" + period.Stamp(now), Kind: task.HoldBudget,
			Amount: int64(reserved), Limit: int64(b), Lasts: period.Left(now),
		})
	}
	return holds
}

// Refusal turns the store's *HoldError into what the caller is told; any other error is returned as
// it is.
func Refusal(err error) error {
	h, ok := errors.AsType[*store.HoldError](err)
	if !ok {
		return err
	}
	switch h.Hold.Kind {
	case task.HoldQueue:
		return fault.New(fault.CapacityExhausted, "the queue is full").WithRetryAfter(5 * time.Second)
	case task.HoldBudget:
		return fault.New(fault.RateLimitExceeded, "the key's budget for this period doesn't cover the request").WithRetryAfter(time.Minute)
	default:
		return fault.Newf(fault.RateLimitExceeded, "more than %d open tasks with this key", h.Hold.Limit).WithRetryAfter(2 * time.Second)
	}
}
