package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
)

type keysRotateOptions struct {
	remoteFlags
	id      string
	overlap string
}

func newKeysRotateCmd(t *terminal) *cobra.Command {
	var o keysRotateOptions
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Make a key in the place of another, and show it, this once",
		Long: `Make a key in the place of another, and show it, this once.

The new key has the account, mode, scopes and limits of the old one, and both are counted against these limits
together. The old one works until the overlap is over.`,
		Example: `  unitask keys rotate key_06gztwr81bcb6csfsxswat9e1m --overlap 24h`,
		Args:    exactly(&o.id),
		RunE:    func(cmd *cobra.Command, _ []string) error { return keysRotateRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.overlap, "overlap", "", "how long the old key still works, a `time` such as 24h or 7d; without, it is closed at once")
	o.add(cmd)
	return cmd
}

func keysRotateRun(ctx context.Context, t *terminal, o *keysRotateOptions) error {
	var req api.KeyRotate
	if o.overlap != "" {
		overlap, err := parseLife("--overlap", o.overlap)
		if err != nil {
			return err
		}
		req.OverlapSeconds = int64(overlap / time.Second)
	}
	ask := func(op operatorAPI) (api.Key, error) { return op.RotateKey(ctx, o.id, req) }
	return hintKeys(operated(ctx, t, &o.remoteFlags, ask, t.showSecret))
}
