package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"unitask/internal/fault"
	"unitask/internal/hint"
)

type keysRevokeOptions struct {
	operatorFlags
	id     string
	asJSON bool
}

func newKeysRevokeCmd(t *terminal) *cobra.Command {
	var o keysRevokeOptions
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Close a key at once",
		Example: `  unitask keys revoke key_06gztwr81bcb6csfsxswat9e1m`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = args[0]
			return keysRevokeRun(cmd.Context(), t, &o)
		},
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func keysRevokeRun(ctx context.Context, t *terminal, o *keysRevokeOptions) error {
	return o.with(ctx, t, func(op operatorAPI) error {
		key, err := op.RevokeKey(ctx, o.id)
		if err != nil {
			return hintKeys(err)
		}
		if o.asJSON {
			return t.json(key)
		}
		t.note("key %s (%s) is revoked", printable(key.ID), printable(key.Name))
		return nil
	})
}

// hintKeys adds the next command if a key is missing.
func hintKeys(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.NotFound {
		return hint.With(err, "unitask keys list")
	}
	return err
}
