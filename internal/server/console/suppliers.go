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

// supplierState is the worst that is true of a supplier's approved routes.
func supplierState(s api.SupplierState) string {
	state := "live"
	if !s.Live {
		return "off"
	}
	for _, r := range s.Routes {
		if r.Approved && r.State != api.RouteOpen {
			state = r.State
		}
	}
	return state
}
