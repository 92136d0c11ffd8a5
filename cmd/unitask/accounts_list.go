package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
)

type accountsListOptions struct {
	remoteFlags
}

func newAccountsListCmd(t *terminal) *cobra.Command {
	var o accountsListOptions
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled,
		Aliases:     []string{"ls"},
		Short:       "List accounts, oldest first",
		Example:     `  unitask accounts list`,
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return accountsListRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func accountsListRun(ctx context.Context, t *terminal, o *accountsListOptions) error {
	return listed(ctx, t, &o.remoteFlags, "no accounts", func(op operatorAPI) ([]api.Account, error) { return op.ListAccounts(ctx) },
		func(all []api.Account) error { return listAccounts(t, all, time.Now()) })
}

func listAccounts(t *terminal, all []api.Account, now time.Time) error {
	b := table{
		header: []string{"ID", "NAME", "CAPABILITIES", "MEMBERS", "LIMITS", "STATE", "CREATED", "SPENT"},
		spare:  []string{"CREATED", "MEMBERS", "CAPABILITIES", "SPENT"},
	}
	for _, a := range all {
		b.row(same(a.ID), same(a.Name), same(openOn(a)), same(strconv.Itoa(len(a.Members))), limitsCell(a.Limits), same(stateOf(a)), when(&a.CreatedAt, now),
			spentCell(t, a.Limits, a.Spending))
	}
	return b.write(t)
}

// openOn shows an account's open capabilities.
func openOn(a api.Account) string { return cmp.Or(strings.Join(a.Capabilities, " "), "*") }
