package console

import (
	"log/slog"

	"unitask/internal/api"
)

// supplierView is the data of the page of suppliers.
type supplierView struct {
	Suppliers []api.SupplierState
	Usage     []api.SupplierUsage // of the last 30 days
	Trends    map[string]*trend   // of the last 24 hours
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
	zone, _ := zoneOf(x.r)
	trends, err := c.trends(zone)
	if err != nil {
		return err
	}
	return c.show(x, page{
		Name: "suppliers", Section: "suppliers", Title: "Suppliers", Data: supplierView{states, report.Suppliers, trends},
	})
}

// handleSupplierChange pauses, resumes or resets a supplier.
func (c *Console) handleSupplierChange(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	name, ctx, done := x.r.PathValue("supplier"), x.r.Context(), ""
	var err error
	switch x.r.PathValue("change") {
	case "pause":
		if !c.asked(x, "suppliers", question{
			Title: "Pause " + name + "?", Button: "Pause " + name, Back: "/suppliers",
			Text: "No work is sent there until you resume it, also after a restart. Work under way goes on; if no other route is left, asynchronous tasks wait and the others may be retried.",
		}) {
			return nil
		}
		done = "paused"
		_, err = c.operator.PauseSupplier(ctx, name, x.visitor.Session.Member)
	case "resume":
		done = "resumed"
		_, err = c.operator.ResumeSupplier(ctx, name)
	case "reset":
		done = "reset"
		_, err = c.operator.ResetSupplier(ctx, name)
	default:
		return noPage()
	}
	if err != nil {
		return err
	}
	c.log.InfoContext(ctx, "supplier changed", slog.String("supplier", name), slog.String("action", done), slog.String("by", x.visitor.Account.ID))
	c.goTo(x, x.r, "/suppliers?done="+done)
	return nil
}

// handleSupplierTest asks a supplier whether it answers, and leads to the result in its card.
func (c *Console) handleSupplierTest(x exchange) error {
	got, err := c.operator.TestSupplier(x.r.Context(), x.r.PathValue("supplier"))
	if err != nil {
		return err
	}
	c.log.InfoContext(x.r.Context(), "supplier tested",
		slog.String("supplier", got.Supplier), slog.String("result", got.Result), slog.String("by", x.visitor.Account.ID))
	c.goTo(x, x.r, "/suppliers#tested-"+got.Supplier)
	return nil
}

// resting reports whether a reset has something to forget at a supplier.
func resting(s api.SupplierState) bool {
	for _, r := range s.Routes {
		if r.Approved && (r.Failures > 0 || r.NeedsOperator || r.State != api.RouteOpen) {
			return true
		}
	}
	return false
}

// pill is a state as it is shown, and the class of its colour.
type pill struct{ Class, Text string }

// supplierState is the worst that is true of a supplier's approved routes. The sandbox isn't live, however well it is.
func supplierState(s api.SupplierState) pill {
	if !s.Live {
		return pill{"off", "off"}
	}
	if s.Paused != nil {
		return pill{"failed", "paused by an operator"}
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
