package console

import (
	"cmp"
	"strconv"

	"unitask/internal/api"
	"unitask/internal/operator"
)

// mostUsageRows bounds a table of usage. The export has every account, capability and key.
const mostUsageRows = 50

// usageTable is the usage by one group: the groups that cost the most come first.
type usageTable struct {
	Title  string
	By     string // what a row is of
	Rows   []usageLine
	Most   int64 // tasks of the largest row
	Left   int   // that have no row
	Owners bool  // rows name their accounts
}

// usageLine is a row of a table of usage.
type usageLine struct {
	api.UsageRow
	Owner string // the name of a key's account
	Of    string // the query of the usage of the account that the row is of; "" for another group
}

// Ended returns how many tasks of a row have ended.
func (r usageLine) Ended() int64 { return ended(r.UsageRow) }

func tableOfUsage(title, of string, rows []api.UsageRow) usageTable {
	t := usageTable{Title: title, By: of, Left: max(0, len(rows)-mostUsageRows)}
	for _, r := range rows[:len(rows)-t.Left] {
		t.Rows, t.Most = append(t.Rows, usageLine{UsageRow: r}), max(t.Most, ended(r))
	}
	return t
}

// addUsage reads the sums of an account, or of all accounts, once, and adds them up by each group.
func (c *Console) addUsage(x exchange, v *usageView, owner api.Account) error {
	names, err := c.operator.KeyNames(x.r.Context())
	if err != nil {
		return err
	}
	q := c.lastDays(owner, v.Days)
	q.Mode, q.Metadata = v.Mode, c.gateway.UsageBy()
	all, err := c.operator.UsageGroups(x.r.Context(), q, names)
	if err != nil {
		return err
	}
	v.Total, v.Tasks, v.Spend = total(all.Days), tasksChart(all.Days), spendChart(all.Days)
	if v.Accounts.Every {
		if err := c.addAccounts(x, v, all); err != nil {
			return err
		}
	}
	v.By = append(v.By, tableOfUsage("By capability", "Capability", all.Capabilities), keyTable(all.Keys, names, v.Accounts.Every))
	for i, name := range q.Metadata {
		v.By = append(v.By, tableOfUsage("By "+name, name, all.Metadata[i]))
	}
	return nil
}

// keyTable names the rows' keys, and their accounts if they are of several.
func keyTable(rows []api.UsageRow, names map[string]operator.KeyName, owners bool) usageTable {
	t := tableOfUsage("By key", "Key", rows)
	t.Owners = owners
	for i := range t.Rows {
		named := names[t.Rows[i].Group]
		t.Rows[i].Name, t.Rows[i].Owner = named.Name, named.Account
	}
	return t
}

// addAccounts adds the table of the accounts that cost the most, and splits the chart of costs by them.
func (c *Console) addAccounts(x exchange, v *usageView, all operator.UsageGroups) error {
	names, err := c.accountNames(x)
	if err != nil {
		return err
	}
	t := tableOfUsage("Top accounts", "Account", all.Accounts)
	for i := range t.Rows {
		if name := names[t.Rows[i].Group]; name != "" {
			t.Rows[i].Name, t.Rows[i].Of = name, v.Of(t.Rows[i].Group)
		}
	}
	v.By = append(v.By, t)
	if len(all.Accounts) == 0 {
		return nil
	}
	var parts []series
	for i, r := range all.Accounts[:min(len(all.Accounts), mostSeries)] {
		parts = append(parts, series{cmp.Or(names[r.Group], r.Group), "p" + strconv.Itoa(i+1)})
	}
	if len(all.Accounts) > mostSeries {
		parts = append(parts, series{"Others", "p" + strconv.Itoa(mostSeries+1)})
	}
	values := make([][]float64, len(all.Days))
	for day := range values {
		values[day] = make([]float64, len(parts))
		for i, costs := range all.Costs {
			values[day][min(i, mostSeries)] += float64(costs[day])
		}
	}
	slots := daysOf(all.Days)
	v.Spend = newChart("Cost by day and account", "Day", slots, parts)
	v.Spend.stack(slots, values, leastMoney, dollars)
	return nil
}

// accountNames returns the names of all accounts by their ids.
func (c *Console) accountNames(x exchange) (map[string]string, error) {
	all, err := c.operator.AccountNames(x.r.Context())
	names := make(map[string]string, len(all))
	for _, a := range all {
		names[a.ID] = a.Name
	}
	return names, err
}
