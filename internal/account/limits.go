package account

import (
	"time"

	"unitask/internal/task"
)

// Limits bound a key, or all keys of an account together; 0 is no limit of its own. Whatever a key has, its account's
// limits and the server's bind it. Records of earlier versions may hold a negative number, which is 0.
type Limits struct {
	CreatesPerMinute int        `json:"creates_per_minute,omitempty"` // creations and lists
	ReadsPerMinute   int        `json:"reads_per_minute,omitempty"`   // task reads
	OpenTasks        int        `json:"open_tasks,omitempty"`
	Budget           task.Money `json:"budget,omitempty"` // nano-USD a period; 0: no limit
	BudgetPeriod     Period     `json:"budget_period,omitempty"`
	// SupplierSpend is an account's alone: suppliers' charges for its live attempts a period, in nano-USD; 0: twice
	// the budget, a negative number: no limit.
	SupplierSpend task.Money `json:"supplier_spend,omitempty"`
}

// NearlySpent is the part of a budget, in percent, from which on people are warned.
const NearlySpent = 80

// Spend returns the limit on suppliers' charges for an account's live attempts a period, the failed ones and those of
// unknown outcome included; 0: no limit.
func (l Limits) Spend() task.Money {
	if l.SupplierSpend != 0 {
		return max(l.SupplierSpend, 0)
	}
	return l.Budget.Add(l.Budget)
}

// Looser returns the field of the API in which l allows more than before did, "" without one.
func (l Limits) Looser(before Limits) string {
	more := func(now, then int) bool { return then > 0 && (now <= 0 || now > then) }
	switch {
	case more(l.CreatesPerMinute, before.CreatesPerMinute):
		return "creates_per_minute"
	case more(l.ReadsPerMinute, before.ReadsPerMinute):
		return "reads_per_minute"
	case more(l.OpenTasks, before.OpenTasks):
		return "open_tasks"
	case before.Budget > 0 && (l.Budget <= 0 || l.Budget > before.Budget):
		return "budget"
	case before.Budget > 0 && l.BudgetPeriod != before.BudgetPeriod: // earlier spending would count no more
		return "budget_period"
	default:
		return ""
	}
}

// Period is a budget's period, in UTC.
type Period string

// The periods.
const (
	Day   Period = "day"
	Month Period = "month"
)

// Stamp names the period that holds the given time: "2026-11-21" or "2026-11".
func (p Period) Stamp(at time.Time) string {
	if p == Month {
		return at.UTC().Format("2006-01")
	}
	return at.UTC().Format("2006-01-02")
}

// End returns the first moment after the period that holds the given time.
func (p Period) End(at time.Time) time.Time { return at.UTC().Add(p.Left(at)) }

// Left returns how long the period that holds the given time still lasts.
func (p Period) Left(at time.Time) time.Duration {
	year, month, day := at.UTC().Date()
	if p == Month {
		return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC).Sub(at)
	}
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC).Sub(at)
}

// Date is a day in UTC, counted from 1 January 1970.
type Date int32

// DateOf returns the day that holds the given time.
func DateOf(at time.Time) Date {
	const seconds = 24 * 60 * 60
	n := at.Unix()
	day := n / seconds
	if n%seconds < 0 {
		day--
	}
	return Date(day)
}

// ParseDate reads "2026-11-21".
func ParseDate(text string) (Date, error) {
	at, err := time.Parse(time.DateOnly, text)
	return DateOf(at), err
}

// String returns the day as ParseDate reads it.
func (d Date) String() string { return d.Start().Format(time.DateOnly) }

// Start returns the day's first moment.
func (d Date) Start() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }
