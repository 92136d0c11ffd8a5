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
	"unitask/internal/webhook"
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

// AddSpending adds how the budgets of keys stand. It reads a counter of each key that has a budget.
func (o *Operator) AddSpending(ctx context.Context, keys []Key) error {
	now := o.Now()
	budgets := make([]budget, 0, len(keys))
	for _, k := range keys {
		budgets = append(budgets, keyBudget(k.record, now))
	}
	spent, err := o.spent(ctx, budgets)
	if err != nil {
		return err
	}
	for i, k := range keys {
		keys[i].Spending = spendingOf(k.record.Limits, spent[i], now)
	}
	return nil
}

// nearBudget is a budget of which most is spent or reserved in the period under way.
type nearBudget struct {
	webhook.Budget // Percent is how much
	name           string
}

func (b nearBudget) concern() Concern {
	c := Concern{
		Kind: ConcernKey, Name: b.name, ID: b.Key, Grave: b.Spent >= b.Amount,
		About: fmt.Sprintf("$%s of $%s this %s, %d %%", b.Spent, b.Amount, b.Period, b.Percent),
	}
	if b.Key == "" {
		c.Kind, c.ID = ConcernAccount, b.Account
	}
	return c
}

// nearBudgets returns those of active accounts and their open keys, as they were at most keptFor ago.
func (o *Operator) nearBudgets(ctx context.Context) ([]nearBudget, error) {
	now := o.Now()
	return o.budgets.get(ctx, now, struct{}{}, func(ctx context.Context) ([]nearBudget, error) { return o.readBudgets(ctx, now) })
}

func (o *Operator) budgetConcerns(ctx context.Context) (all []Concern, err error) {
	near, err := o.nearBudgets(ctx)
	for _, b := range near {
		all = append(all, b.concern())
	}
	return all, err
}

// NearBudgets returns the budgets of which account.NearlySpent percent or more is spent or reserved in the period under
// way, those of active accounts and their open keys, as they were at most keptFor ago.
func (o *Operator) NearBudgets(ctx context.Context) (all []webhook.Budget, err error) {
	near, err := o.nearBudgets(ctx)
	for _, b := range near {
		all = append(all, b.Budget)
	}
	return all, err
}

// BudgetCount is how many budgets are nearly spent, and how many have no rest in the period under way.
type BudgetCount struct{ Near, Spent int }

// CountBudgets counts the budgets of active accounts and their open keys, as they were at most keptFor ago.
func (o *Operator) CountBudgets(ctx context.Context) (accounts, keys BudgetCount, err error) {
	near, err := o.nearBudgets(ctx)
	for _, b := range near {
		of := &accounts
		if b.Key != "" {
			of = &keys
		}
		if b.Spent >= b.Amount {
			of.Spent++
		} else {
			of.Near++
		}
	}
	return accounts, keys, err
}

func (o *Operator) readBudgets(ctx context.Context, now time.Time) (near []nearBudget, err error) {
	holders, err := o.budgetHolders(ctx)
	if err != nil {
		return nil, err
	}
	var budgets []budget
	var all []nearBudget
	add := func(b budget, of nearBudget) {
		of.Amount, of.Period, of.Ends = b.limits.Budget, string(b.limits.BudgetPeriod), b.limits.BudgetPeriod.End(now)
		budgets, all = append(budgets, b), append(all, of)
	}
	for _, a := range holders.accounts {
		add(accountBudget(a, now), nearBudget{webhook.Budget{Account: a.ID}, a.Name})
	}
	for _, k := range holders.open(now) {
		add(keyBudget(k, now), nearBudget{webhook.Budget{Account: k.Account, Key: k.ID, First: k.Counter()}, k.Name})
	}
	spent, err := o.spent(ctx, budgets)
	if err != nil {
		return nil, err
	}
	for i, b := range all {
		b.Spent, b.Percent = spent[i], spent[i].Percent(b.Amount)
		if b.Percent >= account.NearlySpent {
			near = append(near, b)
		}
	}
	return near, nil
}
