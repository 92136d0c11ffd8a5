package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/hint"
)

type accountsUpdateOptions struct {
	remoteFlags
	limitFlags
	which        string
	request      api.AccountUpdate
	capabilities []string
}

func newAccountsUpdateCmd(t *terminal) *cobra.Command {
	var o accountsUpdateOptions
	cmd := &cobra.Command{
		Use:   "update ACCOUNT",
		Short: "Change what is open on an account, its limits and its members, from now on",
		Example: `  unitask accounts update shop --capability 'image.*' --capability text.chat
  unitask accounts update shop --budget 500/month --concurrency 0
  unitask accounts update shop --supplier-spend 2000/month
  unitask accounts update shop --remove-member ann`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.which = args[0]
			if cmd.Flags().Changed("capability") {
				o.request.Capabilities = &o.capabilities
			}
			if o.request.Limits, err = o.update(cmd.Flags()); err != nil {
				return err
			}
			return accountsUpdateRun(cmd.Context(), t, &o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.capabilities, "capability", nil, "open only these, as `pattern` such as image.*; \"*\" for all; may be repeated")
	flags.StringSliceVar(&o.request.RemoveMembers, "remove-member", nil, "sign this `member` out for good; may be repeated")
	o.addUpdate(flags, unlimited)
	o.addSpend(flags)
	o.remoteFlags.add(cmd)
	return cmd
}

func accountsUpdateRun(ctx context.Context, t *terminal, o *accountsUpdateOptions) error {
	if err := checkPatterns("--capability", o.capabilities); err != nil {
		return err
	}
	if o.request.Capabilities == nil && o.request.Limits == nil && len(o.request.RemoveMembers) == 0 {
		return &hint.UsageError{Message: "nothing to change: say what by a flag"}
	}
	return hintAccounts(operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (api.Account, error) {
		return op.UpdateAccount(ctx, o.which, o.request)
	}, func(a api.Account) error {
		t.note("account %s: open %s, limits %s", printable(a.Name), printable(openOn(a)), limitsCell(a.Limits).human)
		return nil
	}))
}
