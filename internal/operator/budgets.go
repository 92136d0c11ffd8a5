package operator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

const (
	// nearlySpent is the part of a budget, in percent, from which it is a concern.
	nearlySpent = 80
	// budgetsFor is how long the concerns of budgets are kept: they take a reading of a month's sums.
	budgetsFor = 20 * time.Second
)

// keptConcerns are the last concerns of budgets.
type keptConcerns struct {
	mu  sync.Mutex
	at  time.Time
	all []Concern
}

// budgetConcerns returns the accounts and keys that have spent most of their budgets in the period under way, at most
// budgetsFor old. The reservations of open tasks aren't in it.
func (o *Operator) budgetConcerns(ctx context.Context) ([]Concern, error) {
	o.budgets.mu.Lock()
	defer o.budgets.mu.Unlock()
	if now := o.Now(); o.budgets.at.IsZero() || now.Sub(o.budgets.at).Abs() >= budgetsFor {
		all, err := o.readBudgets(ctx, now)
		if err != nil {
			return nil, err
		}
		o.budgets.at, o.budgets.all = now, all
	}
	return o.budgets.all, nil
}

// spending is the charges of the days of this month, by account or by key.
type spending map[string]*struct{ day, month task.Money }

func (s spending) add(who string, today bool, cost task.Money) {
	if s[who] == nil {
		s[who] = new(struct{ day, month task.Money })
	}
	s[who].month = s[who].month.Add(cost)
	if today {
		s[who].day = s[who].day.Add(cost)
	}
}

func (s spending) in(who string, p account.Period) task.Money {
	switch at := s[who]; {
	case at == nil:
		return 0
	case p == account.Day:
		return at.day
	default:
		return at.month
	}
}

func (o *Operator) readBudgets(ctx context.Context, now time.Time) (all []Concern, err error) {
	accounts, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := o.Store.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	any, counter := false, map[string]string{}
	for _, a := range accounts {
		any = any || a.Limits.Budget > 0
	}
	for _, k := range keys {
		any, counter[k.ID] = any || k.Limits.Budget > 0, k.Counter()
	}
	if !any {
		return nil, nil
	}
	today := account.DateOf(now)
	first := today - account.Date(now.UTC().Day()-1)
	byAccount, byKey := spending{}, spending{}
	err = o.Store.EachUsage(ctx, store.UsageQuery{First: first, Last: today}, func(k store.UsageKey, u store.Usage) bool {
		if k.Mode == task.Live {
			byAccount.add(k.Account, k.Day == today, u.Cost)
			byKey.add(counter[k.KeyID], k.Day == today, u.Cost)
		}
		return true
	})
	for _, a := range accounts {
		all = nearly(all, Concern{Kind: ConcernAccount, Name: a.Name, ID: a.ID}, a.Limits, byAccount.in(a.ID, a.Limits.BudgetPeriod))
	}
	for _, k := range keys {
		if k.Mode == task.Live && k.Usable(now) {
			all = nearly(all, Concern{Kind: ConcernKey, Name: k.Name, ID: k.ID}, k.Limits, byKey.in(k.Counter(), k.Limits.BudgetPeriod))
		}
	}
	return all, err
}

// nearly adds a concern if most of a budget is spent.
func nearly(all []Concern, c Concern, l account.Limits, spent task.Money) []Concern {
	part := float64(spent) / float64(max(l.Budget, 1)) * 100
	if l.Budget <= 0 || part < nearlySpent {
		return all
	}
	c.Grave = spent >= l.Budget
	c.About = fmt.Sprintf("$%s of $%s this %s, %d %%", spent, l.Budget, l.BudgetPeriod, int(part))
	return append(all, c)
}
