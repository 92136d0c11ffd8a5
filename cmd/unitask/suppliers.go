package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

type suppliersOptions struct {
	remoteFlags
	routes bool
}

func newSuppliersCmd(t *terminal) *cobra.Command {
	var o suppliersOptions
	cmd := &cobra.Command{
		Use:         "suppliers",
		Annotations: tabled,
		Short:       "Show how the suppliers of a running server stand, and pause, resume, reset and test them, as its operator",
		Long: `Show how the suppliers of a running server stand, as its operator: which were found, which routes rest after failures
or because a supplier asked for it, how many attempts are open, how long they take, and what they charged today.

` + remoteOperator,
		Example: `  unitask suppliers
  unitask suppliers --routes
  unitask suppliers --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return suppliersRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().BoolVar(&o.routes, "routes", false, "a line for each route")
	o.add(cmd)
	for _, c := range supplierChanges {
		cmd.AddCommand(newSuppliersChangeCmd(t, c))
	}
	cmd.AddCommand(newSuppliersTestCmd(t))
	return cmd
}

func suppliersRun(ctx context.Context, t *terminal, o *suppliersOptions) error {
	return operated(ctx, t, &o.remoteFlags, func(op operatorAPI) ([]api.SupplierState, error) {
		all, err := op.Suppliers(ctx)
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.InvalidRequest {
			err = hint.With(errors.New(f.Message), "unitask serve starts a server; unitask usage --by supplier works without one")
		}
		return append([]api.SupplierState{}, all...), err
	}, func(all []api.SupplierState) error {
		if o.routes {
			return listRoutes(t, all, time.Now())
		}
		return listSuppliers(t, all)
	})
}

func listSuppliers(t *terminal, all []api.SupplierState) error {
	b := table{
		header: []string{"SUPPLIER", "STATE", "ROUTES", "IN FLIGHT", "OK", "FAILED", "REJECTED", "MEAN", "SPENT TODAY", "ABOUT"},
		spare:  []string{"ABOUT", "MEAN", "ROUTES"},
	}
	if !t.outTTY {
		b.header = append(b.header, "REASON") // a person reads it below
	}
	for _, s := range all {
		row := []cell{
			same(s.Name), supplierState(t, s), same(strconv.Itoa(len(s.Routes))), inFlight(s), count(s.Today.OK),
			count(s.Today.Failed + s.Today.Unknown), count(s.Today.Rejected), mean(s.Today), spent(s.Today.Cost, s.Sandbox()), same(s.About),
		}
		if !t.outTTY {
			row = append(row, same(s.Refuses()))
		}
		b.row(row...)
	}
	if err := b.write(t); err != nil {
		return err
	}
	for _, s := range all {
		if reason := s.Refuses(); t.outTTY && reason != "" {
			t.note("%s: %s; unitask doctor says what helps", printable(s.Name), printable(reason))
		}
	}
	return nil
}

// spent is a supplier's charges; a person reads no amount of the sandbox's, which is no money.
func spent(cost string, sandbox bool) cell {
	if sandbox {
		return cell{human: "–", plain: cost}
	}
	return cell{human: "$" + cost, plain: cost}
}

// supplierState says whether work goes to a supplier: on all its routes, some or no route.
func supplierState(t *terminal, s api.SupplierState) cell {
	open, approved := 0, 0
	for _, r := range s.Routes {
		if r.Approved {
			approved++
			if r.State == api.RouteOpen {
				open++
			}
		}
	}
	switch {
	case s.Paused != nil:
		return cell{human: "paused", plain: "paused", style: t.style.bad}
	case s.Sandbox() && s.Live && open == approved:
		return cell{human: "sandbox", plain: "sandbox", style: t.style.faint}
	case s.Live && len(s.Routes) == 0: // its routes stand under names of their own
		return cell{human: "live", plain: "live", style: t.style.good}
	case !s.Live || approved == 0:
		return cell{human: "off", plain: "off", style: t.style.faint}
	case open == approved:
		return cell{human: "open", plain: "open", style: t.style.good}
	case open == 0:
		return cell{human: "resting", plain: "resting", style: t.style.bad}
	default:
		text := fmt.Sprintf("%d of %d open", open, approved)
		return cell{human: text, plain: text, style: t.style.busy}
	}
}

func inFlight(s api.SupplierState) cell {
	n := strconv.Itoa(s.InFlight)
	if s.Limit > 0 {
		return cell{human: n + " of " + strconv.Itoa(s.Limit), plain: n}
	}
	return same(n)
}

func listRoutes(t *terminal, all []api.SupplierState, now time.Time) error {
	b := table{
		header: []string{"SUPPLIER", "CAPABILITY", "MODEL", "MODE", "STATE", "FAILURES", "UNTIL", "REASON"},
		spare:  []string{"FAILURES", "MODE"},
	}
	for _, s := range all {
		for _, r := range s.Routes {
			state := cell{human: r.State, plain: r.State, style: t.style.good}
			switch {
			case !r.Approved:
				state = cell{human: "not approved", plain: "not approved", style: t.style.faint}
			case r.State != api.RouteOpen:
				state.style = t.style.bad
			}
			b.row(same(s.Name), same(r.Capability), same(r.Model), same(string(r.Mode)), state, same(strconv.Itoa(r.Failures)),
				when(r.Until, now), same(r.Reason))
		}
	}
	return b.write(t)
}
