package console

import (
	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
)

// budgetBar is a budget with what counts against it in the period under way.
type budgetBar struct {
	Spent, Budget string // decimal USD
	Period        string // "today" or "this month"
	Ends          *api.Timestamp
	Percent       int
	Level         string // "near" from account.NearlySpent on, "over" once no more is left, else ""
}

// barOf returns nil without a budget.
func barOf(l api.Limits, s api.Spending) *budgetBar {
	if l.Budget == "" || s.BudgetEndsAt == nil {
		return nil
	}
	b := budgetBar{Spent: s.Spent, Budget: l.Budget, Period: "this month", Ends: s.BudgetEndsAt, Percent: amount(s.Spent).Percent(amount(l.Budget))}
	if l.BudgetPeriod == "day" {
		b.Period = "today"
	}
	switch {
	case b.Percent >= 100:
		b.Level = "over"
	case b.Percent >= account.NearlySpent:
		b.Level = "near"
	}
	return &b
}

// ownBudgets is how the budgets of a member's account stand: its own, and those of its open keys that are nearly used up.
type ownBudgets struct {
	Account *budgetBar
	Keys    []keyRow
}

// Any reports whether there is something to show.
func (b ownBudgets) Any() bool { return b.Account != nil || len(b.Keys) > 0 }

// mostBudgets bounds the keys of a page that are nearly used up; a list of keys has all.
const mostBudgets = 8

func budgetsOf(a api.Account, keys []keyRow) ownBudgets {
	out := ownBudgets{Account: barOf(a.Limits, a.Spending)}
	for _, k := range keys {
		if bar := k.Bar(); bar != nil && bar.Level != "" && k.Open() && k.Mode == task.Live && len(out.Keys) < mostBudgets {
			out.Keys = append(out.Keys, k)
		}
	}
	return out
}

// Bar is the key's budget; nil without one.
func (k keyRow) Bar() *budgetBar { return barOf(k.Limits, k.Spending) }
