package operator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hours"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Figures are the numbers of ended tasks, and of the attempts at suppliers that were made for them. Money is that of
// live tasks: the sandbox charges none. Times are known by the hour alone.
type Figures struct {
	Tasks, Attempts hours.Sums
}

// ErrorRate returns the part of the tasks that failed. Canceled ones count neither way; false: none ended otherwise.
func (f *Figures) ErrorRate() (float64, bool) { return rate(f.Tasks.Failed, f.Tasks.Succeeded) }

// AttemptErrorRate returns the part of the attempts that didn't end well: failed, of unknown outcome, or rejected, as by a
// supplier that can't be reached.
func (f *Figures) AttemptErrorRate() (float64, bool) {
	return rate(f.Attempts.Failed+f.Attempts.Unknown+f.Attempts.Rejected, f.Attempts.Succeeded)
}

func rate(failed, well int64) (float64, bool) {
	return float64(failed) / float64(max(failed+well, 1)), failed+well > 0
}

// Margin returns the accounts' charges less the suppliers' known ones. It may be below zero.
func (f *Figures) Margin() task.Money { return f.Tasks.Cost - f.Attempts.Cost }

func (f *Figures) add(by *Figures) {
	f.Tasks.Add(&by.Tasks)
	f.Attempts.Add(&by.Attempts)
}

// Slot is an hour or a day.
type Slot struct {
	Start   time.Time
	Counted bool // else nothing is known of it
	Figures
}

// Group is the numbers of a capability or of a supplier, and those of each slot.
type Group struct {
	Name  string
	Total Figures
	Slots []Figures
}

// Report is the numbers of all accounts.
type Report struct {
	Since        time.Time // of a report by the hour: when this node began to count
	Slots        []Slot    // oldest first
	Total        Figures
	Capabilities []Group // the most tasks first
	Suppliers    []Group // the most attempts first; their tasks are unknown
}

// reporter adds up a report.
type reporter struct {
	Report
	mode                    task.Mode
	capabilities, suppliers map[string]*Group
}

func newReporter(mode task.Mode, slots int) *reporter {
	return &reporter{
		Report: Report{Slots: make([]Slot, slots)}, mode: mode, capabilities: map[string]*Group{}, suppliers: map[string]*Group{},
	}
}

// add adds the numbers of a capability, and of a supplier unless its name is "", to a slot.
func (r *reporter) add(slot int, mode task.Mode, capability, supplier string, f Figures) {
	if r.mode != "" && r.mode != mode {
		return
	}
	if mode != task.Live {
		f.Tasks.Cost, f.Attempts.Cost, f.Attempts.CostUnknown = 0, 0, 0
	}
	r.Slots[slot].add(&f)
	r.Total.add(&f)
	r.group(r.capabilities, capability, slot, &f)
	if supplier != "" {
		r.group(r.suppliers, supplier, slot, &f)
	}
}

func (r *reporter) group(in map[string]*Group, name string, slot int, f *Figures) {
	g := in[name]
	if g == nil {
		g = &Group{Name: name, Slots: make([]Figures, len(r.Slots))}
		in[name] = g
	}
	g.Total.add(f)
	g.Slots[slot].add(f)
}

func (r *reporter) report() Report {
	out := r.Report
	sorted := func(in map[string]*Group, most func(*Group) int64) (all []Group) {
		for _, g := range in {
			all = append(all, *g)
		}
		slices.SortFunc(all, func(a, b Group) int { return cmp.Or(cmp.Compare(most(&b), most(&a)), cmp.Compare(a.Name, b.Name)) })
		return all
	}
	out.Capabilities = sorted(r.capabilities, func(g *Group) int64 { return g.Total.Tasks.Ended() })
	out.Suppliers = sorted(r.suppliers, func(g *Group) int64 { return g.Total.Attempts.Attempts() })
	return out
}

