package console

import (
	"unitask/internal/api"
)

// supplierView is the data of the page of suppliers.
type supplierView struct {
	Suppliers []api.SupplierState
	Usage     []api.SupplierUsage // of the last 30 days
}

func (c *Console) handleSuppliers(x exchange) error {
	states, err := c.operator.Suppliers(x.r.Context())
	if err != nil {
		return err
	}
	report, err := c.operator.Usage(x.r.Context(), api.UsageQuery{By: api.BySupplier})
	if err != nil {
		return err
	}
	return c.show(x, page{
		Name: "suppliers", Section: "suppliers", Title: "Suppliers", Data: supplierView{states, report.Suppliers},
	})
}

// pill is a state as it is shown, and the class of its colour.
type pill struct{ Class, Text string }

// supplierState is the worst that is true of a supplier's approved routes. The sandbox isn't live, however well it is.
func supplierState(s api.SupplierState) pill {
	if !s.Live {
		return pill{"off", "off"}
	}
	if s.Refuses() != "" {
		return pill{"failed", "refused"}
	}
	state := "live"
	if s.Sandbox() {
		state = api.SandboxName
	}
	for _, r := range s.Routes {
		if r.Approved && r.State != api.RouteOpen {
			state = r.State
		}
	}
	return pill{state, state}
}
