package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
)

type accountsShowOptions struct {
	remoteFlags
	which string
}

func newAccountsShowCmd(t *terminal) *cobra.Command {
	var o accountsShowOptions
	cmd := &cobra.Command{
		Use:     "show ACCOUNT",
		Short:   "Show an account, by its name or id, with its members",
		Example: `  unitask accounts show shop`,
		Args:    exactly(&o.which),
		RunE:    func(cmd *cobra.Command, _ []string) error { return accountsShowRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func accountsShowRun(ctx context.Context, t *terminal, o *accountsShowOptions) error {
	ask := func(op operatorAPI) (api.Account, error) { return op.GetAccount(ctx, o.which) }
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(a api.Account) error { return showAccount(t, a, time.Now()) }))
}

func showAccount(t *terminal, a api.Account, now time.Time) error {
	b := table{header: []string{"ACCOUNT", a.ID}}
	b.row(same("name"), same(a.Name))
	b.row(same("state"), same(stateOf(a)))
	b.row(same("capabilities"), same(openOn(a)))
	b.row(same("limits"), limitsCell(a.Limits))
	if a.BudgetEndsAt != nil {
		b.row(same("spent"), spentCell(t, a.Limits, a.Spending))
		b.row(same("budget starts anew"), when(a.BudgetEndsAt, now))
	}
	b.row(same("inputs kept"), same(keptFor(a)))
	b.row(same("created"), when(&a.CreatedAt, now))
	for _, m := range a.Members {
		b.row(same("member"), same(m.Name+" ("+m.Role+")"))
	}
	return b.write(t)
}
