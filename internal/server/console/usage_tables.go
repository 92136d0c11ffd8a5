package console

import (
	"cmp"
	"slices"
	"strconv"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
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

// usageSums is sums of usage by group, of both modes together.
type usageSums map[string]*[store.UsageNumbers]int64

func (s usageSums) add(group string, u store.Usage) {
	if s[group] == nil {
		s[group] = new([store.UsageNumbers]int64)
	}
	n := u.Numbers()
	store.AddSums(s[group][:], n[:])
}

// rows returns the sums, those that cost the most first.
func (s usageSums) rows() []api.UsageRow {
	all := make([]api.UsageRow, 0, len(s))
	for group, n := range s {
		u := store.UsageOf(*n)
		all = append(all, api.UsageRow{
			Group: group, Succeeded: u.Succeeded, Failed: u.Failed, Canceled: u.Canceled, Work: api.WorkOf(u.Usage),
			Milliseconds: u.Milliseconds, Cost: u.Cost.String(),
		})
	}
	slices.SortFunc(all, mostFirst)
	return all
}

// mostFirst orders rows by their cost, then by the tasks that ended.
func mostFirst(a, b api.UsageRow) int {
	return cmp.Or(cmp.Compare(amount(b.Cost), amount(a.Cost)), cmp.Compare(ended(b), ended(a)), cmp.Compare(a.Group, b.Group))
}

func tableOfUsage(title, of string, rows []api.UsageRow) usageTable {
	t := usageTable{Title: title, By: of, Left: max(0, len(rows)-mostUsageRows)}
	for _, r := range rows[:len(rows)-t.Left] {
		t.Rows, t.Most = append(t.Rows, usageLine{UsageRow: r}), max(t.Most, ended(r))
	}
	return t
}

// accountDay is a place in the chart of the accounts' costs.
type accountDay struct {
	account string // its id
	day     account.Date
}

// addUsage reads the sums of an account, or of all accounts, once, and adds them up by each group.
func (c *Console) addUsage(x exchange, v *usageView, owner api.Account) error {
	names, err := c.operator.KeyNames(x.r.Context())
	if err != nil {
		return err
	}
	today := account.DateOf(c.now())
	first := today - account.Date(v.Days) + 1
	byDay, byCapability, byKey, byAccount := usageSums{}, usageSums{}, usageSums{}, usageSums{}
	costs := map[accountDay]task.Money{}
	if err := c.operator.EachSum(x.r.Context(), operator.SumsQuery{Account: owner.ID, First: first, Last: today, Mode: v.Mode},
		func(k store.UsageKey, u store.Usage) bool {
			key := k.KeyID
			if _, ok := names[key]; !ok {
				key = api.BySession
			}
			byDay.add(k.Day.String(), u)
			byCapability.add(k.Capability, u)
			byKey.add(key, u)
			if v.Accounts.Every {
				byAccount.add(k.Account, u)
				costs[accountDay{k.Account, k.Day}] = costs[accountDay{k.Account, k.Day}].Add(u.Cost)
			}
			return true
		}); err != nil {
		return err
	}
	days := c.everyDay(byDay.rows(), v.Days)
	v.Total, v.Tasks, v.Spend = total(days), tasksChart(days), spendChart(days)
	if v.Accounts.Every {
		if err := c.addAccounts(x, v, days, byAccount.rows(), first, costs); err != nil {
			return err
		}
	}
	v.By = append(v.By, tableOfUsage("By capability", "Capability", byCapability.rows()), keyTable(byKey.rows(), names, v.Accounts.Every))
	return c.addMetadata(x, v, owner)
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
func (c *Console) addAccounts(
	x exchange, v *usageView, days, rows []api.UsageRow, first account.Date, costs map[accountDay]task.Money,
) error {
	names, err := c.accountNames(x)
	if err != nil {
		return err
	}
	t := tableOfUsage("Top accounts", "Account", rows)
	for i := range t.Rows {
		if name := names[t.Rows[i].Group]; name != "" {
			t.Rows[i].Name, t.Rows[i].Of = name, v.Of(t.Rows[i].Group)
		}
	}
	v.By = append(v.By, t)
	if len(rows) == 0 {
		return nil
	}
	place, parts := map[string]int{}, make([]series, 0, mostSeries+1)
	for i, r := range rows {
		place[r.Group] = min(i, mostSeries)
		switch {
		case i < mostSeries:
			parts = append(parts, series{cmp.Or(names[r.Group], r.Group), "p" + strconv.Itoa(i+1)})
		case i == mostSeries:
			parts = append(parts, series{"Others", "p" + strconv.Itoa(i+1)})
		}
	}
	values := make([][]float64, len(days))
	for i := range values {
		values[i] = make([]float64, len(parts))
	}
	for at, cost := range costs {
		values[at.day-first][place[at.account]] += float64(cost)
	}
	slots := daysOf(days)
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

// addMetadata adds the tables by the metadata that usage is counted by.
func (c *Console) addMetadata(x exchange, v *usageView, owner api.Account) error {
	for _, name := range c.gateway.UsageBy() {
		rows, err := c.usageBy(x, api.ByMetadata+name, owner.ID, v.Days, v.Mode)
		if err != nil {
			return err
		}
		slices.SortFunc(rows, mostFirst)
		v.By = append(v.By, tableOfUsage("By "+name, name, rows))
	}
	return nil
}
