package operator

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// defaultDays is how many days before today are reported by default.
const defaultDays = 29

// Usage returns the sums of usage. It adds up the sums of days, keys and capabilities, and looks at no task.
func (o *Operator) Usage(ctx context.Context, q api.UsageQuery) (api.UsageReport, error) {
	q.By = cmp.Or(q.By, api.ByAccount)
	days, err := o.days(q)
	if err != nil {
		return api.UsageReport{}, err
	}
	out := api.UsageReport{By: q.By, Since: days.First.String(), Until: days.Last.String()}
	if q.By == api.BySupplier {
		if q.Account != "" {
			return out, fault.Invalid("account", "doesn't go with by=supplier: suppliers' figures are not told apart by account")
		}
		out.Suppliers, err = o.spend(ctx, days)
		return out, err
	}
	if q.Account != "" {
		owner, err := o.find(ctx, q.Account)
		if err != nil {
			return out, err
		}
		days.Owner = owner.ID
	}
	out.Data, err = o.usage(ctx, q.By, days)
	return out, err
}

// days reads the query's days.
func (o *Operator) days(q api.UsageQuery) (store.UsageQuery, error) {
	today := account.DateOf(o.Now())
	out := store.UsageQuery{First: today - defaultDays, Last: today}
	for field, day := range map[string]struct {
		text string
		into *account.Date
	}{"since": {q.Since, &out.First}, "until": {q.Until, &out.Last}} {
		if day.text == "" {
			continue
		}
		at, err := account.ParseDate(day.text)
		if err != nil {
			return out, fault.Invalid(field, "must be a day such as 2026-11-21")
		}
		*day.into = at
	}
	return out, nil
}

// group is a row's place among the rows.
type group struct {
	name string
	mode task.Mode
}

// usage adds up by account, key, capability, day or the pairs of a name of metadata.
func (o *Operator) usage(ctx context.Context, by string, q store.UsageQuery) ([]api.UsageRow, error) {
	if name, ok := strings.CutPrefix(by, api.ByMetadata); ok {
		return o.usageByMetadata(ctx, name, q)
	}
	of := map[string]func(store.UsageKey) string{
		api.ByAccount: func(k store.UsageKey) string { return k.Account }, api.ByKey: func(k store.UsageKey) string { return k.KeyID },
		api.ByCapability: func(k store.UsageKey) string { return k.Capability }, api.ByDay: func(k store.UsageKey) string { return k.Day.String() },
	}[by]
	if of == nil {
		return nil, fault.Invalid("by", "must be account, key, capability, day, supplier or metadata.NAME")
	}
	names, err := o.groupNames(ctx, by)
	if err != nil {
		return nil, err
	}
	sums := usageSums{}
	if err := o.Store.EachUsage(ctx, q, func(k store.UsageKey, u store.Usage) bool {
		at, n := group{of(k), k.Mode}, u.Numbers()
		if by == api.ByKey && names[at.name] == "" {
			at.name = api.BySession
		}
		sums.add(at, &n)
		return true
	}); err != nil {
		return nil, err
	}
	return sums.rows(func(group string) string { return names[group] }), nil
}

// usageByMetadata adds up by the texts of a name of metadata, and the usage without one: all that the other groups have
// is in the rows.
func (o *Operator) usageByMetadata(ctx context.Context, name string, q store.UsageQuery) ([]api.UsageRow, error) {
	if problem := catalog.MetadataNameProblem(name); problem != "" {
		return nil, fault.Invalid("by", "metadata. "+problem)
	}
	sums, all := usageSums{}, usageSums{}
	q.Metadata = []string{"", name}
	if err := o.Store.EachUsage(ctx, q, func(k store.UsageKey, u store.Usage) bool {
		into, n := sums, u.Numbers()
		if k.Pair == "" {
			into = all
		}
		into.add(group{k.Pair, k.Mode}, &n)
		return true
	}); err != nil {
		return nil, err
	}
	sums.addRest(all)
	return pairRows(name, sums.rows(func(string) string { return "" })), nil
}

// usageSums is sums of usage by group.
type usageSums map[group]*[store.UsageNumbers]int64

func (s usageSums) add(at group, by *[store.UsageNumbers]int64) {
	sum := s[at]
	if sum == nil {
		sum = new([store.UsageNumbers]int64)
		s[at] = sum
	}
	store.AddSums(sum[:], by[:])
}

// rows returns the sums by group and mode, each group with its name.
func (s usageSums) rows(name func(group string) string) []api.UsageRow {
	rows := make([]api.UsageRow, 0, len(s))
	for at, n := range s {
		rows = append(rows, usageRow(at, name(at.name), store.UsageOf(*n)))
	}
	slices.SortFunc(rows, func(a, b api.UsageRow) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Mode, b.Mode)) })
	return rows
}

// groupNames returns the names of accounts and keys by their ids; nil for groups that are names.
func (o *Operator) groupNames(ctx context.Context, by string) (map[string]string, error) {
	switch by {
	case api.ByAccount:
		return o.accountNames(ctx)
	case api.ByKey:
		return o.keyNames(ctx)
	default:
		return nil, nil
	}
}

// keyNames is KeyNames without the accounts.
func (o *Operator) keyNames(ctx context.Context) (map[string]string, error) {
	all, err := o.KeyNames(ctx)
	names := make(map[string]string, len(all))
	for id, k := range all {
		names[id] = k.Name
	}
	return names, err
}

func usageRow(at group, name string, u store.Usage) api.UsageRow {
	return api.UsageRow{
		Group: at.name, Name: name, Mode: at.mode, Succeeded: u.Succeeded, Failed: u.Failed, Canceled: u.Canceled,
		Work: api.WorkOf(u.Usage), Milliseconds: u.Milliseconds, Cost: u.Cost.String(),
	}
}

// spend adds up by supplier.
func (o *Operator) spend(ctx context.Context, q store.UsageQuery) ([]api.SupplierUsage, error) {
	sums := map[group]*[store.SpendNumbers]int64{}
	err := o.Store.EachSpend(ctx, q, func(k store.SpendKey, s store.Spend) bool {
		at := group{k.Supplier, k.Mode}
		if sums[at] == nil {
			sums[at] = new([store.SpendNumbers]int64)
		}
		by := s.Numbers()
		store.AddSums(sums[at][:], by[:])
		return true
	})
	rows := make([]api.SupplierUsage, 0, len(sums))
	for at, n := range sums {
		rows = append(rows, supplierUsage(at, store.SpendOf(*n)))
	}
	slices.SortFunc(rows, func(a, b api.SupplierUsage) int {
		return cmp.Or(cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.Mode, b.Mode))
	})
	return rows, err
}

func supplierUsage(at group, s store.Spend) api.SupplierUsage {
	return api.SupplierUsage{
		Supplier: at.name, Mode: at.mode, OK: s.OK, Failed: s.Failed, Rejected: s.Rejected, Unknown: s.Unknown,
		Cost: s.Cost.String(), CostUnknown: s.CostUnknown, MeanMillis: s.Milliseconds / max(s.OK, 1), Saved: s.Saved, SavedCost: s.SavedCost.String(),
	}
}
