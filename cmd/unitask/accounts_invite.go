package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/hint"
)

type accountsInviteOptions struct {
	remoteFlags
	which   string
	request api.Invite
}

func newAccountsInviteCmd(t *terminal) *cobra.Command {
	var o accountsInviteOptions
	cmd := &cobra.Command{
		Use:   "invite ACCOUNT MEMBER",
		Short: "Make a one-time sign-in link for a member, who joins the account by it",
		Long: `Make a one-time sign-in link for a member, who joins the account by it.

The link opens the console once, within ten minutes. Whoever has it signs in as the member: send it on a way that you
trust. A member who is invited again has the new role from then on.`,
		Example: `  unitask accounts invite shop ann
  unitask accounts invite shop eve --role admin
  unitask accounts invite default bob --role operator`,
		Args: exactly(&o.which, &o.request.Member),
		RunE: func(cmd *cobra.Command, _ []string) error { return accountsInviteRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.request.Role, "role", string(account.RoleMember), "member, who sees the account, admin, who invites and removes its members too, or operator, who sees all")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(
		[]string{string(account.RoleMember), string(account.RoleAdmin), string(account.RoleOperator)}, cobra.ShellCompDirectiveNoFileComp))
	o.add(cmd)
	return cmd
}

func accountsInviteRun(ctx context.Context, t *terminal, o *accountsInviteOptions) error {
	if !account.Role(o.request.Role).Valid() {
		return &hint.UsageError{Message: fmt.Sprintf("--role is member, admin or operator, not %q", o.request.Role)}
	}
	ask := func(op operatorAPI) (api.SignInLink, error) { return op.Invite(ctx, o.which, o.request) }
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(link api.SignInLink) error {
		t.note("for %s, %s of %s; opens once, within ten minutes", printable(link.Member), printable(string(link.Role)), printable(link.Account))
		_, err := fmt.Fprintln(t.out, t.safe(link.URL))
		return err
	}))
}
