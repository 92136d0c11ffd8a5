package main

import (
	"github.com/spf13/pflag"

	"unitask/internal/api"
	"unitask/internal/hint"
)

// limitFlags are the limits of a key or an account.
type limitFlags struct {
	api.Limits
	budget, spend string
}

// add adds the flags; whose and unset complete their help: the bounded thing and the meaning of 0.
func (f *limitFlags) add(flags *pflag.FlagSet, unset string) {
	flags.IntVar(&f.CreatesPerMinute, "rate", 0, "at most `N` creations and lists of tasks a minute; "+unset)
	flags.IntVar(&f.ReadsPerMinute, "reads", 0, "at most `N` reads of tasks a minute; "+unset)
	flags.IntVar(&f.OpenTasks, "concurrency", 0, "at most `N` open tasks; "+unset)
	flags.StringVar(&f.budget, "budget", "", "at most this `amount` in USD, such as 5/day or 99.50/month")
}

// addSpend adds the flag that accounts alone have.
func (f *limitFlags) addSpend(flags *pflag.FlagSet) {
	flags.StringVar(&f.spend, spendFlag, "", "suppliers charge at most this `amount` in USD for its tasks, such as 10/day, failed and lost ones included; "+
		"none: no limit; default: twice the budget")
}

const spendFlag = "supplier-spend"

// limits returns the limits of the flags.
func (f *limitFlags) limits() (api.Limits, error) {
	var err error
	if f.budget != "" {
		if f.Budget, f.BudgetPeriod, err = parseBudget("--budget", f.budget); err != nil {
			return f.Limits, err
		}
	}
	if f.spend == "" {
		return f.Limits, nil
	}
	amount, period, err := f.parseSpend()
	if f.SupplierSpend = amount; period != "" {
		f.BudgetPeriod = period
	}
	return f.Limits, err
}

// parseSpend reads the flag that accounts alone have; "" is the default's amount, and "none" and the default have no
// period.
func (f *limitFlags) parseSpend() (amount, period string, err error) {
	switch f.spend {
	case noBudget:
		return f.spend, "", nil
	case defaultSpend:
		return "", "", nil
	}
	amount, period, err = parseBudget("--"+spendFlag, f.spend)
	if err == nil && f.BudgetPeriod != "" && f.BudgetPeriod != period {
		err = &hint.UsageError{Message: "--budget and --" + spendFlag + " are by the same period: both a day or both a month"}
	}
	return amount, period, err
}

// addUpdate adds the flags of a change.
func (f *limitFlags) addUpdate(flags *pflag.FlagSet, unset string) {
	f.add(flags, unset)
	flags.Lookup("budget").Usage += "; none takes it away"
}

const (
	noBudget     = "none"    // takes a budget away
	defaultSpend = "default" // of suppliers' charges: twice the budget
)

// update returns a change of the limits whose flags were given.
func (f *limitFlags) update(flags *pflag.FlagSet) (*api.LimitsUpdate, error) {
	var u api.LimitsUpdate
	for name, set := range map[string]func(){
		"rate": func() { u.CreatesPerMinute = &f.CreatesPerMinute }, "reads": func() { u.ReadsPerMinute = &f.ReadsPerMinute },
		"concurrency": func() { u.OpenTasks = &f.OpenTasks },
	} {
		if flags.Changed(name) {
			set()
		}
	}
	switch {
	case !flags.Changed("budget"):
	case f.budget == noBudget:
		u.Budget = new("")
	default:
		amount, period, err := parseBudget("--budget", f.budget)
		if err != nil {
			return nil, err
		}
		u.Budget, u.BudgetPeriod, f.BudgetPeriod = &amount, &period, period
	}
	if flags.Changed(spendFlag) {
		amount, period, err := f.parseSpend()
		if err != nil {
			return nil, err
		}
		if u.SupplierSpend = &amount; period != "" {
			u.BudgetPeriod = &period
		}
	}
	if u == (api.LimitsUpdate{}) {
		return nil, nil
	}
	return &u, nil
}
