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
		Short: "Remove the profile's key from where login keeps it",
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
	if target.Profile.Sealed {
		if err := secret.RemoveSealed(client.SealedDir(), target.Name); err != nil {
			return err
		}
		return forget(t, target)
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
	return forget(t, target)
}

// forget notes that the profile has no key any more.
func forget(t *terminal, target client.Target) error {
	p := target.Profile
	p.Key, p.Sealed = secret.Ref{}, false
	if err := client.SaveProfile(client.ConfigDir(), target.Name, p); err != nil {
		return err
	}
	t.note("the key of profile %s is removed; it stays valid until it is revoked", target.Name)
	return nil
}
