package gate

import (
	"errors"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Whose counters the holds are.
const (
	queueScope   = "queue" // of waiting tasks, over all accounts
	keyScope     = "key:"
	accountScope = "account:"
)

// Holds returns the holds that a task of the caller takes in the commit that accepts it: an open task of the key and
// of the account, room in the queue, the reserved amount of both budgets, and the suppliers' largest charge of the
// account's limit on those. An account's limits hold for each mode on its own, so that tests don't limit live work;
// the sandbox is free.
func (g *Gate) Holds(c Caller, reserved, spend task.Money) []task.Hold {
	key, defaults := keyScope+c.Key.Counter(), g.defaults.Load()
	holds := []task.Hold{
		{Scope: key, Kind: task.HoldOpen, Amount: 1, Limit: int64(effective(c.Key.Limits.OpenTasks, defaults.OpenTasks))},
		{Scope: queueScope, Kind: task.HoldQueue, Amount: 1, Limit: int64(defaults.Queue)},
	}
	limits := c.Account.Limits
	if limits == (account.Limits{}) {
		return g.budget(holds, key, c.Key.Limits, reserved)
	}
	owner := accountOf(c.Account.ID, c.Key.Mode)
	if limits.OpenTasks > 0 {
		holds = append(holds, task.Hold{Scope: owner, Kind: task.HoldOpen, Amount: 1, Limit: int64(limits.OpenTasks)})
	}
	holds = g.budget(holds, key, c.Key.Limits, reserved)
	holds = g.budget(holds, owner, limits, reserved)
	if c.Key.Mode == task.Live {
		holds = g.periodic(holds, task.HoldSpend, owner, limits, spend, limits.Spend())
	}
	return holds
}

// budget appends a task's hold of a budget, if there is one.
func (g *Gate) budget(holds []task.Hold, scope string, l account.Limits, reserved task.Money) []task.Hold {
	return g.periodic(holds, task.HoldBudget, scope, l, reserved, l.Budget)
}

// periodic appends a hold that counts for the budget's period, if limit is one.
func (g *Gate) periodic(holds []task.Hold, kind task.HoldKind, scope string, l account.Limits, amount, limit task.Money) []task.Hold {
	if limit <= 0 {
		return holds
	}
	now := g.now()
	return append(holds, task.Hold{
		Scope: periodScope(scope, l, now), Kind: kind, Amount: int64(amount), Limit: int64(limit), Lasts: l.BudgetPeriod.Left(now),
	})
}

func accountOf(id string, m task.Mode) string { return accountScope + id + ":" + string(m) }

// periodScope is the scope of a counter in the budget's period under way.
func periodScope(scope string, l account.Limits, now time.Time) string {
	return scope + ":" + l.BudgetPeriod.Stamp(now)
}

// KeyBudget names the counter by which tasks are refused that a key's budget doesn't cover in the period under way.
func KeyBudget(k account.Key, now time.Time) store.Counter {
	return store.Counter{Scope: periodScope(keyScope+k.Counter(), k.Limits, now), Kind: task.HoldBudget}
}

// AccountBudget is as KeyBudget for the live tasks of an account.
func AccountBudget(a account.Account, now time.Time) store.Counter {
	return store.Counter{Scope: periodScope(accountOf(a.ID, task.Live), a.Limits, now), Kind: task.HoldBudget}
}

// Who comes again: after a task may have ended, and after a budget's period, or after an hour, for the operator may
// have raised it and failing tasks give their reservation back.
const (
	queueAgain  = 5 * time.Second
	openAgain   = 2 * time.Second
	budgetAgain = time.Hour
)

// Refusal turns the store's *HoldError into the caller's error; any other error is returned as it is.
func Refusal(err error) error {
	h, ok := errors.AsType[*store.HoldError](err)
	if !ok {
		return err
	}
	whose, with := "key's", "with this key"
	if strings.HasPrefix(h.Hold.Scope, accountScope) {
		whose, with = "account's", "of this account"
	}
	switch h.Hold.Kind {
	case task.HoldQueue:
		return fault.New(fault.CapacityExhausted, "the queue is full").WithRetryAfter(queueAgain)
	case task.HoldBudget:
		return fault.Newf(fault.RateLimitExceeded, "the %s budget for this period doesn't cover the request", whose).
			WithRetryAfter(max(min(h.Hold.Lasts, budgetAgain), time.Second))
	case task.HoldSpend:
		return fault.New(fault.RateLimitExceeded, "the account's limit on what its requests may cost the service in this period doesn't cover the request").
			WithRetryAfter(max(min(h.Hold.Lasts, budgetAgain), time.Second))
	default:
		return fault.Newf(fault.RateLimitExceeded, "more than %d open tasks %s", h.Hold.Limit, with).WithRetryAfter(openAgain)
	}
}

// QueueRoom returns the refusal of a task if so many wait already; nil: one more may.
func (g *Gate) QueueRoom(waiting int64) error {
	limit := int64(g.defaults.Load().Queue)
	if limit <= 0 || waiting < limit {
		return nil
	}
	return Refusal(&store.HoldError{Hold: task.Hold{Scope: queueScope, Kind: task.HoldQueue, Amount: 1, Limit: limit}})
}
