package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/client"
)

func newProfilesRmCmd(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME",
		Short:             "Remove a profile, and its key from where login keeps it",
		Example:           `  unitask profiles rm work`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeProfile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.changeProfiles(func(all *client.Profiles) error { return removeProfile(cmd.Context(), t, all, args[0]) })
		},
	}
}

func removeProfile(ctx context.Context, t *terminal, all *client.Profiles, name string) error {
	p, err := findProfile(*all, name)
	if err != nil {
		return err
	}
	if err := removeKey(ctx, name, p); err != nil {
		t.note("the key of profile %s is still kept: %s", name, plain(err))
		p = client.Profile{} // which isn't said to be removed
	}
	delete(all.Profiles, name)
	if all.Current == name {
		all.Current = ""
		all.Settle()
	}
	said := "profile " + name + " is removed"
	if p.Sealed || keptByLogin(name, p) {
		said += ", and its key from this machine; the key stays valid until it is revoked"
	}
	t.note("%s", said)
	return nil
}
