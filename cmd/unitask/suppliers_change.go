package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

// supplierOperator changes and tests suppliers.
type supplierOperator interface {
	PauseSupplier(ctx context.Context, name string) (api.SupplierState, error)
	ResumeSupplier(ctx context.Context, name string) (api.SupplierState, error)
	ResetSupplier(ctx context.Context, name string) (api.SupplierState, error)
	TestSupplier(ctx context.Context, name string) (api.SupplierTest, error)
}

type suppliersChangeOptions struct {
	remoteFlags
	name string
}

// supplierChange is one of the commands that change a supplier.
type supplierChange struct {
	verb, short, long, done string
	ask                     func(context.Context, operatorAPI, string) (api.SupplierState, error)
}

var supplierChanges = []supplierChange{
	{
		"pause", "Send no more work to a supplier",
		"Send no more work to a supplier, until it is resumed: at all nodes, within two seconds, and also after a restart. Work under\n" +
			"way goes on. If no other route is left, asynchronous tasks wait in the queue and the others may be retried. The moderation of a policy isn't paused.",
		"is paused; unitask suppliers resume ends that",
		func(ctx context.Context, op operatorAPI, name string) (api.SupplierState, error) {
			return op.PauseSupplier(ctx, name)
		},
	},
	{
		"resume", "Send work to a paused supplier again", "Send work to a paused supplier again, at all nodes within two seconds.", "is resumed",
		func(ctx context.Context, op operatorAPI, name string) (api.SupplierState, error) {
			return op.ResumeSupplier(ctx, name)
		},
	},
	{
		"reset", "Forget a supplier's failures",
		"Forget a supplier's failures, and the pauses that came of them or that it asked for: its routes are taken again at once, at\n" +
			"all nodes. Limits a minute and an operator's pause stay.",
		"is reset: the next request that prefers it is sent there",
		func(ctx context.Context, op operatorAPI, name string) (api.SupplierState, error) {
			return op.ResetSupplier(ctx, name)
		},
	},
}

func newSuppliersChangeCmd(t *terminal, c supplierChange) *cobra.Command {
	var o suppliersChangeOptions
	cmd := &cobra.Command{
		Use:     c.verb + " NAME",
		Short:   c.short,
		Long:    c.long + "\n\n" + remoteOperator,
		Example: "  unitask suppliers " + c.verb + " groq",
		Args:    exactly(&o.name),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			ask := func(op operatorAPI) (api.SupplierState, error) { return c.ask(ctx, op, o.name) }
			return hintSuppliers(operated(ctx, t, &o.remoteFlags, ask, func(s api.SupplierState) error {
				done := c.done
				if s.Paused != nil && c.verb == "reset" {
					done = "is reset, and still paused: unitask suppliers resume ends that"
				}
				t.note("%s %s", printable(s.Name), done)
				return nil
			}))
		},
	}
	o.add(cmd)
	return cmd
}

// hintSuppliers adds the next command if a supplier is missing, or no server runs.
func hintSuppliers(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case ok && f.Code == fault.NotFound:
		return hint.With(err, "unitask suppliers")
	case ok && f.Code == fault.InvalidRequest:
		return hint.With(errors.New(f.Message), "unitask serve starts one")
	default:
		return err
	}
}
