package desk

import (
	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// limitsFrom checks limits that were asked for.
func limitsFrom(req api.Limits) (account.Limits, error) {
	l := account.Limits{
		CreatesPerMinute: req.CreatesPerMinute, ReadsPerMinute: req.ReadsPerMinute, OpenTasks: req.OpenTasks,
		BudgetPeriod: account.Period(req.BudgetPeriod),
	}
	switch l.BudgetPeriod {
	case "", account.Day, account.Month:
	default:
		return l, fault.Invalid("budget_period", "must be day or month")
	}
	if (req.Budget == "") != (req.BudgetPeriod == "") {
		return l, fault.Invalid("budget", "and budget_period go together")
	}
	if req.Budget == "" {
		return l, nil
	}
	amount, err := task.ParseMoney(req.Budget)
	if err != nil || amount == 0 {
		return l, fault.Invalid("budget", "must be a decimal amount in USD above 0")
	}
	l.Budget = amount
	return l, nil
}

func limitsOf(l account.Limits) api.Limits {
	out := api.Limits{CreatesPerMinute: l.CreatesPerMinute, ReadsPerMinute: l.ReadsPerMinute, OpenTasks: l.OpenTasks}
	if l.Budget > 0 {
		out.Budget, out.BudgetPeriod = l.Budget.String(), string(l.BudgetPeriod)
	}
	return out
}

// changed returns the limits with those replaced that the update names.
func changed(l account.Limits, u api.LimitsUpdate) (account.Limits, error) {
	out := limitsOf(l)
	for of, to := range map[*int]*int{
		&out.CreatesPerMinute: u.CreatesPerMinute, &out.ReadsPerMinute: u.ReadsPerMinute, &out.OpenTasks: u.OpenTasks,
	} {
		if to != nil {
			*of = *to
		}
	}
	if u.Budget != nil {
		out.Budget = *u.Budget
		if out.Budget == "" {
			out.BudgetPeriod = ""
		}
	}
	if u.BudgetPeriod != nil {
		out.BudgetPeriod = *u.BudgetPeriod
	}
	return limitsFrom(out)
}
