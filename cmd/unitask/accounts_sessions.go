package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/hint"
)

type accountsSessionsOptions struct {
	remoteFlags
	which string
}

func newAccountsSessionsCmd(t *terminal) *cobra.Command {
	var o accountsSessionsOptions
	cmd := &cobra.Command{
		Use:         "sessions ACCOUNT",
		Annotations: tabled,
		Short:       "List who is signed in to an account's console, the last used first",
		Example:     `  unitask accounts sessions shop`,
		Args:        exactly(&o.which),
		RunE:        func(cmd *cobra.Command, _ []string) error { return accountsSessionsRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func accountsSessionsRun(ctx context.Context, t *terminal, o *accountsSessionsOptions) error {
	ask := func(op operatorAPI) ([]api.Session, error) { return op.Sessions(ctx, o.which) }
	return hintAccounts(listed(ctx, t, &o.remoteFlags, "no sessions", ask,
		func(all []api.Session) error { return listSessions(t, all, time.Now()) }))
}

func listSessions(t *terminal, all []api.Session, now time.Time) error {
	b := table{
		header: []string{"ID", "MEMBER", "ROLE", "BROWSER", "SIGNED IN", "LAST USED"},
		spare:  []string{"ROLE", "SIGNED IN", "BROWSER"},
	}
	for _, s := range all {
		b.row(same(s.ID), same(s.Member), same(s.Role), same(cmp.Or(s.Agent, "-")), when(&s.CreatedAt, now), when(&s.SeenAt, now))
	}
	return b.write(t)
}

type accountsSignOutOptions struct {
	remoteFlags
	which   string
	request api.SessionsEnd
}

func newAccountsSignOutCmd(t *terminal) *cobra.Command {
	var o accountsSignOutOptions
	cmd := &cobra.Command{
		Use:   "sign-out ACCOUNT",
		Short: "End sessions of an account's members at once",
		Long: `End sessions of an account's members at once: one by its id, those of a member, or all of them.

Members may sign in again by a new link; "unitask accounts update --remove-member" ends that too.`,
		Example: `  unitask accounts sign-out shop --session ses_06gztwr81bcb6csfsxswat9e1m
  unitask accounts sign-out shop --member ann
  unitask accounts sign-out shop --all`,
		Args: exactly(&o.which),
		RunE: func(cmd *cobra.Command, _ []string) error { return accountsSignOutRun(cmd.Context(), t, &o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.request.ID, "session", "", "end the session of this `id`")
	flags.StringVar(&o.request.Member, "member", "", "end all sessions of this `member`")
	flags.BoolVar(&o.request.All, "all", false, "end all sessions of the account")
	cmd.MarkFlagsMutuallyExclusive("session", "member", "all")
	o.add(cmd)
	return cmd
}

func accountsSignOutRun(ctx context.Context, t *terminal, o *accountsSignOutOptions) error {
	if o.request == (api.SessionsEnd{}) {
		return &hint.UsageError{Message: "say which sessions by --session, --member or --all", Hint: "unitask accounts sessions " + o.which}
	}
	ask := func(op operatorAPI) ([]api.Session, error) {
		ended, err := op.EndSessions(ctx, o.which, o.request)
		return append([]api.Session{}, ended...), err
	}
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(ended []api.Session) error {
		t.note("ended: %d", len(ended))
		return nil
	}))
}
