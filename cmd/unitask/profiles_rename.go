package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/hint"
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
			done := func() error { return nil } // once the new name is saved
			err := t.changeProfiles(func(all *client.Profiles) (err error) {
				done, err = renameProfile(cmd.Context(), all, args[0], args[1])
				return err
			})
			if err != nil {
				return err
			}
			t.note("profile %s is %s now", args[0], args[1])
			return done()
		},
	}
}

// renameProfile takes the profile's key along: its keeper finds it by the profile's name. done removes it from under
// the old name.
func renameProfile(ctx context.Context, all *client.Profiles, from, to string) (done func() error, err error) {
	p, err := findProfile(*all, from)
	if err != nil {
		return nil, err
	}
	if !client.ValidProfileName(to) {
		return nil, &hint.UsageError{Message: badProfileName}
	}
	if _, taken := all.Profiles[to]; taken {
		return nil, &hint.UsageError{Message: "there is a profile " + to + " already", Hint: "unitask profiles rm " + to}
	}
	done = func() error { return nil }
	switch {
	case p.Sealed:
		err = secret.RenameSealed(client.SealedDir(), from, to)
	case keptByLogin(from, p):
		p.Key, done, err = renameKey(ctx, p.Key, from, to)
	}
	if err != nil {
		return nil, err
	}
	delete(all.Profiles, from)
	all.Profiles[to] = p
	if all.Current == from {
		all.Current = to
	}
	return done, nil
}

// renameKey keeps a key of the keyring under another name and returns the reference to it; done removes the old one.
func renameKey(ctx context.Context, ref secret.Ref, from, to string) (renamed secret.Ref, done func() error, err error) {
	value, err := ref.Resolve(ctx)
	if err != nil {
		return ref, nil, err
	}
	if renamed, err = secret.ParseRef("keyring:" + to); err != nil {
		return ref, nil, err
	}
	ring, err := secret.OpenKeyring(ctx, secret.KeyringConfig{})
	if err != nil {
		return ref, nil, err
	}
	return renamed, func() error { return ring.Delete(ctx, from) }, ring.Set(ctx, to, value)
}
