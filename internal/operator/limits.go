package operator

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
	for field, n := range map[string]int{
		"creates_per_minute": l.CreatesPerMinute, "reads_per_minute": l.ReadsPerMinute, "open_tasks": l.OpenTasks,
	} {
		if n < 0 {
			return l, fault.Invalid(field, "must not be negative; 0 is no limit but that of the account and the server")
		}
	}
	switch l.BudgetPeriod {
	case "", account.Day, account.Month:
	default:
		return l, fault.Invalid("budget_period", "must be day or month")
	}
	if spends := req.SupplierSpend != "" && req.SupplierSpend != unbounded; (req.Budget != "" || spends) != (req.BudgetPeriod != "") {
		if spends {
			return l, fault.Invalid("budget_period", "is required with supplier_spend")
		}
		return l, fault.Invalid("budget", "and budget_period go together")
	}
	var err error
	if l.Budget, err = amount("budget", req.Budget); err != nil {
		return l, err
	}
	if req.SupplierSpend == unbounded {
		l.SupplierSpend = -1
		return l, nil
	}
	l.SupplierSpend, err = amount("supplier_spend", req.SupplierSpend)
	return l, err
}

// unbounded is a supplier_spend without a limit.
const unbounded = "none"

// amount reads a field's amount above 0; "" is 0.
func amount(field, text string) (task.Money, error) {
	if text == "" {
		return 0, nil
	}
	m, err := task.ParseMoney(text)
	if err != nil || m == 0 {
		return 0, fault.Invalid(field, "must be a decimal amount in USD above 0")
	}
	return m, nil
}

func limitsOf(l account.Limits) api.Limits {
	out := api.Limits{CreatesPerMinute: max(l.CreatesPerMinute, 0), ReadsPerMinute: max(l.ReadsPerMinute, 0), OpenTasks: max(l.OpenTasks, 0)}
	if l.Budget > 0 {
		out.Budget, out.BudgetPeriod = l.Budget.String(), string(l.BudgetPeriod)
	}
	switch {
	case l.SupplierSpend < 0:
		out.SupplierSpend = unbounded
	case l.SupplierSpend > 0:
		out.SupplierSpend, out.BudgetPeriod = l.SupplierSpend.String(), string(l.BudgetPeriod)
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
	}
	if u.SupplierSpend != nil {
		out.SupplierSpend = *u.SupplierSpend
	}
	if out.Budget == "" && (out.SupplierSpend == "" || out.SupplierSpend == unbounded) {
		out.BudgetPeriod = ""
	}
	if u.BudgetPeriod != nil {
		out.BudgetPeriod = *u.BudgetPeriod
	}
	return limitsFrom(out)
}
