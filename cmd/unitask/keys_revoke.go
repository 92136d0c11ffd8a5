package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

type keysRevokeOptions struct {
	remoteFlags
	id string
}

func newKeysRevokeCmd(t *terminal) *cobra.Command {
	var o keysRevokeOptions
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Close a key at once",
		Long:    "Close a key at once. The webhooks that it made are its account's and stay: \"unitask webhooks list\", by another key of the account.",
		Example: `  unitask keys revoke key_06gztwr81bcb6csfsxswat9e1m`,
		Args:    exactly(&o.id),
		RunE:    func(cmd *cobra.Command, _ []string) error { return keysRevokeRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func keysRevokeRun(ctx context.Context, t *terminal, o *keysRevokeOptions) error {
	ask := func(op operatorAPI) (api.Key, error) { return op.RevokeKey(ctx, o.id) }
	return hintKeys(operated(ctx, t, &o.remoteFlags, ask, func(key api.Key) error {
		t.note("key %s (%s) is revoked", printable(key.ID), printable(key.Name))
		if account.Allows(key.Scopes, api.ScopeWebhooks) {
			t.note("webhooks that it made stay: unitask webhooks list, by another key of the account")
		}
		return nil
	}))
}

// hintKeys adds the next command if a key is missing.
func hintKeys(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.NotFound {
		return hint.With(err, "unitask keys list")
	}
	return err
}
