package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/secret"
)

func newLogoutCmd(t *terminal) *cobra.Command {
	var o clientFlags
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Remove the profile's key from the keyring",
		Example: `  unitask logout
  unitask logout --profile work`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return logoutRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.choice.Profile, "profile", "", "of this `profile` (UNITASK_PROFILE)")
	return cmd
}

func logoutRun(ctx context.Context, t *terminal, o *clientFlags) error {
	target, err := o.target()
	if err != nil {
		return err
	}
	if target.Name == "" || target.Profile.Key.IsZero() {
		t.note("no key is kept: there is nothing to remove")
		return nil
	}
	ring, err := secret.OpenKeyring(ctx, secret.KeyringConfig{})
	if err != nil {
		return err
	}
	if err := ring.Delete(ctx, target.Name); err != nil {
		return err
	}
	p := target.Profile
	p.Key = secret.Ref{}
	if err := client.SaveProfile(client.ConfigDir(), target.Name, p); err != nil {
		return err
	}
	t.note("the key of profile %s is removed; it stays valid until it is revoked", target.Name)
	return nil
}
