package operator

import (
	"context"
	"fmt"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/task"
)

// budget is that of a key or an account, with the counter by which tasks are refused that it doesn't cover.
type budget struct {
	limits  account.Limits
	counter store.Counter
}

func keyBudget(k account.Key, now time.Time) budget { return budget{k.Limits, gate.KeyBudget(k, now)} }

func accountBudget(a account.Account, now time.Time) budget {
	return budget{a.Limits, gate.AccountBudget(a, now)}
}

// spent returns what counts against each budget in the period under way, 0 without one.
func (o *Operator) spent(ctx context.Context, budgets []budget) ([]task.Money, error) {
	var counters []store.Counter
	for _, b := range budgets {
		if b.limits.Budget > 0 {
			counters = append(counters, b.counter)
		}
	}
	held, err := o.Store.Held(ctx, counters)
	if err != nil {
		return nil, err
	}
	all := make([]task.Money, len(budgets))
	for i, b := range budgets {
		if b.limits.Budget > 0 {
			all[i], held = task.Money(held[0]), held[1:]
		}
	}
	return all, nil
}

func spendingOf(l account.Limits, spent task.Money, now time.Time) api.Spending {
	if l.Budget <= 0 {
		return api.Spending{}
	}
	return api.Spending{Spent: spent.String(), BudgetEndsAt: &api.Timestamp{Time: l.BudgetPeriod.End(now)}}
}

// accountsOf returns accounts as their operator reads them, with how their budgets stand.
func (o *Operator) accountsOf(ctx context.Context, all ...account.Account) ([]api.Account, error) {
	now := o.Now()
	budgets := make([]budget, 0, len(all))
	for _, a := range all {
		budgets = append(budgets, accountBudget(a, now))
	}
	spent, err := o.spent(ctx, budgets)
	if err != nil {
		return nil, err
	}
	out := make([]api.Account, 0, len(all))
	for i, a := range all {
		one := accountOf(a)
		one.Spending = spendingOf(a.Limits, spent[i], now)
		out = append(out, one)
	}
	return out, nil
}

// addSpent adds to the keys of an answer how their budgets stand, by the keys' records.
func (o *Operator) addSpent(ctx context.Context, out []api.Key, keys []account.Key) error {
	now := o.Now()
	budgets := make([]budget, 0, len(keys))
	for _, k := range keys {
		budgets = append(budgets, keyBudget(k, now))
	}
	spent, err := o.spent(ctx, budgets)
	if err != nil {
		return err
	}
	for i, k := range keys {
		out[i].Spending = spendingOf(k.Limits, spent[i], now)
	}
	return nil
}

// budgetConcerns returns the accounts and keys of whose budgets most is spent or reserved in the period under way, at most
// keptFor ago.
func (o *Operator) budgetConcerns(ctx context.Context) ([]Concern, error) {
	now := o.Now()
	return o.budgets.get(now, struct{}{}, func() ([]Concern, error) { return o.readBudgets(ctx, now) })
}

// BudgetCount is how many budgets are nearly spent, and how many have no rest in the period under way.
type BudgetCount struct{ Near, Spent int }

// CountBudgets counts the budgets of accounts and of open keys, as they were at most keptFor ago.
func (o *Operator) CountBudgets(ctx context.Context) (accounts, keys BudgetCount, err error) {
	all, err := o.budgetConcerns(ctx)
	for _, c := range all {
		of := &accounts
		if c.Kind == ConcernKey {
			of = &keys
		}
		if c.Grave {
			of.Spent++
		} else {
			of.Near++
		}
	}
	return accounts, keys, err
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
	var budgets []budget
	var concerns []Concern
	for _, a := range accounts {
		budgets = append(budgets, accountBudget(a, now))
		concerns = append(concerns, Concern{Kind: ConcernAccount, Name: a.Name, ID: a.ID})
	}
	for _, k := range keys {
		if k.Mode == task.Live && k.Usable(now) {
			budgets = append(budgets, keyBudget(k, now))
			concerns = append(concerns, Concern{Kind: ConcernKey, Name: k.Name, ID: k.ID})
		}
	}
	spent, err := o.spent(ctx, budgets)
	if err != nil {
		return nil, err
	}
	for i, c := range concerns {
		all = nearly(all, c, budgets[i].limits, spent[i])
	}
	return all, nil
}

// nearly adds a concern if most of a budget is spent.
func nearly(all []Concern, c Concern, l account.Limits, spent task.Money) []Concern {
	part := spent.Percent(l.Budget)
	if part < account.NearlySpent {
		return all
	}
	c.Grave = spent >= l.Budget
	c.About = fmt.Sprintf("$%s of $%s this %s, %d %%", spent, l.Budget, l.BudgetPeriod, part)
	return append(all, c)
}
