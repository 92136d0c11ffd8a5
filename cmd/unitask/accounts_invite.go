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
	operatorFlags
	which   string
	request api.Invite
	asJSON  bool
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
  unitask accounts invite default bob --role operator`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.which, o.request.Member = args[0], args[1]
			return accountsInviteRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().StringVar(&o.request.Role, "role", string(account.RoleMember), "member, who sees the account, or operator, who sees all")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(
		[]string{string(account.RoleMember), string(account.RoleOperator)}, cobra.ShellCompDirectiveNoFileComp))
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func accountsInviteRun(ctx context.Context, t *terminal, o *accountsInviteOptions) error {
	if !account.Role(o.request.Role).Valid() {
		return &hint.UsageError{Message: fmt.Sprintf("--role is member or operator, not %q", o.request.Role)}
	}
	return o.with(ctx, t, func(op operatorAPI) error {
		link, err := op.Invite(ctx, o.which, o.request)
		if err != nil {
			return hintAccounts(err)
		}
		if o.asJSON {
			return t.json(link)
		}
		t.note("for %s, %s of %s; opens once, within ten minutes", printable(link.Member), printable(string(link.Role)), printable(link.Account))
		_, err = fmt.Fprintln(t.out, t.safe(link.URL))
		return err
	})
}
