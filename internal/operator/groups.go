package operator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/store"
	"unitask/internal/task"
)

// UsageGroups is usage added up in several ways, both modes together. Of the groups but days those that cost the most
// come first.
type UsageGroups struct {
	Days         []api.UsageRow // every day that was asked for, in order
	Capabilities []api.UsageRow
	Keys         []api.UsageRow
	Accounts     []api.UsageRow
	Costs        [][]task.Money   // of each of Accounts, by day
	Metadata     [][]api.UsageRow // by the texts of each name that was asked for
}

// summing is UsageGroups while it adds up.
type summing struct {
	first                    account.Date
	names                    map[string]KeyName
	days                     [][store.UsageNumbers]int64
	capabilities, keys, owns usageSums
	costs                    map[string][]task.Money // by account and day
	all                      usageSums               // by mode
	metadata                 map[string]usageSums    // by name; pairs by mode
}

// UsageGroups adds up the usage that the query selects, in one walk through the sums. names are those of KeyNames: the usage
// of another key counts for api.BySession.
func (o *Operator) UsageGroups(ctx context.Context, q SumsQuery, names map[string]KeyName) (UsageGroups, error) {
	s := summing{
		first: q.First, names: names, days: make([][store.UsageNumbers]int64, q.Last-q.First+1),
		capabilities: usageSums{}, keys: usageSums{}, owns: usageSums{}, costs: map[string][]task.Money{},
		all: usageSums{}, metadata: map[string]usageSums{},
	}
	by := q.Metadata
	for _, name := range by {
		s.metadata[name] = usageSums{}
	}
	q.Metadata = append([]string{""}, by...)
	if err := o.EachSum(ctx, q, s.add); err != nil {
		return UsageGroups{}, err
	}
	return s.groups(by), nil
}

// add adds one sum to those of its groups.
func (s *summing) add(k store.UsageKey, u store.Usage) bool {
	n := u.Numbers()
	if k.Pair != "" {
		name, _, _ := strings.Cut(k.Pair, "=")
		s.metadata[name].add(group{k.Pair, k.Mode}, &n)
		return true
	}
	key := k.KeyID
	if _, known := s.names[key]; !known {
		key = api.BySession
	}
	day := k.Day - s.first
	store.AddSums(s.days[day][:], n[:])
	s.capabilities.add(group{name: k.Capability}, &n)
	s.keys.add(group{name: key}, &n)
	s.owns.add(group{name: k.Account}, &n)
	s.all.add(group{mode: k.Mode}, &n)
	if s.costs[k.Account] == nil {
		s.costs[k.Account] = make([]task.Money, len(s.days))
	}
	s.costs[k.Account][day] = s.costs[k.Account][day].Add(u.Cost)
	return true
}

// groups returns the rows, and those by the names of metadata in their order.
func (s *summing) groups(by []string) UsageGroups {
	var out UsageGroups
	for i, n := range s.days {
		out.Days = append(out.Days, usageRow(group{name: (s.first + account.Date(i)).String()}, "", store.UsageOf(n)))
	}
	out.Capabilities, out.Keys, out.Accounts = s.capabilities.dearest(), s.keys.dearest(), s.owns.dearest()
	for _, r := range out.Accounts {
		out.Costs = append(out.Costs, s.costs[r.Group])
	}
	for _, name := range by {
		sums := s.metadata[name]
		sums.addRest(s.all)
		both := usageSums{}
		for at, n := range sums {
			both.add(group{name: at.name}, n)
		}
		out.Metadata = append(out.Metadata, pairRows(name, both.dearest()))
	}
	return out
}

// dearest returns a row of each group, those that cost the most first, then those of the most tasks.
func (s usageSums) dearest() []api.UsageRow {
	ended := func(u store.Usage) int64 { return u.Succeeded + u.Failed + u.Canceled }
	order := slices.SortedFunc(maps.Keys(s), func(a, b group) int {
		one, other := store.UsageOf(*s[a]), store.UsageOf(*s[b])
		return cmp.Or(cmp.Compare(other.Cost, one.Cost), cmp.Compare(ended(other), ended(one)), cmp.Compare(a.name, b.name))
	})
	rows := make([]api.UsageRow, 0, len(order))
	for _, at := range order {
		rows = append(rows, usageRow(at, "", store.UsageOf(*s[at])))
	}
	return rows
}

// addRest adds to the sums by the pairs of a name of metadata, as a group without a name, those of tasks without one. all
// are those of all tasks, by mode.
func (s usageSums) addRest(all usageSums) {
	rests := usageSums{}
	for at, n := range all {
		rest := *n
		rests[group{mode: at.mode}] = &rest
	}
	for at, n := range s {
		if rest := rests[group{mode: at.mode}]; rest != nil {
			for i := range n {
				rest[i] = max(rest[i]-n[i], 0) // of a day that is being swept, some of the sums are gone
			}
		}
	}
	maps.Copy(s, rests)
}

// pairRows names the rows by pairs of a name of metadata, without that of no task.
func pairRows(name string, rows []api.UsageRow) []api.UsageRow {
	rows = slices.DeleteFunc(rows, func(r api.UsageRow) bool { return r.Group == "" && r.Succeeded+r.Failed+r.Canceled == 0 })
	for i := range rows {
		switch r := &rows[i]; r.Group {
		case "":
			r.Name = "without " + name
		case name + task.OtherTexts:
			r.Name, r.Group = "other texts", ""
		default:
			r.Group = strings.TrimPrefix(r.Group, name+"=")
		}
	}
	return rows
}
