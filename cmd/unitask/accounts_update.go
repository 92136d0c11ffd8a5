package main

import (
	"context"
	"fmt"
	"time"

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
	keepInputs   string
}

func newAccountsUpdateCmd(t *terminal) *cobra.Command {
	var o accountsUpdateOptions
	cmd := &cobra.Command{
		Use:   "update ACCOUNT",
		Short: "Change what is open on an account, its limits and its members, from now on",
		Example: `  unitask accounts update shop --capability 'image.*' --capability text.chat
  unitask accounts update shop --budget 500/month --concurrency 0
  unitask accounts update shop --supplier-spend 2000/month
  unitask accounts update shop --keep-inputs 7d
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
			if cmd.Flags().Changed("keep-inputs") {
				if o.request.KeepInputsDays, err = parseDays("--keep-inputs", o.keepInputs); err != nil {
					return err
				}
			}
			return accountsUpdateRun(cmd.Context(), t, &o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.capabilities, "capability", nil, "open only these, as `pattern` such as image.*; \"*\" for all; may be repeated")
	flags.StringSliceVar(&o.request.RemoveMembers, "remove-member", nil, "sign this `member` out for good; may be repeated")
	flags.StringVar(&o.keepInputs, "keep-inputs", "", "keep the requests of new tasks for this `time`, such as 7d, 30d at most; 0 keeps none; less than before erases")
	o.addUpdate(flags, unlimited)
	o.addSpend(flags)
	o.remoteFlags.add(cmd)
	return cmd
}

func accountsUpdateRun(ctx context.Context, t *terminal, o *accountsUpdateOptions) error {
	if err := checkPatterns("--capability", o.capabilities); err != nil {
		return err
	}
	if r := o.request; r.Capabilities == nil && r.Limits == nil && r.KeepInputsDays == nil && len(r.RemoveMembers) == 0 {
		return &hint.UsageError{Message: "nothing to change: say what by a flag"}
	}
	return hintAccounts(operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (api.Account, error) {
		return op.UpdateAccount(ctx, o.which, o.request)
	}, func(a api.Account) error {
		t.note("account %s: open %s, limits %s", printable(a.Name), printable(openOn(a)), limitsCell(a.Limits).human)
		if o.request.KeepInputsDays != nil {
			t.note("inputs of new tasks are kept %s", keptFor(a))
		}
		return nil
	}))
}

// parseDays reads whole days, such as 7d or 2w; 0 is no day.
func parseDays(flag, text string) (*int, error) {
	if text == "0" || text == "0d" {
		return new(0), nil
	}
	d, err := parseLife(flag, text)
	const day = 24 * time.Hour
	if err == nil && d%day != 0 {
		err = &hint.UsageError{Message: fmt.Sprintf("%s takes whole days such as 7d, or 0, not %q", flag, text)}
	}
	return new(int(d / day)), err
}

// keptFor says for how long an account keeps its requests.
func keptFor(a api.Account) string {
	switch a.KeepInputsDays {
	case 0:
		return "until the task's end"
	case 1:
		return "for 1 day"
	default:
		return fmt.Sprintf("for %d days", a.KeepInputsDays)
	}
}
