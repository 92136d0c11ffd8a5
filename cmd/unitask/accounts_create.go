package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/api"
)

const unlimited = "0: no limit"

type accountsCreateOptions struct {
	remoteFlags
	limitFlags
	request api.AccountCreate
}

func newAccountsCreateCmd(t *terminal) *cobra.Command {
	var o accountsCreateOptions
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an account",
		Example: `  unitask accounts create shop
  unitask accounts create shop --capability 'image.*' --rate 600 --budget 100/month`,
		Args: exactly(&o.request.Name),
		RunE: func(cmd *cobra.Command, _ []string) error { return accountsCreateRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringSliceVar(&o.request.Capabilities, "capability", nil, "open only these, as `pattern` such as image.*; may be repeated")
	o.limitFlags.add(cmd.Flags(), unlimited)
	o.addSpend(cmd.Flags())
	o.remoteFlags.add(cmd)
	return cmd
}

func accountsCreateRun(ctx context.Context, t *terminal, o *accountsCreateOptions) (err error) {
	if err := checkPatterns("--capability", o.request.Capabilities); err != nil {
		return err
	}
	if o.request.Limits, err = o.limits(); err != nil {
		return err
	}
	return hintAccounts(operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (api.Account, error) {
		return op.CreateAccount(ctx, o.request)
	}, func(a api.Account) error {
		t.note("account %s (%s) is made", printable(a.ID), printable(a.Name))
		return nil
	}))
}
