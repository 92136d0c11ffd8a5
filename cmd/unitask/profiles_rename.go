package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/secret"
)

func newProfilesRenameCmd(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "rename NAME NEW",
		Short:             "Give a profile another name; its key stays",
		Example:           `  unitask profiles rename ai.example.com work`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeProfile,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := t.changeProfiles(func(all *client.Profiles) error { return renameProfile(cmd.Context(), all, args[0], args[1]) })
			if err == nil {
				t.note("profile %s is %s now", args[0], args[1])
			}
			return err
		},
	}
}

// renameProfile takes the profile's key along: what keeps it finds it by the profile's name.
func renameProfile(ctx context.Context, all *client.Profiles, from, to string) error {
	p, err := findProfile(*all, from)
	if err != nil {
		return err
	}
	if !client.ValidProfileName(to) {
		return &usageError{message: badProfileName}
	}
	if _, taken := all.Profiles[to]; taken {
		return &usageError{message: "there is a profile " + to + " already", hint: "unitask profiles rm " + to}
	}
	switch p.KeyFrom() {
	case client.FromSealed:
		err = secret.RenameSealed(client.SealedDir(), from, to)
	case client.FromKeyring:
		p.Key, err = renameKey(ctx, p.Key, from, to)
	}
	if err != nil {
		return err
	}
	delete(all.Profiles, from)
	all.Profiles[to] = p
	if all.Current == from {
		all.Current = to
	}
	return nil
}

// renameKey moves a key in the keyring and returns the reference to it.
func renameKey(ctx context.Context, ref secret.Ref, from, to string) (secret.Ref, error) {
	value, err := ref.Resolve(ctx)
	if err != nil {
		return ref, err
	}
	moved, err := secret.ParseRef("keyring:" + to)
	if err != nil {
		return ref, err
	}
	ring, err := secret.OpenKeyring(ctx, secret.KeyringConfig{})
	if err != nil {
		return ref, err
	}
	if err := ring.Set(ctx, to, value); err != nil {
		return ref, err
	}
	return moved, ring.Delete(ctx, from)
}
