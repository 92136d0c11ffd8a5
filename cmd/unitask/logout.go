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
	o.choice.NoDataDir = true // it is about profiles
	target, err := o.target(ctx)
	if err != nil {
		return err
	}
	if !target.Profile.Sealed && target.Profile.Key.IsZero() {
		t.note("no key is kept: there is nothing to remove")
		return nil
	}
	if err := removeKey(ctx, target.Name, target.Profile); err != nil {
		return err
	}
	t.note("the key of profile %s is removed; it stays valid until it is revoked", target.Name)
	return t.changeProfiles(func(all *client.Profiles) error {
		p := all.Profiles[target.Name]
		p.Key, p.Sealed = secret.Ref{}, false
		all.Profiles[target.Name] = p
		all.Settle()
		return nil
	})
}

// removeKey removes the key that login kept for a profile.
func removeKey(ctx context.Context, name string, p client.Profile) error {
	switch p.KeyFrom() {
	case client.FromSealed:
		return secret.RemoveSealed(client.SealedDir(), name)
	case client.FromKeyring:
		if !keptByLogin(name, p) {
			return nil
		}
		ring, err := secret.OpenKeyring(ctx, secret.KeyringConfig{})
		if err != nil {
			return err
		}
		return ring.Delete(ctx, name)
	default:
		return nil
	}
}

// keptByLogin reports whether a profile's key is in login's place for keys of its name, rather than in one that a
// person chose.
func keptByLogin(name string, p client.Profile) bool {
	own, err := secret.ParseRef("keyring:" + name)
	return err == nil && p.Key == own
}
