package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/task"
)

// ofServer describes a key's limit of 0.
const ofServer = "0: no limit but the server's and the account's, which bind every key"

const keysCreateExample = `  unitask keys create --name laptop --mode test
  unitask keys create --name shop --mode live --scope 'image.*' --rate 60 --budget 5/day --expires 90d
  unitask keys create --name ci --mode test --json | jq -r .key
  unitask keys create --name ops --mode operator --expires 90d`

// keyModes are the values of --mode.
var keyModes = []string{string(task.Live), string(task.Test), string(account.Operator)}

type keysCreateOptions struct {
	remoteFlags
	limitFlags
	request api.KeyCreate
	mode    string
	expires string
	scoped  bool // --scope was given
}

func newKeysCreateCmd(t *terminal) *cobra.Command {
	var o keysCreateOptions
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Make a key and show it, this once",
		Example: keysCreateExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.scoped = cmd.Flags().Changed("scope")
			return keysCreateRun(cmd.Context(), t, &o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.request.Name, "name", "", "what the key is for")
	flags.StringVar(&o.mode, "mode", string(task.Test), "live, test for the sandbox, or operator for commands such as this one")
	flags.StringVar(&o.request.Account, "account", "", "whose it is, by `name`; made where it doesn't exist")
	flags.StringSliceVar(&o.request.Scopes, "scope", nil, "only these capabilities, as `pattern` such as image.*; may be repeated")
	o.limitFlags.add(flags, ofServer)
	flags.StringVar(&o.expires, "expires", "", "closes after this `time`, such as 12h, 90d or 2w")
	o.remoteFlags.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(keyModes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func keysCreateRun(ctx context.Context, t *terminal, o *keysCreateOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	return operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (api.Key, error) {
		fresh := o.newAccount(ctx, op)
		key, err := op.CreateKey(ctx, o.request)
		if err != nil {
			return key, err
		}
		if fresh {
			t.note("note: the account %s is new; unitask accounts list shows all", printable(key.Account))
		}
		return key, nil
	}, t.showSecret)
}

// newAccount reports whether the key's account doesn't exist yet, so that a slip in its name is seen.
func (o *keysCreateOptions) newAccount(ctx context.Context, op operatorAPI) bool {
	if o.request.Account == "" {
		return false
	}
	_, err := op.GetAccount(ctx, o.request.Account)
	return err != nil && fault.CodeOf(err) == fault.NotFound
}

// showSecret shows a key that was just made.
func (t *terminal) showSecret(key api.Key) error {
	t.note("key %s, %s, account %s", printable(key.ID), printable(string(key.Mode)), printable(cmp.Or(key.Account, "-")))
	if _, err := fmt.Fprintln(t.out, t.safe(key.Secret)); err != nil {
		return err
	}
	if t.outTTY {
		login := "unitask login"
		if key.Mode == account.Operator {
			login += " --operator"
		}
		t.note("It isn't shown again. Keep it in a secrets manager; %q keeps it in this system's keyring.", login)
	}
	return nil
}

// check turns the flags into the request.
func (o *keysCreateOptions) check() (err error) {
	if strings.TrimSpace(o.request.Name) == "" {
		return &hint.UsageError{Message: "a key needs a name: --name NAME"}
	}
	if !slices.Contains(keyModes, o.mode) {
		return &hint.UsageError{Message: fmt.Sprintf("--mode is live, test or operator, not %q", o.mode)}
	}
	o.request.Mode = task.Mode(o.mode)
	if o.scoped && len(o.request.Scopes) == 0 {
		return &hint.UsageError{Message: "--scope takes a capability or a pattern such as image.*; leave it out for all capabilities"}
	}
	if err := checkPatterns("--scope", o.request.Scopes); err != nil {
		return err
	}
	if o.request.Limits, err = o.limits(); err != nil {
		return err
	}
	if o.expires != "" {
		life, err := parseLife("--expires", o.expires)
		if err != nil {
			return err
		}
		o.request.ExpiresInSeconds = int64(life / time.Second)
	}
	return nil
}

// parseBudget reads "5/day" and "99.50/month".
func parseBudget(flag, text string) (amount, period string, err error) {
	amount, period, _ = strings.Cut(text, "/")
	if _, err := task.ParseMoney(amount); err != nil || !slices.Contains([]string{"day", "month"}, period) {
		return "", "", &hint.UsageError{Message: fmt.Sprintf("%s takes an amount in USD a day or a month, such as 5/day, not %q", flag, text)}
	}
	return amount, period, nil
}

// parseLife reads a duration such as "12h", with days and weeks: "90d", "2w". At least a second.
func parseLife(flag, text string) (time.Duration, error) {
	const day = 24 * time.Hour
	wrong := &hint.UsageError{Message: fmt.Sprintf("%s takes a time such as 12h, 90d or 2w, not %q", flag, text)}
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseInt(digits, 10, 32)
			if err != nil || n < 1 || n > int64(maxLife/unit) {
				return 0, wrong
			}
			return time.Duration(n) * unit, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > maxLife {
		return 0, wrong
	}
	return d, nil
}

// maxLife keeps the expiry inside the range of a time: a hundred years.
const maxLife = 100 * 365 * 24 * time.Hour
