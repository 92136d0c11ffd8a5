package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Suppliers returns the state of each supplier on this node, and its work of today; those that were found at the
// start come first, in their order.
func (o *Operator) Suppliers(ctx context.Context) ([]api.SupplierState, error) {
	if o.RoutesFunc == nil {
		return nil, fault.New(fault.InvalidRequest, "how suppliers stand is known to a running server alone")
	}
	info, err := o.Info(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]api.SupplierState, 0, len(info.Suppliers))
	for _, s := range info.Suppliers {
		states = append(states, api.SupplierState{SupplierStatus: s, Routes: []api.RouteState{}})
	}
	at := func(name string) *api.SupplierState {
		i := slices.IndexFunc(states, func(s api.SupplierState) bool { return s.Name == name })
		if i < 0 {
			i = len(states)
			states = append(states, api.SupplierState{SupplierStatus: api.SupplierStatus{Name: name, Live: true}, Routes: []api.RouteState{}})
		}
		return &states[i]
	}
	for _, r := range o.RoutesFunc() {
		s := at(r.Supplier)
		s.Routes, s.Limit = append(s.Routes, routeOf(r)), r.SupplierCap
		s.Today.Mode = r.Mode
	}
	for i := range states {
		states[i].Test = o.tests.of(states[i].Name)
	}
	if err := errors.Join(o.addLoad(ctx, states), o.addPauses(ctx, states)); err != nil {
		return nil, err
	}
	return states, o.addToday(ctx, states)
}

// forSome follows the reason of a pause that doesn't concern all accounts.
const forSome = ", for %d of the accounts"

func routeOf(r routing.State) api.RouteState {
	out := api.RouteState{
		Capability: string(r.Capability), Model: r.Model, Mode: r.Mode, Approved: r.Approved, State: api.RouteOpen,
		Reason: r.Reason, Failures: r.Failures,
	}
	switch r.Reason {
	case "":
	case routing.Probing:
		out.State = api.RouteProbing
	default:
		out.State = api.RoutePaused
		out.Until = &api.Timestamp{Time: r.Until}
	}
	if r.Until.IsZero() {
		out.Until = nil // its minute is full
	}
	if r.Refused != "" {
		out.Reason, out.NeedsOperator = r.Refused, true
		if out.State == api.RouteOpen {
			out.State = api.RouteProbing // by the next request
		}
	}
	if r.Accounts > 0 {
		out.Reason += fmt.Sprintf(forSome, r.Accounts)
	}
	return out
}

// addLoad adds how many attempts are open, if the engine knows.
func (o *Operator) addLoad(ctx context.Context, states []api.SupplierState) error {
	engine, ok := o.Tasks.(store.Loader)
	if !ok {
		return nil
	}
	open, err := engine.InFlight(ctx)
	for i := range states {
		states[i].InFlight = open["supplier:"+states[i].Name]
	}
	return err
}

// addToday adds the work of each since the day began.
func (o *Operator) addToday(ctx context.Context, states []api.SupplierState) error {
	today := account.DateOf(o.Now())
	rows, err := o.spend(ctx, store.UsageQuery{First: today, Last: today})
	for i, s := range states {
		states[i].Today = supplierUsage(group{s.Name, s.Today.Mode}, store.Spend{})
		for _, row := range rows {
			if row.Supplier == s.Name && (row.Mode == s.Today.Mode || s.Today.Mode == task.Mode("")) {
				states[i].Today = row
			}
		}
	}
	return err
}
