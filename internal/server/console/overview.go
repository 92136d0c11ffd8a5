package console

import (
	"cmp"
	"slices"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

const (
	overviewDays  = 14
	overviewTasks = 8
	openMost      = 200 // that are counted one by one
)

// overview is the data of the first page.
type overview struct {
	Today    api.UsageRow
	Tasks    chart
	Open     int // tasks that haven't ended
	OpenMore bool
	Keys     int // that open something
	Budgets  ownBudgets
	Recent   taskTable
	Offers   []offer
	Info     api.Info            // for operators
	Supply   []api.SupplierState // for operators
}

// offer is a capability that is open on the account, with its modes.
type offer struct {
	gateway.Offer
	Live bool
}

func (c *Console) handleOverview(x exchange) error {
	var v overview
	owner, err := c.operator.Member(x.visitor).Budget(x.r.Context())
	if err != nil {
		return err
	}
	used, err := c.operator.UsageGroups(x.r.Context(), c.lastDays(owner, overviewDays), nil)
	if err != nil {
		return err
	}
	v.Today, v.Tasks = used.Days[len(used.Days)-1], tasksChart(used.Days)
	if v.Recent.Rows, _, err = c.listTasks(x, owner, taskQuery{}, overviewTasks); err != nil {
		return err
	}
	c.remember(x, v.Recent.Rows)
	if err := c.countOpen(x, owner, &v); err != nil {
		return err
	}
	keys, err := c.operator.Member(x.visitor).Keys(x.r.Context())
	if err != nil {
		return err
	}
	if err := c.operator.AddSpending(x.r.Context(), keys); err != nil {
		return err
	}
	rows := make([]keyRow, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, c.keyRow(k))
		if rows[len(rows)-1].Open() {
			v.Keys++
		}
	}
	v.Budgets = budgetsOf(owner, rows)
	v.Offers = c.offers(x)
	if operates(x.visitor) {
		if v.Info, err = c.operator.Info(x.r.Context()); err != nil {
			return err
		}
		if v.Supply, err = c.operator.Suppliers(x.r.Context()); err != nil {
			return err
		}
	}
	return c.show(x, page{Name: "overview", Section: "overview", Title: "Overview", Data: v})
}

// countOpen counts the tasks that haven't ended.
func (c *Console) countOpen(x exchange, owner api.Account, v *overview) error {
	for _, state := range task.States() {
		if state.Terminal() {
			continue
		}
		rows, next, err := c.listTasks(x, owner, taskQuery{State: state}, openMost)
		if err != nil {
			return err
		}
		v.Open += len(rows)
		v.OpenMore = v.OpenMore || next != ""
	}
	return nil
}

// offers returns the open capabilities of the visitor's account, by name.
func (c *Console) offers(x exchange) []offer {
	live := map[string]bool{}
	var all []offer
	for _, o := range c.gateway.Capabilities(callerOf(x.visitor, task.Live)) {
		live[string(o.Capability.Name)] = true
		all = append(all, offer{Offer: o, Live: true})
	}
	for _, o := range c.gateway.Capabilities(callerOf(x.visitor, task.Test)) {
		if !live[string(o.Capability.Name)] {
			all = append(all, offer{Offer: o})
		}
	}
	slices.SortFunc(all, func(a, b offer) int { return cmp.Compare(a.Capability.Name, b.Capability.Name) })
	return all
}
