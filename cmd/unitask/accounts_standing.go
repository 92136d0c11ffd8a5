package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/hint"
)

// accountsOneOptions are those of the commands that change an account's name or state.
type accountsOneOptions struct {
	remoteFlags
	which, name string
}

func newAccountsRenameCmd(t *terminal) *cobra.Command {
	var o accountsOneOptions
	cmd := &cobra.Command{
		Use:   "rename ACCOUNT NAME",
		Short: "Give an account another name",
		Long: `Give an account another name. Its id, keys, members and tasks stay as they are. A command that names the old
name, such as "unitask keys create --account", makes a new account of it.`,
		Example: `  unitask accounts rename shop webshop`,
		Args:    exactly(&o.which, &o.name),
		RunE:    func(cmd *cobra.Command, _ []string) error { return accountsRenameRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func accountsRenameRun(ctx context.Context, t *terminal, o *accountsOneOptions) error {
	ask := func(op operatorAPI) (api.Account, error) {
		return op.UpdateAccount(ctx, o.which, api.AccountUpdate{Name: &o.name})
	}
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(a api.Account) error {
		t.note("account %s is now named %s", printable(a.ID), printable(a.Name))
		return nil
	}))
}

func newAccountsSuspendCmd(t *terminal) *cobra.Command {
	var o accountsOneOptions
	cmd := &cobra.Command{
		Use:   "suspend ACCOUNT",
		Short: "Refuse an account's keys and new tasks until it is resumed",
		Long: `Refuse an account's keys and new tasks until it is resumed, at all nodes within a second. Tasks that were accepted
are done. Members still sign in and read.`,
		Example: `  unitask accounts suspend shop`,
		Args:    exactly(&o.which),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return accountsStateRun(cmd.Context(), t, &o, operatorAPI.SuspendAccount)
		},
	}
	o.add(cmd)
	return cmd
}

func newAccountsResumeCmd(t *terminal) *cobra.Command {
	var o accountsOneOptions
	cmd := &cobra.Command{
		Use:   "resume ACCOUNT",
		Short: "Undo the suspension or the closing of an account",
		Long: `Undo the suspension or the closing of an account. One that was closed has its records and members, but its keys stay
revoked and its members need new links.`,
		Example: `  unitask accounts resume shop`,
		Args:    exactly(&o.which),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return accountsStateRun(cmd.Context(), t, &o, operatorAPI.ResumeAccount)
		},
	}
	o.add(cmd)
	return cmd
}

func accountsStateRun(
	ctx context.Context, t *terminal, o *accountsOneOptions, change func(operatorAPI, context.Context, string) (api.Account, error),
) error {
	ask := func(op operatorAPI) (api.Account, error) { return change(op, ctx, o.which) }
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(a api.Account) error {
		t.note("account %s is %s", printable(a.Name), printable(stateOf(a)))
		return nil
	}))
}

// stateOf is the account's state; servers of earlier versions say none.
func stateOf(a api.Account) string { return cmp.Or(a.State, string(account.Active)) }

func newAccountsCloseCmd(t *terminal) *cobra.Command {
	var o accountsOneOptions
	cmd := &cobra.Command{
		Use:   "close ACCOUNT",
		Short: "Close an account: revoke its keys, sign its members out, cancel its queued tasks",
		Long: `Close an account: revoke its keys, sign its members out and cancel its queued tasks. Running tasks are done. Its
records stay for the time that any do, and result files until their own end. Run it again if it was interrupted.

"unitask accounts resume" opens it again, without keys and sessions. To be sure, --name repeats the account's name.`,
		Example: `  unitask accounts close shop --name shop`,
		Args:    exactly(&o.which),
		RunE:    func(cmd *cobra.Command, _ []string) error { return accountsCloseRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "", "the account's `name`, once again")
	o.add(cmd)
	return cmd
}

func accountsCloseRun(ctx context.Context, t *terminal, o *accountsOneOptions) error {
	if o.name == "" {
		return &hint.UsageError{Message: "closing takes the account's name once again, by --name"}
	}
	ask := func(op operatorAPI) (api.AccountClosed, error) {
		return op.CloseAccount(ctx, o.which, api.AccountClose{Name: o.name})
	}
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(done api.AccountClosed) error {
		t.note("account %s is closed; keys revoked: %d, sessions ended: %d, tasks canceled: %d",
			printable(done.Account.Name), done.Keys, done.Sessions, done.Tasks)
		return nil
	}))
}
