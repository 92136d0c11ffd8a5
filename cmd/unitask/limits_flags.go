package main

import (
	"github.com/spf13/pflag"

	"unitask/internal/api"
)

// limitFlags are the limits of a key or an account.
type limitFlags struct {
	api.Limits
	budget string
}

// add adds the flags; whose and unset say in their help what they bound and what 0 means.
func (f *limitFlags) add(flags *pflag.FlagSet, unset string) {
	flags.IntVar(&f.CreatesPerMinute, "rate", 0, "at most `N` creations and lists of tasks a minute; "+unset)
	flags.IntVar(&f.ReadsPerMinute, "reads", 0, "at most `N` reads of tasks a minute; "+unset)
	flags.IntVar(&f.OpenTasks, "concurrency", 0, "at most `N` open tasks; "+unset)
	flags.StringVar(&f.budget, "budget", "", "at most this `amount` in USD, such as 5/day or 99.50/month")
}

// limits returns what the flags say.
func (f *limitFlags) limits() (api.Limits, error) {
	if f.budget == "" {
		return f.Limits, nil
	}
	var err error
	f.Budget, f.BudgetPeriod, err = parseBudget(f.budget)
	return f.Limits, err
}

// addUpdate adds the flags of a change.
func (f *limitFlags) addUpdate(flags *pflag.FlagSet, unset string) {
	f.add(flags, unset)
	flags.Lookup("budget").Usage += "; none takes it away"
}

// noBudget takes a budget away.
const noBudget = "none"

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
		u.Budget, u.BudgetPeriod = new(""), new("")
	default:
		amount, period, err := parseBudget(f.budget)
		if err != nil {
			return nil, err
		}
		u.Budget, u.BudgetPeriod = &amount, &period
	}
	if u == (api.LimitsUpdate{}) {
		return nil, nil
	}
	return &u, nil
}
