package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/hint"
)

type keysUpdateOptions struct {
	remoteFlags
	limitFlags
	id      string
	request api.KeyUpdate
	name    string
	scopes  []string
}

func newKeysUpdateCmd(t *terminal) *cobra.Command {
	var o keysUpdateOptions
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change the limits, the scopes or the name of a key, from now on",
		Long: `Change the limits, the scopes or the name of a key, from now on. What no flag names stays as it is.

The key itself, its account, mode and expiry stay; "unitask keys rotate" makes another one in its place.`,
		Example: `  unitask keys update key_06gztwr81bcb6csfsxswat9e1m --rate 60 --budget 20/day
  unitask keys update key_06gztwr81bcb6csfsxswat9e1m --budget none --scope 'image.*' --scope text.chat`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.id = args[0]
			if cmd.Flags().Changed("name") {
				o.request.Name = &o.name
			}
			if cmd.Flags().Changed("scope") {
				o.request.Scopes = &o.scopes
			}
			if o.request.Limits, err = o.update(cmd.Flags()); err != nil {
				return err
			}
			return keysUpdateRun(cmd.Context(), t, &o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "name", "", "what the key is for")
	flags.StringSliceVar(&o.scopes, "scope", nil, "only these capabilities, as `pattern` such as image.*; \"*\" for all; may be repeated")
	o.addUpdate(flags, ofServer)
	o.remoteFlags.add(cmd)
	return cmd
}

func keysUpdateRun(ctx context.Context, t *terminal, o *keysUpdateOptions) error {
	switch {
	case o.request == (api.KeyUpdate{}):
		return &hint.UsageError{Message: "nothing to change: say what by a flag"}
	case o.request.Name != nil && strings.TrimSpace(o.name) == "":
		return &hint.UsageError{Message: "a key needs a name: --name NAME"}
	case o.request.Scopes != nil && len(o.scopes) == 0:
		return &hint.UsageError{Message: "--scope takes a capability or a pattern such as image.*; \"*\" is all capabilities"}
	}
	if err := checkPatterns("--scope", o.scopes); err != nil {
		return err
	}
	return hintKeys(operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (api.Key, error) {
		return op.UpdateKey(ctx, o.id, o.request)
	}, func(key api.Key) error {
		t.note("key %s (%s): opens %s, limits %s", printable(key.ID), printable(key.Name), printable(scopesOf(key)), limitsCell(key.Limits).human)
		return nil
	}))
}

// scopesOf returns a key's scopes; an operator's opens no capability.
func scopesOf(k api.Key) string {
	if k.Mode == account.Operator {
		return "-"
	}
	return cmp.Or(strings.Join(k.Scopes, " "), "*")
}
