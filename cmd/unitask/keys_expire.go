package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/hint"
)

// never is the expiry of a key without one.
const never = "never"

type keysExpireOptions struct {
	remoteFlags
	id, in string
}

func newKeysExpireCmd(t *terminal) *cobra.Command {
	var o keysExpireOptions
	cmd := &cobra.Command{
		Use:   "expire ID TIME",
		Short: "Change when a key that is open expires: after a time from now, or never",
		Example: `  unitask keys expire key_06gztwr81bcb6csfsxswat9e1m 90d
  unitask keys expire key_06gztwr81bcb6csfsxswat9e1m never`,
		Args: exactly(&o.id, &o.in),
		RunE: func(cmd *cobra.Command, _ []string) error { return keysExpireRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func keysExpireRun(ctx context.Context, t *terminal, o *keysExpireOptions) error {
	var life time.Duration
	if o.in != never {
		var err error
		if life, err = parseLife("TIME", o.in); err != nil {
			return &hint.UsageError{Message: fmt.Sprintf("TIME takes a time such as 12h, 90d or 2w, or never, not %q", o.in)}
		}
	}
	ask := func(op operatorAPI) (api.Key, error) {
		return op.UpdateKey(ctx, o.id, api.KeyUpdate{ExpiresInSeconds: new(int64(life / time.Second))})
	}
	return hintKeys(operated(ctx, t, &o.remoteFlags, ask, func(key api.Key) error {
		expires := never
		if key.ExpiresAt != nil {
			expires = when(key.ExpiresAt, time.Now()).human + ", at " + stamp(key.ExpiresAt)
		}
		t.note("key %s (%s): expires %s", printable(key.ID), printable(key.Name), expires)
		return nil
	}))
}