// ByHour returns the numbers of the last n hours, the one under way included, in one mode or, with "", in both: those
// that this node has counted since its start.
func (o *Operator) ByHour(n int, mode task.Mode) (Report, error) {
	if o.Hours == nil {
		return Report{}, fault.New(fault.InvalidRequest, "a running server alone counts by the hour")
	}
	all := o.Hours.Read(n)
	r := newReporter(mode, len(all))
	r.Since = o.Hours.Since()
	for i, h := range all {
		r.Slots[i].Start, r.Slots[i].Counted = h.Start, h.Counted(r.Since)
		for k, s := range h.Tasks {
			r.add(i, k.Mode, k.Capability, "", Figures{Tasks: s})
		}
		for k, s := range h.Attempts {
			r.add(i, k.Mode, k.Capability, k.Supplier, Figures{Attempts: s})
		}
	}
	return r.report(), nil
}

// figuresOf is the question for the numbers of days.
type figuresOf struct {
	days int
	mode task.Mode // "": both
}

// ByDay returns the numbers of the last n days, today included, in one mode or, with "", in both: the sums that the
// store keeps, of all nodes, as they were at most keptFor ago.
func (o *Operator) ByDay(ctx context.Context, n int, mode task.Mode) (Report, error) {
	now := o.Now()
	return o.reports.get(ctx, now, figuresOf{n, mode}, func(ctx context.Context) (Report, error) {
		return o.readDays(ctx, now, n, mode)
	})
}

// lastDays asks for the sums of the last n days.
func lastDays(now time.Time, n int) store.UsageQuery {
	today := account.DateOf(now)
	return store.UsageQuery{First: today - account.Date(n-1), Last: today}
}

func (o *Operator) readDays(ctx context.Context, now time.Time, n int, mode task.Mode) (Report, error) {
	q := lastDays(now, n)
	r := newReporter(mode, n)
	for i := range r.Slots {
		r.Slots[i].Start, r.Slots[i].Counted = time.Unix(int64(q.First+account.Date(i))*24*3600, 0).UTC(), true
	}
	err := o.Store.EachUsage(ctx, q, func(k store.UsageKey, u store.Usage) bool {
		r.add(int(k.Day-q.First), k.Mode, k.Capability, "", Figures{
			Tasks: hours.Sums{Succeeded: u.Succeeded, Failed: u.Failed, Canceled: u.Canceled, Cost: u.Cost},
		})
		return true
	})
	if err != nil {
		return Report{}, err
	}
	err = o.Store.EachSpend(ctx, q, func(k store.SpendKey, s store.Spend) bool {
		r.add(int(k.Day-q.First), k.Mode, k.Capability, k.Supplier, Figures{Attempts: hours.Sums{
			Succeeded: s.OK, Failed: s.Failed, Rejected: s.Rejected, Unknown: s.Unknown, Cost: s.Cost, CostUnknown: s.CostUnknown,
		}})
		return true
	})
	return r.report(), err
}

// mostSpenders is how many accounts Spenders returns.
const mostSpenders = 8

// Spenders returns the usage of the accounts that were charged the most in the last n days, the first before the others,
// as it was at most keptFor ago.
func (o *Operator) Spenders(ctx context.Context, n int, mode task.Mode) ([]api.UsageRow, error) {
	now := o.Now()
	return o.spenders.get(ctx, now, figuresOf{n, mode}, func(ctx context.Context) ([]api.UsageRow, error) {
		return o.readSpenders(ctx, now, n, mode)
	})
}

func (o *Operator) readSpenders(ctx context.Context, now time.Time, n int, mode task.Mode) ([]api.UsageRow, error) {
	names, err := o.accountNames(ctx)
	if err != nil {
		return nil, err
	}
	sums, days := usageSums{}, lastDays(now, n)
	if err = o.EachSum(ctx, SumsQuery{First: days.First, Last: days.Last, Mode: mode}, func(k store.UsageKey, u store.Usage) bool {
		by := u.Numbers()
		sums.add(group{k.Account, mode}, &by)
		return true
	}); err != nil {
		return nil, err
	}
	rows := sums.dearest()
	rows = rows[:min(len(rows), mostSpenders)]
	for i := range rows {
		rows[i].Name = names[rows[i].Group]
	}
	return rows, nil
}
